/** Tables of a source and what connects them, compact for any number of tables. */
import { nameKey } from '../catalog/catalog.ts';
import type { SourceInfo, TableInfo } from '../schema-cache/schema-cache.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { Json } from '../util/json.ts';

// Flags of columns.
const PRIMARY_KEY = 1;
const NULLABLE = 2;
/** Tables per cooperative step. */
const TABLES_PER_STEP = 100;

/** @param role only what this role can select; undefined for administrators */
export function* schemaDiagram({ tables }: SourceInfo, role: string | undefined): Cooperative<Json> {
  const listed = [...tables.values()].filter((table) => role === undefined || table.permissions.get(role)?.select !== undefined);
  const indexes = new Map(listed.map(({ name }, index) => [nameKey(name), index]));
  const printed: Json[] = [];
  for (const table of listed) {
    if (printed.length % TABLES_PER_STEP === TABLES_PER_STEP - 1) yield;
    printed.push(describe(table, role, indexes));
  }
  return { tables: printed };
}

function describe(table: TableInfo, role: string | undefined, indexes: ReadonlyMap<string, number>): Json {
  const { catalog, name, relationships, permissions } = table;
  const selectable = role === undefined ? undefined : permissions.get(role)?.select?.columns;
  const isSelectable = (column: string): boolean => role === undefined || selectable?.has(column) === true;
  const primaryKey = new Set(catalog.primaryKey?.columns);
  return [
    name.schema,
    name.name,
    catalog.columns
      .filter((column) => isSelectable(column.name))
      .map(({ name: column, type, nullable }) => [
        column,
        type.array ? `${type.name}[]` : type.name,
        (primaryKey.has(column) ? PRIMARY_KEY : 0) | (nullable ? NULLABLE : 0),
      ]),
    catalog.foreignKeys.flatMap(({ name: constraint, target, columns, targetColumns }) => {
      const to = indexes.get(nameKey(target));
      if (to === undefined || !columns.every(isSelectable)) return [];
      return [[constraint, to, columns.map((column, index) => [column, targetColumns[index] ?? ''])]];
    }),
    [...relationships.values()].flatMap(({ name: relationship, kind, target, join }) => {
      const to = indexes.get(nameKey(target));
      return to === undefined ? [] : [[relationship, kind, to, join.columns.map(({ local, remote }) => [local, remote])]];
    }),
  ];
}
