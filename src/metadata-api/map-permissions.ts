import type { DeletePermission, InsertPermission, PermissionEntry, SelectPermission, UpdatePermission } from '../metadata/permission.ts';
import type { TableMetadata } from '../metadata/table.ts';
import type { Json } from '../util/json.ts';

/** Change of the parts of permissions. Must return the same object for an unchanged part. */
export interface PermissionChange {
  expression(json: Json): Json;
  /** Changes the name of a column or computed field. */
  field?(name: string): string;
}

/** Changes the permissions of a table. Unchanged parts are shared. */
export function mapPermissions(table: TableMetadata, change: PermissionChange): TableMetadata {
  const field = change.field?.bind(change) ?? ((name: string) => name);
  const columns = <C extends InsertPermission['columns']>(names: C): C => (Array.isArray(names) ? (mapNames(names, field) as C) : names);
  const set = (presets: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> => mapKeys(presets, field);
  const insert = (p: InsertPermission): InsertPermission => ({
    ...p,
    ...(p.columns === undefined ? {} : { columns: columns(p.columns) }),
    check: change.expression(p.check),
    set: set(p.set),
  });
  const select = (p: SelectPermission): SelectPermission => ({
    ...p,
    columns: columns(p.columns),
    computedFields: mapNames(p.computedFields, field),
    filter: change.expression(p.filter),
  });
  const update = (p: UpdatePermission): UpdatePermission => ({
    ...p,
    columns: columns(p.columns),
    filter: change.expression(p.filter),
    check: p.check === null ? null : change.expression(p.check),
    set: set(p.set),
  });
  const remove = (p: DeletePermission): DeletePermission => ({ ...p, filter: change.expression(p.filter) });
  return orSame(table, {
    ...table,
    insertPermissions: mapEntries(table.insertPermissions, insert),
    selectPermissions: mapEntries(table.selectPermissions, select),
    updatePermissions: mapEntries(table.updatePermissions, update),
    deletePermissions: mapEntries(table.deletePermissions, remove),
  });
}

/** Returns `before` if `after` has the same properties. */
export function orSame<T extends object>(before: T, after: T): T {
  return (Object.keys(after) as (keyof T)[]).every((key) => before[key] === after[key]) ? before : after;
}

/** Returns the same object if no name changes. */
export function mapNames(names: readonly string[], change: (name: string) => string): readonly string[] {
  const after = names.map(change);
  return after.every((name, i) => name === names[i]) ? names : after;
}

/** Keeps the order of the entries. */
export function mapKeys<V>(map: ReadonlyMap<string, V>, change: (key: string) => string): ReadonlyMap<string, V> {
  const after = [...map].map(([key, value]) => [change(key), value] as const);
  const keys = [...map.keys()];
  return after.every(([key], i) => key === keys[i]) ? map : new Map(after);
}

/** Returns the same map if no value changes. */
export function mapValues<K, V>(map: ReadonlyMap<K, V>, change: (value: V, key: K) => V): ReadonlyMap<K, V> {
  let changed = false;
  const after = new Map<K, V>();
  for (const [key, value] of map) {
    const next = change(value, key);
    changed ||= next !== value;
    after.set(key, next);
  }
  return changed ? after : map;
}

function mapEntries<P extends object>(
  entries: ReadonlyMap<string, PermissionEntry<P>>,
  change: (permission: P) => P,
): ReadonlyMap<string, PermissionEntry<P>> {
  return mapValues(entries, (entry) => orSame(entry, { ...entry, permission: orSame(entry.permission, change(entry.permission)) }));
}
