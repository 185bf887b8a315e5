/**
 * Operation types that another kind of database has. They answer `not-supported`, which tells a client that it asked for the right
 * thing.
 */
import type { Backend } from '../backend/backend.ts';

/** Returns the kind whose name or alias an operation type begins with; `undefined` if there is none. */
export function kindOfType(type: string, backends: readonly Backend[]): string | undefined {
  const cut = type.indexOf('_');
  const prefix = cut < 0 ? type : type.slice(0, cut);
  return backends.find(({ kind, aliases }) => kind === prefix || aliases.includes(prefix))?.kind;
}

/** Whether some kind has the operation, though not the kind of the prefix. @param names of all operations, without prefixes */
export function isAwaited(type: string, names: Iterable<string | undefined>, backends: readonly Backend[]): boolean {
  if (kindOfType(type, backends) === undefined) return false;
  const wanted = type.slice(type.indexOf('_') + 1);
  for (const name of names) if (name === wanted) return true;
  return false;
}
