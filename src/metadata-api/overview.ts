/** Metadata overview: objects and permissions of roles, compact for any number of tables. Made once per snapshot, and cached as bytes. */
import { createHash } from 'node:crypto';
import type { QualifiedName } from '../catalog/catalog.ts';
import type { BoolExp } from '../ir/bool-exp.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { PermissionKind } from '../metadata/permission.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { ownerOf } from '../schema-cache/object-id.ts';
import type { RolePermissions, SchemaCache, TableInfo } from '../schema-cache/schema-cache.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import { type Json, printJson } from '../util/json.ts';
import type { Cooperative } from '../util/cooperative.ts';

export interface Overview {
  /** Hash of the content, equal for equal overviews of all instances. */
  readonly tag: string;
  readonly pieces: readonly Bytes[];
}

const cached = new WeakMap<Snapshot, Overview>();
/** Tables per cooperative step. */
const TABLES_PER_STEP = 200;

export function* overviewOf(snapshot: Snapshot): Cooperative<Overview> {
  const known = cached.get(snapshot);
  if (known !== undefined) return known;
  const text = yield* printed(snapshot);
  const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const overview: Overview = { tag, pieces: [bytesOfText(`{"tag":${JSON.stringify(tag)},${text.slice(1)}`)] };
  cached.set(snapshot, overview);
  return overview;
}

function* printed(snapshot: Snapshot): Cooperative<string> {
  const { metadata, cache, resourceVersion } = snapshot;
  const roles = [...cache.roles].sort();
  const sources: string[] = [];
  const broken = brokenObjects(cache);
  for (const source of metadata.sources.values()) sources.push(yield* printSource(source, { metadata, cache, roles, broken }));
  const others = [...metadata.unknownSources.values()].map(({ name, json, problem }) => ({
    name,
    kind: json['kind'] ?? null,
    unavailable: problem,
    schemas: [],
    tables: [],
    functions: [],
  }));
  const digitsFor = (granted: ReadonlySet<string> | ReadonlyMap<string, object>): string =>
    digits(roles.map((role) => (granted.has(role) ? 1 : 0)));
  const rest: Json = {
    remote_schemas: [...metadata.remoteSchemas.values()].map(({ name, permissions }) => [
      name,
      cache.remoteSchemas.has(name) ? 0 : UNUSABLE,
      digitsFor(cache.remoteSchemas.get(name)?.permissions ?? permissions),
    ]),
    actions: [...metadata.actions.values()].map(({ name, definition, permissions }) => [
      name,
      cache.actions.has(name) ? 0 : UNUSABLE,
      definition.kind,
      digitsFor(cache.actions.get(name)?.permissions ?? permissions),
    ]),
    event_triggers: [...metadata.sources.values()].flatMap(({ name: source, tables }) =>
      [...tables.values()].flatMap(({ table, eventTriggers }) =>
        [...eventTriggers.keys()].map((name) => [
          name,
          cache.sources.get(source)?.eventTriggers.has(name) === true ? 0 : UNUSABLE,
          source,
          table.schema,
          table.name,
        ]),
      ),
    ),
    cron_triggers: [...metadata.cronTriggers.keys()],
    counts: countsOf(metadata),
    inconsistent: cache.inconsistencies.length,
  };
  const head: Json = {
    resource_version: resourceVersion,
    roles,
    inherited_roles: Object.fromEntries([...metadata.inheritedRoles.values()].map(({ roleName, roleSet }) => [roleName, [...roleSet]])),
  };
  const all = [...sources, ...others.map((source) => printJson(source))];
  return `${printJson(head).slice(0, -1)},"sources":[${all.join()}],${printJson(rest).slice(1)}`;
}

// Flags of tables and other objects.
const VIEW = 1;
const ENUM = 2;
/** The name is invalid in GraphQL. */
const NOT_IN_GRAPHQL = 4;
/** In the metadata, but not in the schema cache. */
const UNUSABLE = 8;
/** The object or one of its parts is inconsistent. */
const INCONSISTENT = 16;

