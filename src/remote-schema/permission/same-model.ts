/** Whether two roles see the same: what is in it and what is preset, whatever the order and the descriptions. */
import type { RemoteModel } from '../model.ts';

export function sameModel(a: RemoteModel, b: RemoteModel): boolean {
  return a === b || textOf(a) === textOf(b);
}

function textOf({ query, mutation, subscription, types }: RemoteModel): string {
  const roots = [query, mutation, subscription].map((name) => (name !== null && types.has(name) ? name : null));
  return JSON.stringify([roots, types], (key, value: unknown) => {
    if (key === 'description') return undefined;
    if (value instanceof Map) return [...value].sort(([one], [other]) => (one < other ? -1 : 1));
    if (key === 'members' || key === 'interfaces') return [...(value as readonly string[])].sort();
    return value;
  });
}
