/** Order and grouping of nested inserts, level by level. */
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { InsertColumn, InsertRow, InsertRows, NestedArray, NestedColumn, NestedObject, OnConflict } from '../../ir/mutation.ts';
import type { RaisedFailure } from '../../backend/backend.ts';

/** Nested rows of one relationship with the same conflict clause, with the rows that they belong to. */
export interface NestedGroup<N extends NestedObject | NestedArray = NestedObject | NestedArray> {
  readonly name: string;
  readonly common: InsertRows;
  readonly columns: readonly NestedColumn[];
  readonly members: { readonly nested: N; readonly owner: number }[];
}

/**
 * @param nestedOf returns the nested inserts of a row in order
 * @returns the groups in order of first appearance; members are in the order of their rows
 */
export function groups<R, N extends NestedObject | NestedArray>(
  rows: readonly R[],
  nestedOf: (row: R) => readonly N[],
): readonly NestedGroup<N>[] {
  const byName = new Map<string, NestedGroup<N>[]>();
  const found: NestedGroup<N>[] = [];
  rows.forEach((row, owner) => {
    for (const nested of nestedOf(row)) {
      const known = byName.get(nested.name) ?? [];
      if (known.length === 0) byName.set(nested.name, known);
      let group = nested.rows.uniform === undefined ? known.find((one) => isJoinable(one.common, nested.rows)) : undefined;
      if (group === undefined) {
        group = { name: nested.name, common: nested.rows, columns: nested.columns, members: [] };
        known.push(group);
        found.push(group);
      }
      group.members.push({ nested, owner });
    }
  });
  return found;
}

/** Uniform rows, whose number is not known yet, cannot be combined with others. */
function isJoinable(a: InsertRows, b: InsertRows): boolean {
  return a.uniform === undefined && a.check === b.check && sameConflict(a.onConflict, b.onConflict);
}

/** Returns whether two conflict clauses are known to be equal. */
function sameConflict(a: OnConflict | null, b: OnConflict | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.constraint !== b.constraint || !sameTexts(a.columns, b.columns)) return false;
  if (a.update === null || b.update === null) return a.update === b.update;
  // Conditions of the request are compared by identity: each may have other values.
  return (
    a.update.where === b.update.where &&
    a.update.check === b.update.check &&
    a.update.presets === b.update.presets &&
    sameTexts(a.update.columns, b.update.columns)
  );
}

function sameTexts(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

/** Returns the columns of several inserts, without duplicates. */
export function unitedColumns(parts: readonly InsertRows[]): readonly InsertColumn[] {
  const [first] = parts;
  if (first !== undefined && parts.every(({ columns }) => columns === first.columns)) return first.columns;
  const columns = new Map<string, InsertColumn>();
  for (const part of parts) for (const column of part.columns) if (!columns.has(column.name)) columns.set(column.name, column);
  return [...columns.values()];
}

/** Error for an object relationship whose row is not written. @param defaultSchema is not printed */
export function objectFailure({ name, rows, path }: NestedObject, defaultSchema: string): RaisedFailure {
  const table = printTable(rows.table, defaultSchema);
  return {
    code: 'not-supported',
    message: `cannot proceed to insert object relation "${name}" since insert to table "${table}" affects zero rows`,
    path,
  };
}

/** Error for a row that is not written although others depend on it. @param defaultSchema is not printed */
export function arrayFailure(table: QualifiedName, { path }: InsertRow, defaultSchema: string): RaisedFailure {
  return {
    code: 'not-supported',
    message: `cannot proceed to insert array relations since insert to table "${printTable(table, defaultSchema)}" affects zero rows`,
    path,
  };
}

function printTable(table: QualifiedName, defaultSchema: string): string {
  return table.schema === defaultSchema ? table.name : `${table.schema}.${table.name}`;
}