interface Scope {
  readonly metadata: Metadata;
  readonly cache: SchemaCache;
  readonly roles: readonly string[];
  /** Inconsistent objects by source and `nameKey`. */
  readonly broken: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Returns tables and functions that are inconsistent, or have inconsistent parts. */
function brokenObjects({ inconsistencies }: SchemaCache): ReadonlyMap<string, ReadonlySet<string>> {
  const broken = new Map<string, Set<string>>();
  for (const { objectId } of inconsistencies) {
    const { source, object } = ownerOf(objectId);
    if (source === undefined || object === undefined) continue;
    const objects = broken.get(source) ?? new Set();
    broken.set(source, objects.add(object));
  }
  return broken;
}

function* printSource(source: SourceMetadata, scope: Scope): Cooperative<string> {
  const { name, kind } = source;
  const { cache, broken, metadata } = scope;
  const info = cache.sources.get(name);
  const unavailable = cache.unavailable.sources.find(({ metadata: each }) => each.name === name);
  const schemas = new Map<string, number>();
  const place = ({ schema, name: object }: QualifiedName): [schema: number, name: string] => {
    const known = schemas.get(schema) ?? schemas.size;
    schemas.set(schema, known);
    return [known, object];
  };
  const isBroken = (key: string): boolean => broken.get(name)?.has(key) === true;
  const tables: string[] = [];
  for (const [key, table] of source.tables) {
    if (tables.length % TABLES_PER_STEP === TABLES_PER_STEP - 1) yield;
    const found = info?.tables.get(key);
    const flags = flagsOf(table, found) | (isBroken(key) ? INCONSISTENT : 0);
    const { granted, unrestricted } = accessTo(table, found, scope.roles, metadata);
    const { objectRelationships, arrayRelationships, eventTriggers } = table;
    const counts = [objectRelationships.size, arrayRelationships.size, eventTriggers.size];
    tables.push(JSON.stringify([...place(table.table), flags, ...counts, granted, unrestricted]));
  }
  const functions = [...source.functions].map(([key, { function: functionName, configuration, permissions }]): Json => {
    const found = info?.functions.get(key);
    const flags = (found === undefined ? UNUSABLE : 0) | (isBroken(key) ? INCONSISTENT : 0);
    const granted = found?.permissions ?? new Set(permissions);
    const exposed = found?.exposedAs ?? configuration.exposedAs ?? 'query';
    return [...place(functionName), flags, exposed, digits(scope.roles.map((role) => (granted.has(role) ? 1 : 0)))];
  });
  const head: Json = {
    name,
    kind,
    ...(info === undefined ? { unavailable: unavailable?.reason ?? 'the source is inconsistent' } : {}),
    default_schema: (info ?? unavailable)?.backend.defaultSchema ?? null,
    schemas: [...schemas.keys()],
  };
  return `${printJson(head).slice(0, -1)},"tables":[${tables.join()}],"functions":${printJson(functions)}}`;
}

function flagsOf({ isEnum }: TableMetadata, found: TableInfo | undefined): number {
  if (found === undefined) return UNUSABLE | (isEnum ? ENUM : 0);
  const isView = found.catalog.kind === 'view' || found.catalog.kind === 'materialized-view';
  return (isView ? VIEW : 0) | (isEnum ? ENUM : 0) | (found.inGraphql ? 0 : NOT_IN_GRAPHQL);
}

const BITS: readonly (readonly [PermissionKind, number])[] = [
  ['select', 1],
  ['insert', 2],
  ['update', 4],
  ['delete', 8],
];

/** Returns a digit per role for its permissions, and one for those without restrictions. */
function accessTo(
  table: TableMetadata,
  found: TableInfo | undefined,
  roles: readonly string[],
  metadata: Metadata,
): { readonly granted: string; readonly unrestricted: string } {
  if (found === undefined) return { granted: digits(roles.map((role) => definedFor(table, role, metadata))), unrestricted: '' };
  // Roles share equal permissions.
  const known = new Map<RolePermissions, number>();
  const free = roles.map((role) => {
    const permissions = found.permissions.get(role);
    if (permissions === undefined) return 0;
    const bits = known.get(permissions) ?? unrestrictedOf(permissions, found);
    known.set(permissions, bits);
    return bits;
  });
  const granted = roles.map((role) => {
    const permissions = found.permissions.get(role);
    return permissions === undefined ? 0 : BITS.reduce((sum, [kind, bit]) => sum + (permissions[kind] === undefined ? 0 : bit), 0);
  });
  return { granted: digits(granted), unrestricted: digits(free) };
}

/** Returns the permissions in the metadata, for a table that is not in the schema cache. */
function definedFor(table: TableMetadata, role: string, { inheritedRoles }: Metadata): number {
  const roles = new Set([role]);
  // The loop also visits roles that it adds.
  for (const each of roles) for (const parent of inheritedRoles.get(each)?.roleSet ?? []) roles.add(parent);
  return BITS.reduce((sum, [kind, bit]) => sum + ([...roles].some((each) => table[`${kind}Permissions`].has(each)) ? bit : 0), 0);
}

function isTrue(condition: BoolExp): boolean {
  return condition.kind === 'constant' && condition.value;
}

function unrestrictedOf({ select, insert, update, delete: deletion }: RolePermissions, { columns }: TableInfo): number {
  const all = (granted: ReadonlySet<string> | ReadonlyMap<string, BoolExp | null>): boolean =>
    [...columns.keys()].every((each) => granted.has(each));
  const seesAll =
    select !== undefined &&
    isTrue(select.filter) &&
    select.limit === null &&
    all(select.columns) &&
    [...select.columns.values()].every((mask) => mask === null || isTrue(mask));
  const insertsAll =
    insert !== undefined && isTrue(insert.check) && insert.presets.size === 0 && !insert.backendOnly && all(insert.columns);
  const updatesAll =
    update !== undefined &&
    isTrue(update.filter) &&
    (update.check === null || isTrue(update.check)) &&
    update.presets.size === 0 &&
    !update.backendOnly &&
    all(update.columns);
  const deletesAll = deletion !== undefined && isTrue(deletion.filter) && !deletion.backendOnly;
  return (seesAll ? 1 : 0) + (insertsAll ? 2 : 0) + (updatesAll ? 4 : 0) + (deletesAll ? 8 : 0);
}

/** Prints a hexadecimal digit for each value, without trailing zeros. */
function digits(values: readonly number[]): string {
  return values
    .map((value) => value.toString(16))
    .join('')
    .replace(/0+$/, '');
}

function countsOf(metadata: Metadata): Json {
  const counts = { tables: 0, functions: 0, relationships: 0, permissions: 0 };
  for (const { tables, functions } of metadata.sources.values()) {
    counts.tables += tables.size;
    counts.functions += functions.size;
    for (const table of tables.values()) {
      counts.relationships += table.objectRelationships.size + table.arrayRelationships.size + table.remoteRelationships.size;
      for (const [kind] of BITS) counts.permissions += table[`${kind}Permissions`].size;
    }
  }
  const { queryCollections, allowlist, restEndpoints } = metadata;
  return { ...counts, query_collections: queryCollections.size, allowlist: allowlist.size, rest_endpoints: restEndpoints.size };
}
