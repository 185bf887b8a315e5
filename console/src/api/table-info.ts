/** What a table is in its database and in the GraphQL schema. */
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { defaultNames, type GraphqlNames, namesOfInfo } from '../model/graphql-names.ts';
import { type TableOverview, tableJson } from '../model/overview.ts';
import { readEntries } from './entries.ts';
import { askKind } from './metadata.ts';
import { overview } from './overview.ts';

export interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  readonly default: string | undefined;
  readonly description: string | undefined;
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
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly estimatedRows: number | undefined;
  readonly names: GraphqlNames;
  /** Names of columns in the GraphQL schema, by their names in the database. */
  readonly columnNames: ReadonlyMap<string, string>;
}

/** @throws Failure */
export async function readTableInfo(table: TableOverview, signal?: AbortSignal): Promise<TableInfo> {
  const { source, kind } = table;
  const address = tableJson(table);
  const [info, { version, entries }] = await Promise.all([
    askKind(kind, 'get_table_info', { source, table: address }, { signal }),
    readEntries([{ source, kind, table: address }], signal),
  ]);
  const entry = entries[0] ?? null;
  const found = isObject(info) ? info : {};
  const defaultSchema = overview.peek()?.sources.find(({ name }) => name === source)?.defaultSchema ?? 'public';
  const columns = listOf(found['columns']);
  return {
    version,
    entry,
    columns: columns.map((column) => ({
      name: String(column['name']),
      type: String(column['type']),
      isNullable: column['nullable'] === true,
      hasDefault: column['default'] !== undefined && column['default'] !== null,
      default: typeof column['default'] === 'string' ? column['default'] : undefined,
      description: typeof column['description'] === 'string' ? column['description'] : undefined,
    })),
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
    estimatedRows: typeof found['estimated_rows'] === 'number' ? found['estimated_rows'] : undefined,
    names: { ...defaultNames({ ...table, defaultSchema }, entry), ...namesOfInfo(found['graphql']) },
    columnNames: columnNames(columns, entry),
  };
}

function columnNames(columns: readonly JsonObject[], entry: JsonObject | null): ReadonlyMap<string, string> {
  const configuration = isObject(entry?.['configuration']) ? entry['configuration'] : {};
  const config = isObject(configuration['column_config']) ? configuration['column_config'] : {};
  const old = isObject(configuration['custom_column_names']) ? configuration['custom_column_names'] : {};
  return new Map(
    columns.map((column) => {
      const name = String(column['name']);
      const each = config[name];
      const custom = isObject(each) && typeof each['custom_name'] === 'string' ? each['custom_name'] : typeof old[name] === 'string' ? old[name] : undefined;
      const told = typeof column['graphql_name'] === 'string' ? column['graphql_name'] : undefined;
      return [name, told ?? custom ?? name];
    }),
  );
}

function listOf(json: Json | undefined): readonly JsonObject[] {
  return isList(json) ? json.filter(isObject) : [];
}
