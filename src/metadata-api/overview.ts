/**
 * The overview: what is there and which role may do what, small for any number of tables. It is made from a snapshot alone,
 * once, and kept as bytes.
 */
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
import type { Sliced } from '../util/sliced.ts';

export interface Overview {
  /** Says what is in it: equal for equal overviews, of other instances too. */
  readonly tag: string;
  readonly pieces: readonly Bytes[];
}

const kept = new WeakMap<Snapshot, Overview>();
/** Tables that are described before something else may happen. */
const TABLES_A_STEP = 200;

/** The overview of a snapshot, with pauses where it has to be made. */
export function* overviewOf(snapshot: Snapshot): Sliced<Overview> {
  const known = kept.get(snapshot);
  if (known !== undefined) return known;
  const text = yield* printed(snapshot);
  const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const overview: Overview = { tag, pieces: [bytesOfText(`{"tag":${JSON.stringify(tag)},${text.slice(1)}`)] };
  kept.set(snapshot, overview);
  return overview;
}

function* printed(snapshot: Snapshot): Sliced<string> {
  const { metadata, cache, resourceVersion } = snapshot;
  const roles = [...cache.roles].sort();
  const sources: string[] = [];
  const broken = brokenObjects(cache);
  for (const source of metadata.sources.values()) sources.push(yield* printSource(source, { metadata, cache, roles, broken }));
  const others = [...metadata.unknownSources.values()].map(({ name, json, complaint }) => ({
    name,
    kind: json['kind'] ?? null,
    unavailable: complaint,
    schemas: [],
    tables: [],
    functions: [],
  }));
  const among = (granted: ReadonlySet<string> | ReadonlyMap<string, object>): string =>
    digits(roles.map((role) => (granted.has(role) ? 1 : 0)));
  const rest: Json = {
    remote_schemas: [...metadata.remoteSchemas.values()].map(({ name, permissions }) => [
      name,
      cache.remoteSchemas.has(name) ? 0 : UNUSABLE,
      among(cache.remoteSchemas.get(name)?.permissions ?? permissions),
    ]),
    actions: [...metadata.actions.values()].map(({ name, definition, permissions }) => [
      name,
      cache.actions.has(name) ? 0 : UNUSABLE,
      definition.kind,
      among(cache.actions.get(name)?.permissions ?? permissions),
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

/** Bits of what is said of a table. */
const VIEW = 1;
const ENUM = 2;
/** Its name is none for GraphQL. */
const NOT_IN_GRAPHQL = 4;
/** The metadata has it, but it cannot be used. */
const UNUSABLE = 8;
/** It, or something of it, is listed as inconsistent. */
const INCONSISTENT = 16;

interface Scope {
  readonly metadata: Metadata;
  readonly cache: SchemaCache;
  readonly roles: readonly string[];
  /** By source and `nameKey`. */
  readonly broken: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Tables and functions that are inconsistent, or have something that is. */
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

function* printSource(source: SourceMetadata, scope: Scope): Sliced<string> {
  const { name, kind } = source;
  const { cache, broken, metadata } = scope;
  const info = cache.sources.get(name);
  const away = cache.unavailable.sources.find(({ metadata: each }) => each.name === name);
  const schemas = new Map<string, number>();
  const place = ({ schema, name: object }: QualifiedName): [schema: number, name: string] => {
    const known = schemas.get(schema) ?? schemas.size;
    schemas.set(schema, known);
    return [known, object];
  };
  const isBroken = (key: string): boolean => broken.get(name)?.has(key) === true;
  const tables: string[] = [];
  for (const [key, table] of source.tables) {
    if (tables.length % TABLES_A_STEP === TABLES_A_STEP - 1) yield;
    const found = info?.tables.get(key);
    const flags = flagsOf(table, found) | (isBroken(key) ? INCONSISTENT : 0);
    const { granted, unrestricted } = accessTo(table, found, scope.roles, metadata);
    const { objectRelationships, arrayRelationships, eventTriggers } = table;
    const counts = [objectRelationships.size, arrayRelationships.size, eventTriggers.size];
    tables.push(JSON.stringify([...place(table.table), flags, ...counts, granted, unrestricted]));
  }
  const functions = [...source.functions].map(([key, { function: called, configuration, permissions }]): Json => {
    const found = info?.functions.get(key);
    const flags = (found === undefined ? UNUSABLE : 0) | (isBroken(key) ? INCONSISTENT : 0);
    const granted = found?.permissions ?? new Set(permissions);
    const exposed = found?.exposedAs ?? configuration.exposedAs ?? 'query';
    return [...place(called), flags, exposed, digits(scope.roles.map((role) => (granted.has(role) ? 1 : 0)))];
  });
  const head: Json = {
    name,
    kind,
    ...(info === undefined ? { unavailable: away?.reason ?? 'the source is inconsistent' } : {}),
    default_schema: (info ?? away)?.backend.defaultSchema ?? null,
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

/** Digits for the roles: what each may do, and of that what nothing is kept from. */
function accessTo(
  table: TableMetadata,
  found: TableInfo | undefined,
  roles: readonly string[],
  metadata: Metadata,
): { readonly granted: string; readonly unrestricted: string } {
  if (found === undefined) return { granted: digits(roles.map((role) => definedFor(table, role, metadata))), unrestricted: '' };
  // Roles share what is equal.
  const judged = new Map<RolePermissions, number>();
  const free = roles.map((role) => {
    const permissions = found.permissions.get(role);
    if (permissions === undefined) return 0;
    const known = judged.get(permissions) ?? unrestrictedOf(permissions, found);
    judged.set(permissions, known);
    return known;
  });
  const granted = roles.map((role) => {
    const permissions = found.permissions.get(role);
    return permissions === undefined ? 0 : BITS.reduce((sum, [kind, bit]) => sum + (permissions[kind] === undefined ? 0 : bit), 0);
  });
  return { granted: digits(granted), unrestricted: digits(free) };
}

/** What the metadata alone says, for a table that is not there to be looked at. */
function definedFor(table: TableMetadata, role: string, { inheritedRoles }: Metadata): number {
  const roles = new Set([role]);
  // What is added during the walk is walked too.
  for (const each of roles) for (const parent of inheritedRoles.get(each)?.roleSet ?? []) roles.add(parent);
  return BITS.reduce((sum, [kind, bit]) => sum + ([...roles].some((each) => table[`${kind}Permissions`].has(each)) ? bit : 0), 0);
}

function isTrue(condition: BoolExp): boolean {
  return condition.kind === 'constant' && condition.value;
}

function unrestrictedOf({ select, insert, update, delete: deletion }: RolePermissions, { columns }: TableInfo): number {
  const all = (given: ReadonlySet<string> | ReadonlyMap<string, BoolExp | null>): boolean =>
    [...columns.keys()].every((each) => given.has(each));
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

/** A hexadecimal digit for each, without the zeros at the end. */
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
