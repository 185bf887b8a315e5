/** Operations that read the catalogs of databases, including untracked objects. Details of tracked tables come from the schema cache. */
import {
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogTable,
  type CatalogType,
  distributionColumn,
  nameKey,
  type QualifiedName,
  type TableOverview,
} from '../../catalog/catalog.ts';
import type { Backend, Source } from '../../backend/backend.ts';
import { bool, defaulted, list, object, optional, required } from '../../metadata/codec.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { define, everyKind, operation, type OperationGroup, perKind } from '../operation.ts';
import { databaseErrors, SOURCE_ERRORS } from '../operation-error.ts';
import { detailsOfColumn, detailsOfDistribution, detailsOfTable, type Tracked } from '../table-details.ts';
import { requireOpenSource, sourceArgument } from '../target.ts';

function byName(a: QualifiedName, b: QualifiedName): number {
  return a.schema === b.schema ? (a.name < b.name ? -1 : 1) : a.schema < b.schema ? -1 : 1;
}

const DETAILS = defaulted(bool, () => false);

const getSourceTables = perKind('get_source_tables', everyKind, (backend) =>
  define({
    args: object('GetSourceTables', { source: sourceArgument, details: DETAILS }),
    changes: 'nothing',
    errors: [...SOURCE_ERRORS, ...databaseErrors(backend)],
    documentation: {
      summary: 'Lists the tables and views of a source, tracked or not.',
      details:
        'With `details`, each is `{"table", "kind", "comment", "estimated_rows", "tracked"}`. The kind is `table`, `partitioned-table`, `view`, `materialized-view` or `foreign-table`; the estimate is null if the database has none. Sources of Citus add `distribution`.',
      example: { source: 'default' },
    },
    async run({ source: name, details }, context) {
      const source = requireOpenSource(name, backend, context.snapshot);
      const found = await overviewsOf(source);
      const tracked = context.snapshot.metadata.sources.get(name)?.tables;
      return [...found]
        .sort((a, b) => byName(a.name, b.name))
        .map((each) => {
          const table = backend.tableName.encode(each.name);
          if (!details) return table;
          const { kind, comment, estimatedRows } = each;
          return {
            table,
            kind,
            comment,
            estimated_rows: estimatedRows,
            tracked: tracked?.has(nameKey(each.name)) ?? false,
            ...detailsOfDistribution(each),
          };
        });
    },
  }),
);

async function overviewsOf(source: Source): Promise<readonly TableOverview[]> {
  if (source.tableOverviews !== undefined) return source.tableOverviews();
  const { tables } = await source.introspect({ functions: [] });
  return [...tables.values()].map(({ name, kind, comment }) => ({ name, kind, comment, estimatedRows: null, defaults: new Map() }));
}

function printType(type: CatalogType): string {
  return type.array ? `${type.name}[]` : type.name;
}

function describeColumn(column: CatalogColumn, table: CatalogTable, details: JsonObject): Json {
  return {
    name: column.name,
    type: printType(column.type),
    nullable: column.nullable,
    insertable: table.insertable && !column.generated && column.identity !== 'always',
    updatable: table.updatable && !column.generated && column.identity !== 'always' && column.name !== distributionColumn(table),
    ...(column.comment === null ? {} : { description: column.comment }),
    ...details,
  };
}

function mappingOf({ columns, targetColumns }: CatalogForeignKey): Json {
  return Object.fromEntries(columns.map((column, i) => [column, targetColumns[i] as string]));
}

interface Details {
  readonly overview: TableOverview | null;
  readonly tracked: Tracked | null;
}

