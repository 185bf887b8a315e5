/** Handmade schema caches for tests of the schema: tables in a few lines, without a database. */
import { STANDARD_LEXIS } from '../../src/model/sql-lexis.ts';
import type { Backend } from '../../src/backend/backend.ts';
import {
  type CatalogColumn,
  type CatalogFunction,
  type CatalogTable,
  type CatalogType,
  nameKey,
  type QualifiedName,
} from '../../src/catalog/catalog.ts';
import { capabilities } from '../../src/databases/postgresql/capabilities.ts';
import { types } from '../../src/databases/postgresql/types.ts';
import { TRUE } from '../../src/ir/bool-exp.ts';
import { NO_CUSTOMIZATION } from '../../src/metadata/source.ts';
import { NO_TABLE_CONFIGURATION, type TableConfiguration } from '../../src/metadata/table.ts';
import type {
  ComputedFieldInfo,
  ResolvedDeletePermission,
  FunctionInfo,
  ResolvedInsertPermission,
  RelationshipInfo,
  RolePermissions,
  SchemaCache,
  ResolvedSelectPermission,
  SourceInfo,
  TableInfo,
  ResolvedUpdatePermission,
} from '../../src/schema-cache/schema-cache.ts';

function unused(): never {
  throw new Error('not part of this fixture');
}

/** PostgreSQL's types and nothing else of it. */
export const fixtureBackend: Backend = {
  kind: 'pg',
  aliases: [],
  console: {
    title: '',
    editor: 'sql',
    lexis: STANDARD_LEXIS,
    schemaKey: 'schema',
    examples: [],
    secret: { path: [], label: '', hint: '', placeholder: '', variable: '', json: false },
    fields: [],
  },
  product: 'postgres',
  defaultSchema: 'public',
  configuration: { name: 'none', decode: unused, encode: unused },
  exampleConfiguration: {},
  tableName: { name: 'none', decode: unused, encode: unused },
  functionName: { name: 'none', decode: unused, encode: unused },
  capabilities,
  types,
  sqlText: { mayChangeCatalog: unused },
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  isMadeUpConstraint: () => false,
  compiler: unused,
  connect: unused,
};

/** `int4`, `int4[]`; types of extensions are in schema `public`. */
export function typeNamed(text: string): CatalogType {
  const array = text.endsWith('[]');
  const name = array ? text.slice(0, -2) : text;
  const schema = ['geometry', 'geography', 'raster', 'ltree', 'citext'].includes(name) ? 'public' : 'pg_catalog';
  return { schema, name, kind: 'base', array };
}

export function inPublic(name: string): QualifiedName {
  return { schema: 'public', name };
}

/** `int4!` is not null. */
function column(name: string, text: string, position: number): CatalogColumn {
  const nullable = !text.endsWith('!');
  return {
    name,
    type: typeNamed(nullable ? text : text.slice(0, -1)),
    nullable,
    hasDefault: false,
    generated: false,
    identity: false,
    comment: null,
    position,
  };
}

export interface TableSpec {
  readonly schema?: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly key?: readonly string[];
  readonly comment?: string;
  readonly configuration?: Partial<TableConfiguration>;
  /** Keyed by name: [kind, target, local column, remote column]. */
  readonly relationships?: Readonly<Record<string, readonly ['object' | 'array', string, string, string]>>;
  readonly computedFields?: readonly ComputedFieldInfo[];
  readonly permissions?: Readonly<Record<string, Partial<ResolvedSelectPermission>>>;
  /** Columns that reference an enum table. */
  readonly enums?: Readonly<Record<string, string>>;
  readonly enumValues?: readonly string[];
  /** Unique constraints by name. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /** Further properties of columns. */
  readonly columnFacts?: Readonly<Record<string, Partial<CatalogColumn>>>;
  /** Further properties of the table. */
  readonly facts?: Partial<CatalogTable>;
  /** Object relationships whose row is inserted after this one. */
  readonly afterParent?: readonly string[];
  /** Write permissions by role. */
  readonly writes?: Readonly<Record<string, WriteSpec>>;
}

export interface WriteSpec {
  readonly insert?: Partial<ResolvedInsertPermission>;
  readonly update?: Partial<ResolvedUpdatePermission>;
  readonly delete?: Partial<ResolvedDeletePermission>;
}

