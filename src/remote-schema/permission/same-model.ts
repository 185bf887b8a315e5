/** Compares the schemas of two roles, types and presets; ignores order and descriptions. */
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