/** @param details `null` for a description without details */
function describeTable(table: CatalogTable, backend: Backend, details: Details | null): Json {
  return {
    name: backend.tableName.encode(table.name),
    type: table.kind === 'table' || table.kind === 'partitioned-table' || table.kind === 'foreign-table' ? 'table' : 'view',
    columns: table.columns.map((column) =>
      describeColumn(column, table, details === null ? {} : detailsOfColumn(column, details.overview, details.tracked)),
    ),
    ...(table.primaryKey === null ? {} : { primary_key: [...table.primaryKey.columns] }),
    foreign_keys: Object.fromEntries(
      table.foreignKeys.map((key) => [key.name, { foreign_table: backend.tableName.encode(key.target), column_mapping: mappingOf(key) }]),
    ),
    insertable: table.insertable,
    updatable: table.updatable,
    deletable: table.deletable,
    ...(details === null ? {} : detailsOfTable(table, details.overview, details.tracked)),
  };
}

const getTableInfo = perKind('get_table_info', everyKind, (backend) =>
  define({
    args: object('GetTableInfo', { source: sourceArgument, table: required(backend.tableName), details: DETAILS }),
    changes: 'nothing',
    errors: [...SOURCE_ERRORS, ...databaseErrors(backend)],
    documentation: {
      summary:
        'Describes the columns and keys of a table; null if the table does not exist. With `details`, a tracked table is described from the cached catalog, which `reload_metadata` refreshes.',
      details: `\`details\` adds \`kind\`, \`comment\`, \`estimated_rows\` (null if the database has no estimate), \`unique_keys\` besides the primary key, and \`tracked\`. Each column gets \`has_default\`, \`default\` (SQL, or null if it is unknown), \`generated\` and \`identity\`. A column of an enum type, or with a check constraint that lists texts, also gets these \`values\`.

Sources of Citus add \`distribution\`, the placement of the rows: \`{"kind": "distributed", "column", "colocation_group"}\` (the column is null if all rows are on one server), \`{"kind": "schema", "colocation_group"}\`, \`{"kind": "reference"}\` or \`{"kind": "local"}\`. Views have none.

A tracked table also gets \`enum_values\`, the \`graphql_name\` of each column (null if it has none), and \`graphql\` with its names in the schema of administrators (null if the table is not in GraphQL): \`type\`, \`aggregate_type\`, \`where_type\`, \`order_by_type\`, \`mutation_response_type\`, \`insert_type\`, \`set_type\`, the \`namespace\` and the \`naming_convention\` of the source, and \`root_fields\`.`,
      example: { source: 'default', table: 'author', details: true },
    },
    async run({ source: name, table, details }, context) {
      const source = requireOpenSource(name, backend, context.snapshot);
      const key = nameKey(table);
      const read = async (): Promise<CatalogTable | undefined> =>
        (await source.introspect({ tables: [table], functions: [] })).tables.get(key);
      if (!details) {
        const found = await read();
        return found === undefined ? null : describeTable(found, backend, null);
      }
      const info = context.snapshot.cache.sources.get(name);
      const known = info?.tables.get(key);
      const [found, overviews] = await Promise.all([known?.catalog ?? read(), source.tableOverviews?.([table])]);
      if (found === undefined) return null;
      const tracked = info === undefined || known === undefined ? null : { source: info, table: known };
      return describeTable(found, backend, { overview: overviews?.[0] ?? null, tracked });
    },
  }),
);

const listSourceKinds: OperationGroup = (backends) => [
  operation({
    type: 'list_source_kinds',
    args: object('ListSourceKinds', {}),
    changes: 'nothing',
    errors: [],
    documentation: { summary: 'Lists the supported kinds of databases.', example: {} },
    run: async () => ({ sources: backends.map(({ kind }) => ({ kind, display_name: kind, builtin: true, available: true })) }),
  }),
];

interface Suggestion {
  readonly type: 'object' | 'array';
  readonly fromTable: QualifiedName;
  readonly fromColumns: readonly string[];
  readonly toTable: QualifiedName;
  readonly toColumns: readonly string[];
  /** Foreign key, and the side that has it. */
  readonly constraint: { readonly side: 'from' | 'to'; readonly name: string };
}

