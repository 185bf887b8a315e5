/** Description of a table in its database and in the GraphQL schema. */
import { isList, isObject, type Json, type JsonObject, objectOf, objectsIn } from '../model/json.ts';
import { type GraphqlNames, readNames } from '../model/graphql-names.ts';
import { type TableOverview, tableJson } from '../model/overview.ts';
import { readEntries } from './entries.ts';
import { readKindOperation } from './metadata.ts';

export interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  readonly default: string | undefined;
  readonly description: string | undefined;
  /** Values that an enum type or a check constraint allows. */
  readonly values: readonly string[] | undefined;
}

export interface ForeignKey {
  readonly constraint: string;
  readonly table: Json;
  readonly columns: readonly (readonly [column: string, toColumn: string])[];
}

export interface TableInfo {
  readonly version: number;
  readonly entry: JsonObject | null;
  readonly columns: readonly ColumnInfo[];
  /** Empty if there is none. */
  readonly comment: string;
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
  /** Columns of the unique constraints besides the primary key. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly estimatedRows: number | undefined;
  /** Undefined if the table is not in the GraphQL schema. */
  readonly names: GraphqlNames | undefined;
  /** GraphQL names of columns, by their names in the database. */
  readonly columnNames: ReadonlyMap<string, string>;
}

/** Description of a table that is in the GraphQL schema. */
export interface NamedTableInfo extends TableInfo {
  readonly names: GraphqlNames;
}

/** Names of the primary key's columns in the GraphQL schema. */
export function keyFields({ primaryKey, columnNames }: TableInfo): readonly string[] {
  return primaryKey.map((column) => columnNames.get(column) ?? column);
}

/** Returns the column with a name in the GraphQL schema. */
export function columnOfField({ columns, columnNames }: TableInfo, field: string): ColumnInfo | undefined {
  return columns.find(({ name }) => columnNames.get(name) === field);
}

/** @throws Failure */
export async function readTableInfo(table: TableOverview, signal?: AbortSignal): Promise<TableInfo> {
  const { source, kind } = table;
  const address = tableJson(table);
  const [info, { version, entries }] = await Promise.all([
    readKindOperation(kind, 'get_table_info', { source, table: address, details: true }, { signal }),
    readEntries([{ source, kind, table: address }], [], signal),
  ]);
  const entry = entries[0] ?? null;
  const found = objectOf(info);
  const columns = objectsIn(found['columns']);
  return {
    version,
    entry,
    columns: columns.map((column) => ({
      name: String(column['name']),
      type: String(column['type']),
      isNullable: column['nullable'] === true,
      hasDefault: column['has_default'] === true,
      default: typeof column['default'] === 'string' ? column['default'] : undefined,
      description: typeof column['description'] === 'string' ? column['description'] : undefined,
      values: isList(column['values']) ? column['values'].map(String) : undefined,
    })),
    comment: typeof found['comment'] === 'string' ? found['comment'] : '',
    primaryKey: isList(found['primary_key']) ? found['primary_key'].map(String) : [],
    foreignKeys: isObject(found['foreign_keys'])
      ? Object.entries(found['foreign_keys']).map(([constraint, key]) => {
          const { foreign_table: toTable, column_mapping: mapping } = key as JsonObject;
          return {
            constraint,
            table: toTable ?? null,
            columns: isObject(mapping) ? Object.entries(mapping).map(([column, to]) => [column, String(to)] as const) : [],
          };
        })
      : [],
    uniqueKeys: objectsIn(found['unique_keys']).map(({ columns: key }) => (isList(key) ? key.map(String) : [])),
    estimatedRows: typeof found['estimated_rows'] === 'number' ? found['estimated_rows'] : undefined,
    names: readNames(found['graphql']),
    columnNames: new Map(
      columns.flatMap(({ name, graphql_name: field }) => (typeof field === 'string' ? [[String(name), field] as const] : [])),
    ),
  };
}
