/** Stable identities of metadata objects. They match inconsistencies before and after a change, and name the objects of an operation. */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import type { PermissionKind } from '../metadata/permission.ts';

/** Parts of an id. The functions below write the keys in this order, so that equal objects have equal texts. */
interface Parts {
  readonly kind: string;
  /** For objects in a source, and for the source itself. */
  readonly source?: string;
  /** `nameKey` of the table or function that the object is or belongs to. */
  readonly object?: string;
  readonly names?: readonly string[];
}

const id = (parts: Parts): string => JSON.stringify(parts);
const inSource = (kind: string, source: string, ...names: readonly string[]): string => id({ kind, source, names });
const inObject = (kind: string, source: string, object: QualifiedName, ...names: readonly string[]): string =>
  id({ kind, source, object: nameKey(object), names });
const outside = (kind: string, ...names: readonly string[]): string => id({ kind, names });

export const objectId = {
  source: (source: string) => inSource('source', source),
  table: (source: string, table: QualifiedName) => inObject('table', source, table),
  relationship: (source: string, table: QualifiedName, name: string) => inObject('relationship', source, table, name),
  computedField: (source: string, table: QualifiedName, name: string) => inObject('computed-field', source, table, name),
  remoteRelationship: (source: string, table: QualifiedName, name: string) => inObject('remote-relationship', source, table, name),
  eventTrigger: (source: string, name: string) => inSource('event-trigger', source, name),
  permission: (source: string, table: QualifiedName, kind: PermissionKind, role: string) =>
    inObject('permission', source, table, kind, role),
  function: (source: string, name: QualifiedName) => inObject('function', source, name),
  functionPermission: (source: string, name: QualifiedName, role: string) => inObject('function-permission', source, name, role),
  remoteSchema: (name: string) => outside('remote-schema', name),
  /** A rule of the customization, or a key of the rule's mapping; empty for null in `IdleRenaming`. */
  remoteRenaming: (remote: string, parentType: string | null, mapped: string | null) =>
    outside('remote-renaming', remote, parentType ?? '', mapped ?? ''),
  remoteTypeRelationship: (remote: string, type: string, name: string) => outside('remote-type-relationship', remote, type, name),
  remotePermission: (remote: string, role: string) => outside('remote-permission', remote, role),
  inheritedRemotePermission: (role: string, remote: string) => outside('inherited-remote-permission', role, remote),
  collectedQuery: (collection: string, query: string) => outside('collected-query', collection, query),
  allowListEntry: (collection: string) => outside('allow-list-entry', collection),
  cronTrigger: (name: string) => outside('cron-trigger', name),
  restEndpoint: (name: string) => outside('rest-endpoint', name),
  action: (name: string) => outside('action', name),
  customRelationship: (type: string, name: string) => outside('custom-relationship', type, name),
  customTypes: () => outside('custom-types'),
  inheritedRole: (role: string) => outside('inherited-role', role),
  inheritedPermission: (role: string, source: string, table: QualifiedName, kind: PermissionKind) =>
    inObject('inherited-permission', source, table, kind, role),
  /** A key of a source that has no effect, or an entry of it. */
  sourceExtra: (source: string, key: string, name: string) => inSource('source-extra', source, key, name),
  /** A key of a table that has no effect, or an entry of it, such as an event trigger. */
  tableExtra: (source: string, table: QualifiedName, key: string, name: string) => inObject('table-extra', source, table, key, name),
  openTelemetry: () => outside('opentelemetry'),
  /** A section of the document that has no effect, or an entry of it. */
  section: (section: string, name: string) => outside('section', section, name),
} as const;

/** Returns the source of an object, and the `nameKey` of the table or function that it is or belongs to. */
export function ownerOf(objectIdentity: string): { readonly source: string | undefined; readonly object: string | undefined } {
  const { source, object } = JSON.parse(objectIdentity) as Parts;
  return { source, object };
}

/** Returns the id of an object after sources were renamed. @param names new names by the old ones */
export function idInRenamedSource(objectIdentity: string, names: ReadonlyMap<string, string>): string {
  const parts = JSON.parse(objectIdentity) as Parts;
  const source = parts.source === undefined ? undefined : names.get(parts.source);
  return source === undefined ? objectIdentity : id({ ...parts, source });
}

/** Returns the id of an object after tables and functions of a source were renamed. @param names new `nameKey`s by the old ones */
export function renamedObjectId(objectIdentity: string, source: string, names: ReadonlyMap<string, string>): string {
  const parts = JSON.parse(objectIdentity) as Parts;
  const object = parts.source !== source || parts.object === undefined ? undefined : names.get(parts.object);
  return object === undefined ? objectIdentity : id({ ...parts, object });
}