function isUnique(table: CatalogTable, columns: readonly string[]): boolean {
  const keys = table.primaryKey === null ? table.uniqueConstraints : [table.primaryKey, ...table.uniqueConstraints];
  return keys.some((key) => key.columns.length === columns.length && key.columns.every((column) => columns.includes(column)));
}

/** Returns both directions of every foreign key between the tables. @param selected only keys with one of these tables at an end */
function suggestionsOf(tables: ReadonlyMap<string, CatalogTable>, selected?: ReadonlySet<string>): readonly Suggestion[] {
  const isSelected = (...ends: readonly QualifiedName[]): boolean =>
    selected === undefined || ends.some((end) => selected.has(nameKey(end)));
  return [...tables.values()]
    .sort((a, b) => byName(a.name, b.name))
    .flatMap((table) =>
      table.foreignKeys
        .filter((key) => tables.has(nameKey(key.target)) && isSelected(table.name, key.target))
        .flatMap((key): readonly Suggestion[] => [
          {
            type: 'object',
            fromTable: table.name,
            fromColumns: key.columns,
            toTable: key.target,
            toColumns: key.targetColumns,
            constraint: { side: 'from', name: key.name },
          },
          {
            type: isUnique(table, key.columns) ? 'object' : 'array',
            fromTable: key.target,
            fromColumns: key.targetColumns,
            toTable: table.name,
            toColumns: key.columns,
            constraint: { side: 'to', name: key.name },
          },
        ]),
    );
}

function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((column) => b.includes(column));
}

const suggestRelationships = perKind('suggest_relationships', everyKind, (backend) =>
  define({
    args: object('SuggestRels', {
      source: sourceArgument,
      tables: optional(list(backend.tableName)),
      omitTracked: defaulted(bool, () => false),
    }),
    changes: 'nothing',
    errors: [...SOURCE_ERRORS, ...databaseErrors(backend)],
    documentation: {
      summary:
        'Suggests relationships for the foreign keys between tracked tables. With `tables`, only for foreign keys that begin or end at one of these tables, which may be untracked.',
      example: { source: 'default', omit_tracked: true },
    },
    async run({ source: name, tables, omitTracked }, context) {
      const source = requireOpenSource(name, backend, context.snapshot);
      const tracked = context.snapshot.cache.sources.get(name)?.tables ?? new Map<string, never>();
      const selected = tables === undefined ? undefined : new Set(tables.map(nameKey));
      const untracked = (tables ?? []).filter((table) => !tracked.has(nameKey(table)));
      const read = untracked.length === 0 ? [] : (await source.introspect({ tables: untracked, functions: [] })).tables;
      const catalogs = new Map([...[...tracked].map(([key, table]) => [key, table.catalog] as const), ...read]);
      const isTracked = (suggestion: Suggestion): boolean =>
        [...(tracked.get(nameKey(suggestion.fromTable))?.relationships.values() ?? [])].some(
          ({ kind, target, join }) =>
            kind === suggestion.type &&
            nameKey(target) === nameKey(suggestion.toTable) &&
            sameColumns(
              join.columns.map(({ local }) => local),
              suggestion.fromColumns,
            ),
        );
      const relationships = suggestionsOf(catalogs, selected).filter((suggestion) => !omitTracked || !isTracked(suggestion));
      return { relationships: relationships.map((suggestion) => printSuggestion(suggestion, backend)) };
    },
  }),
);

function printSuggestion({ type, fromTable, fromColumns, toTable, toColumns, constraint }: Suggestion, backend: Backend): Json {
  const end = (table: QualifiedName, columns: readonly string[], side: 'from' | 'to'): Json => ({
    table: backend.tableName.encode(table),
    columns: [...columns],
    ...(constraint.side === side ? { constraint_name: constraint.name } : {}),
  });
  return { type, from: end(fromTable, fromColumns, 'from'), to: end(toTable, toColumns, 'to') };
}

export const catalogOperations: readonly OperationGroup[] = [getSourceTables, getTableInfo, listSourceKinds, suggestRelationships];