export function tableInfo(name: string, spec: TableSpec): TableInfo {
  const qualified: QualifiedName = { schema: spec.schema ?? 'public', name };
  const columns = Object.entries(spec.columns).map(([key, text], i) => ({
    ...column(key, text, i + 1),
    ...spec.columnFacts?.[key],
  }));
  const configuration: TableConfiguration = { ...NO_TABLE_CONFIGURATION, ...spec.configuration };
  const unprefixed = qualified.schema === 'public';
  return {
    source: 'default',
    name: qualified,
    catalog: {
      id: 1,
      name: qualified,
      kind: 'table',
      comment: spec.comment ?? null,
      columns,
      primaryKey: spec.key === undefined ? null : { name: `${name}_pkey`, columns: spec.key },
      uniqueConstraints: Object.entries(spec.unique ?? {}).map(([key, keys]) => ({ name: key, columns: keys })),
      otherConstraints: [],
      foreignKeys: [],
      insertable: true,
      updatable: true,
      deletable: true,
      ...spec.facts,
    },
    configuration,
    baseName: configuration.customName ?? (unprefixed ? name : `${qualified.schema}_${name}`),
    customName: configuration.customName !== undefined,
    inGraphql: true,
    federated: false,
    columns: new Map(
      columns.map((one) => {
        const custom = configuration.columnConfig.get(one.name);
        const enumTable = spec.enums?.[one.name];
        return [
          one.name,
          {
            name: one.name,
            fieldName: custom?.customName ?? one.name,
            customName: custom?.customName !== undefined,
            comment: custom?.comment,
            catalog: one,
            enumTable: enumTable === undefined ? null : inPublic(enumTable),
          },
        ];
      }),
    ),
    relationships: new Map(
      Object.entries(spec.relationships ?? {}).map(([key, [kind, target, local, remote]]): [string, RelationshipInfo] => [
        key,
        {
          name: key,
          kind,
          comment: undefined,
          target: inPublic(target),
          join: { columns: [{ local, remote }], unique: kind === 'object' },
          nullable: spec.columns[local]?.endsWith('!') !== true,
          insertionOrder: kind === 'object' && spec.afterParent?.includes(key) !== true ? 'before-parent' : 'after-parent',
        },
      ]),
    ),
    computedFields: new Map((spec.computedFields ?? []).map((field) => [field.name, field])),
    permissions: permissionsOf(spec),
    enumValues: spec.enumValues?.map((value) => ({ value, description: null })) ?? null,
  };
}

function permissionsOf(spec: TableSpec): ReadonlyMap<string, RolePermissions> {
  const roles = new Set([...Object.keys(spec.permissions ?? {}), ...Object.keys(spec.writes ?? {})]);
  return new Map(
    [...roles].map((role): [string, RolePermissions] => {
      const select = spec.permissions?.[role];
      const { insert, update, delete: remove } = spec.writes?.[role] ?? {};
      const common = { columns: new Set<string>(), presets: new Map(), backendOnly: false, validateInput: null };
      return [
        role,
        {
          ...(select === undefined ? {} : { select: selectPermission(select) }),
          ...(insert === undefined ? {} : { insert: { ...common, check: TRUE, ...insert } }),
          ...(update === undefined ? {} : { update: { ...common, filter: TRUE, check: null, ...update } }),
          ...(remove === undefined ? {} : { delete: { filter: TRUE, backendOnly: false, validateInput: null, ...remove } }),
        },
      ];
    }),
  );
}

export function selectPermission(permission: Partial<ResolvedSelectPermission>): ResolvedSelectPermission {
  return {
    columns: new Map(),
    computedFields: new Map(),
    filter: TRUE,
    limit: null,
    allowAggregations: false,
    queryRootFields: null,
    subscriptionRootFields: null,
    ...permission,
  };
}

/** Columns without masks. */
export function unmasked(...names: readonly string[]): ReadonlyMap<string, null> {
  return new Map(names.map((name) => [name, null]));
}

export function catalogFunction(name: string, spec: Partial<CatalogFunction>): CatalogFunction {
  return {
    id: 1,
    name: inPublic(name),
    comment: null,
    volatility: 'stable',
    variadic: false,
    arguments: [],
    returns: typeNamed('text'),
    returnsTable: null,
    returnsSet: false,
    aggregate: false,
    ...spec,
  };
}

export function sourceInfo(
  tables: readonly TableInfo[],
  rest: Partial<SourceInfo> = {},
  functions: readonly FunctionInfo[] = [],
): SourceInfo {
  return {
    name: 'default',
    backend: fixtureBackend,
    customization: NO_CUSTOMIZATION,
    namingConvention: 'svc-default',
    tables: new Map(tables.map((table) => [nameKey(table.name), table])),
    functions: new Map(functions.map((info) => [nameKey(info.name), info])),
    eventTriggers: new Map(),
    ...rest,
  };
}

/** Shared: role schemas are reused for an identical object. */
const NO_REMOTES = new Map<string, never>();

export function schemaCache(...sources: readonly SourceInfo[]): SchemaCache {
  return {
    sources: new Map(sources.map((source) => [source.name, source])),
    roles: new Set(),
    inconsistencies: [],
    remoteSchemas: NO_REMOTES,
    remoteRelationships: NO_REMOTES,
    remoteTypeRelationships: NO_REMOTES,
    customTypes: NO_REMOTES,
    customTypeRelationships: NO_REMOTES,
    actions: NO_REMOTES,
    remotePermissionsEnabled: false,
    queryTags: new Map(),
    unsupportedOperators: new Map(),
    introspectionDisabledFor: new Set(),
    apiLimits: null,
    unavailable: { sources: [], inheritedRoles: new Map() },
  };
}
