/** Operation types that exist for another kind of database. They fail with `not-supported` instead of `parse-failed`. */
import type { Backend } from '../backend/backend.ts';

/** Returns the kind whose name or alias an operation type begins with; `undefined` if there is none. */
export function kindOfType(type: string, backends: readonly Backend[]): string | undefined {
  const cut = type.indexOf('_');
  const prefix = cut < 0 ? type : type.slice(0, cut);
  return backends.find(({ kind, aliases }) => kind === prefix || aliases.includes(prefix))?.kind;
}

/** Returns whether a kind other than that of the prefix has the operation. @param names names of all operations without prefixes */
export function isOfOtherKind(type: string, names: readonly (string | undefined)[], backends: readonly Backend[]): boolean {
  return kindOfType(type, backends) !== undefined && names.includes(type.slice(type.indexOf('_') + 1));
}
