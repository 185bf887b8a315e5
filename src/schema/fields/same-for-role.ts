/** Returns true if a role sees the same in two schema caches; unchanged objects are recognised by identity. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { RemoteModel } from '../../remote-schema/model.ts';
import type { ActionInfo } from '../../schema-cache/action-info.ts';
import { sameUnavailable } from '../../schema-cache/unavailable-source.ts';
import type { RemoteSchemaInfo, SchemaCache, SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { Cooperative } from '../../util/cooperative.ts';
import { sameUnsupportedOperators } from './shared-types.ts';

export function sameForRole(a: SchemaCache, b: SchemaCache, role: string): boolean {
  if (a === b) return true;
  if (a.introspectionDisabledFor.has(role) !== b.introspectionDisabledFor.has(role)) return false;
  if (!sameUnavailable(a.unavailable, b.unavailable)) return false;
  if (a.remoteRelationships !== b.remoteRelationships || a.remoteTypeRelationships !== b.remoteTypeRelationships) return false;
  if (!sameUnsupportedOperators(a.unsupportedOperators, b.unsupportedOperators)) return false;
  if (!sameActions(a, b, role)) return false;
  if (!sameRemotes(a.remoteSchemas, b.remoteSchemas, role)) return false;
  if (a.sources.size !== b.sources.size) return false;
  const others = [...b.sources.values()];
  return [...a.sources.values()].every((source, i) => sameSource(source, others[i] as SourceInfo, role));
}

function sameSource(a: SourceInfo, b: SourceInfo, role: string): boolean {
  if (a === b) return true;
  if (a.name !== b.name || a.backend !== b.backend) return false;
  if (a.customization !== b.customization || a.namingConvention !== b.namingConvention) return false;
  if (!sameEntries(a.functions, b.functions)) return false;
  if (a.tables === b.tables) return true;
  for (const [key, table] of b.tables) {
    const before = a.tables.get(key);
    if (before === table) continue;
    if (!affects(table, role) && (before === undefined || !affects(before, role))) continue;
    if (before === undefined || !sameTable(before, table, role)) return false;
  }
  for (const [key, table] of a.tables) if (!b.tables.has(key) && affects(table, role)) return false;
  return true;
}

/**
 * Returns a function that is true for tables from which the same types are derived for every role in both caches: identical tables, in
 * sources whose shared parts are identical too.
 */
export function* unchangedTables(a: SchemaCache, b: SchemaCache): Cooperative<(by: object) => boolean> {
  const unchanged = new Set<object>();
  for (const [name, source] of a.sources) {
    const other = b.sources.get(name);
    if (other === undefined || !sameShared(source, other)) continue;
    for (const [key, table] of source.tables) {
      if (other.tables.get(key) === table) unchanged.add(table);
      yield;
    }
  }
  return (by) => unchanged.has(by);
}

/** Compares names and enum tables, which affect the types of other tables. */
function sameShared(a: SourceInfo, b: SourceInfo): boolean {
  if (a === b) return true;
  if (a.backend !== b.backend || a.customization !== b.customization || a.namingConvention !== b.namingConvention) return false;
  if (a.tables === b.tables) return true;
  return sameEntries(enumTables(a), enumTables(b));
}

function enumTables({ tables }: SourceInfo): ReadonlyMap<string, TableInfo> {
  return new Map([...tables].filter(([, table]) => table.enumValues !== null));
}

/** Types only matter if the role has an action that may use them. */
function sameActions(a: SchemaCache, b: SchemaCache, role: string): boolean {
  const [before, after] = [actionsOf(a, role), actionsOf(b, role)];
  if (before.length !== after.length || !before.every((action, i) => action === after[i])) return false;
  return after.length === 0 || (a.customTypes === b.customTypes && a.customTypeRelationships === b.customTypeRelationships);
}

function actionsOf({ actions }: SchemaCache, role: string): readonly ActionInfo[] {
  return [...actions.values()].filter(({ permissions }) => role === ADMIN_ROLE || permissions.has(role));
}

function sameRemotes(a: SchemaCache['remoteSchemas'], b: SchemaCache['remoteSchemas'], role: string): boolean {
  if (a === b) return true;
  return [...new Set([...a.keys(), ...b.keys()])].every((name) => sameRemote(a.get(name), b.get(name), role));
}

function sameRemote(a: RemoteSchemaInfo | undefined, b: RemoteSchemaInfo | undefined, role: string): boolean {
  const [before, after] = [seenBy(a, role), seenBy(b, role)];
  if (before !== after) return false;
  // A role that sees nothing of the remote schema sees no difference.
  return before === null || a?.names === b?.names;
}

function seenBy(remote: RemoteSchemaInfo | undefined, role: string): RemoteModel | null {
  if (remote === undefined) return null;
  return remote.permissions === null || role === ADMIN_ROLE ? remote.model : (remote.permissions.get(role) ?? null);
}

function sameEntries<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}

/** An enum table affects the types of other tables, regardless of who may read it. */
function affects(table: TableInfo, role: string): boolean {
  return role === ADMIN_ROLE || table.enumValues !== null || table.permissions.has(role);
}

function sameTable(a: TableInfo, b: TableInfo, role: string): boolean {
  return (
    a.catalog === b.catalog &&
    a.configuration === b.configuration &&
    a.baseName === b.baseName &&
    a.customName === b.customName &&
    a.inGraphql === b.inGraphql &&
    a.federated === b.federated &&
    a.columns === b.columns &&
    a.relationships === b.relationships &&
    a.computedFields === b.computedFields &&
    a.enumValues === b.enumValues &&
    a.permissions.get(role) === b.permissions.get(role)
  );
}
