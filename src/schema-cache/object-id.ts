/**
 * Stable identities of metadata objects: how inconsistencies before and after a change are
 * compared, and how a command names the objects it is about.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import type { PermissionKind } from '../metadata/permission.ts';

const SEPARATOR = '\u0001';
const id = (...parts: readonly string[]): string => parts.join(SEPARATOR);

export const objectId = {
  source: (source: string) => id('source', source),
  table: (source: string, table: QualifiedName) => id('table', source, nameKey(table)),
  relationship: (source: string, table: QualifiedName, name: string) => id('relationship', source, nameKey(table), name),
  computedField: (source: string, table: QualifiedName, name: string) => id('computed-field', source, nameKey(table), name),
  permission: (source: string, table: QualifiedName, kind: PermissionKind, role: string) =>
    id('permission', source, nameKey(table), kind, role),
  function: (source: string, name: QualifiedName) => id('function', source, nameKey(name)),
  functionPermission: (source: string, name: QualifiedName, role: string) => id('function-permission', source, nameKey(name), role),
  remoteSchema: (name: string) => id('remote-schema', name),
  collectedQuery: (collection: string, query: string) => id('collected-query', collection, query),
  allowListEntry: (collection: string) => id('allow-list-entry', collection),
  restEndpoint: (name: string) => id('rest-endpoint', name),
  inheritedRole: (role: string) => id('inherited-role', role),
  inheritedPermission: (role: string, source: string, table: QualifiedName, kind: PermissionKind) =>
    id('inherited-permission', role, source, nameKey(table), kind),
  /** A key of a source that has no effect, or an entry of it. */
  sourceExtra: (source: string, key: string, name: string) => id('source-extra', source, key, name),
  /** A key of a table that has no effect, or an entry of it, such as an event trigger. */
  tableExtra: (source: string, table: QualifiedName, key: string, name: string) => id('table-extra', source, nameKey(table), key, name),
  /** A section of the document that has no effect, or an entry of it. */
  section: (section: string, name: string) => id('section', section, name),
} as const;

/** Where the source's name is in the ids of objects that are in one. */
const SOURCE_PART: Readonly<Record<string, number>> = {
  source: 1,
  table: 1,
  relationship: 1,
  'computed-field': 1,
  permission: 1,
  function: 1,
  'function-permission': 1,
  'source-extra': 1,
  'table-extra': 1,
  'inherited-permission': 2,
};

/** The id of an object whose source may have another name now, by the old ones. */
export function idInRenamedSource(objectIdentity: string, names: ReadonlyMap<string, string>): string {
  const parts = objectIdentity.split(SEPARATOR);
  const place = SOURCE_PART[parts[0] as string];
  const renamed = place === undefined ? undefined : names.get(parts[place] as string);
  return renamed === undefined ? objectIdentity : parts.with(place as number, renamed).join(SEPARATOR);
}

/** The id of an object in a source whose tables and functions have other names now, by the `nameKey`s of the old ones. */
export function renamedObjectId(objectIdentity: string, source: string, names: ReadonlyMap<string, string>): string {
  return objectIdentity
    .split(SEPARATOR)
    .map((part, i, parts) => (parts[i - 1] === source ? (names.get(part) ?? part) : part))
    .join(SEPARATOR);
}
