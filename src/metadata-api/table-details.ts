/** Details of a table for administration tools: its GraphQL names, column defaults, estimated rows, distribution. */
import type { Backend } from '../backend/backend.ts';
import type { CatalogColumn, CatalogTable, TableOverview } from '../catalog/catalog.ts';
import { type RootFieldKey, ROOT_FIELD_KEYS } from '../metadata/table-configuration.ts';
import { fieldName, tableRootNames, tableTypeName } from '../schema-cache/naming.ts';
import type { ColumnInfo, SourceInfo, TableInfo } from '../schema-cache/schema-cache.ts';
import type { Json, JsonObject } from '../util/json.ts';

export interface Tracked {
  readonly source: SourceInfo;
  readonly table: TableInfo;
}

/** @param overview `null` if the database does not provide one */
export function detailsOfTable(table: CatalogTable, overview: TableOverview | null, tracked: Tracked | null): JsonObject {
  return {
    kind: table.kind,
    comment: table.comment,
    estimated_rows: overview?.estimatedRows ?? null,
    unique_keys: table.uniqueConstraints.map(({ name, columns }) => ({ name, columns: [...columns] })),
    tracked: tracked !== null,
    ...detailsOfDistribution(table),
    ...(tracked === null ? {} : { graphql: namesInGraphql(tracked), enum_values: enumValues(tracked.table) }),
  };
}

/** Returns the placement of the rows, for kinds of databases with several servers. */
export function detailsOfDistribution({ distribution }: Pick<CatalogTable, 'distribution'>): JsonObject {
  if (distribution === undefined) return {};
  const { kind } = distribution;
  switch (kind) {
    case 'distributed':
      return { distribution: { kind, column: distribution.column, colocation_group: distribution.group } };
    case 'schema':
      return { distribution: { kind, colocation_group: distribution.group } };
    default:
      return { distribution: { kind } };
  }
}

export function detailsOfColumn(column: CatalogColumn, overview: TableOverview | null, tracked: Tracked | null): JsonObject {
  const info = tracked?.table.columns.get(column.name);
  const choices = overview?.choices?.get(column.name);
  return {
    has_default: column.hasDefault || column.identity !== false,
    default: overview?.defaults.get(column.name) ?? null,
    generated: column.generated,
    identity: column.identity === false ? null : column.identity,
    ...(choices === undefined ? {} : { values: [...choices] }),
    ...(tracked === null ? {} : { graphql_name: info === undefined ? null : columnName(tracked.source, info) }),
  };
}

function columnName({ namingConvention }: SourceInfo, { customName, fieldName: name }: ColumnInfo): string {
  return fieldName(namingConvention, customName ? { literal: name } : name);
}

function enumValues({ enumValues: values }: TableInfo): Json {
  return values === null ? null : values.map(({ value, description }) => ({ value, description }));
}

/** Returns the names in the schema of administrators; other roles have a part of them. */
function namesInGraphql({ source, table }: Tracked): Json {
  if (!table.inGraphql) return null;
  const roots = ROOT_FIELD_KEYS.filter((key) => hasRoot(source.backend, table.catalog, key));
  const type = (...suffixes: readonly string[]): string => tableTypeName(source, table, ...suffixes);
  const writes = source.backend.capabilities.mutations;
  return {
    namespace: source.customization.rootFields.namespace ?? null,
    naming_convention: source.namingConvention,
    type: type(),
    aggregate_type: type('aggregate'),
    where_type: type('bool_exp'),
    order_by_type: type('order_by'),
    ...(writes ? { mutation_response_type: type('mutation_response') } : {}),
    ...(writes && table.catalog.insertable ? { insert_type: type('insert_input') } : {}),
    ...(writes && table.catalog.updatable ? { set_type: type('set_input') } : {}),
    root_fields: Object.fromEntries(roots.map((key) => [key, tableRootNames(source, table, key).name])),
  };
}

function hasRoot({ capabilities }: Backend, table: CatalogTable, key: RootFieldKey): boolean {
  const [operation] = key.split('_');
  if (key.endsWith('_by_pk') && table.primaryKey === null) return false;
  if (key === 'select_stream') return capabilities.streaming;
  if (operation === 'select') return true;
  if (!capabilities.mutations) return false;
  return operation === 'insert' ? table.insertable : operation === 'update' ? table.updatable : table.deletable;
}
