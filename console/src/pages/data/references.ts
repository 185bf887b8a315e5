import { overview } from '../../api/overview.ts';
import type { NamedTableInfo } from '../../api/table-info.ts';
import { tableNamed } from '../../features/filter-builder/scope.ts';
import type { Json } from '../../model/json.ts';
import type { TableOverview } from '../../model/overview.ts';

/** A foreign key of a table, with its columns by their names in the GraphQL schema. */
export interface Reference {
  readonly to: Json;
  /** Own columns, and the columns of the database that they reference. */
  readonly columns: readonly (readonly [column: string, toColumn: string])[];
}

/** Returns the foreign keys by each of their columns; of several on one column, the one with the fewest columns. */
export function referencesOf({ foreignKeys, columnNames }: NamedTableInfo): ReadonlyMap<string, Reference> {
  const found = new Map<string, Reference>();
  for (const { table: to, columns } of foreignKeys.toSorted((a, b) => b.columns.length - a.columns.length)) {
    const named = columns.map(([column, toColumn]) => [columnNames.get(column) ?? column, toColumn] as const);
    for (const [column] of named) found.set(column, { to, columns: named });
  }
  return found;
}

/** Returns the table that a foreign key references; undefined if it is not tracked. */
export function referencedTable(table: TableOverview, { to }: Reference): TableOverview | undefined {
  const data = overview.value;
  return data === undefined ? undefined : tableNamed(data, table, to);
}
