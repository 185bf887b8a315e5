/**
 * Operation types of kinds of databases that are not part of the service. They answer `not-supported`, which tells a client that
 * it asked for the right thing.
 */

/** Prefixes of the interface and the kinds they mean, whether the service has the kind or not. */
export const KNOWN_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['pg', 'pg'],
  ['postgres', 'pg'],
  ['dbb', 'dbb'],
  ['dwh', 'dwh'],
  ['dbc', 'dbc'],
]);

/** Whether a type is that of an operation of some kind, though not of its own. @param names of all operations, without prefixes */
export function isAwaited(type: string, names: Iterable<string | undefined>): boolean {
  const cut = type.indexOf('_');
  if (!KNOWN_PREFIXES.has(type.slice(0, cut))) return false;
  const wanted = type.slice(cut + 1);
  for (const name of names) if (name === wanted) return true;
  return false;
}
