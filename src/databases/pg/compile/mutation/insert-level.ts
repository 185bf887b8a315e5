/**
 * The rows of one table that stand at the same place of a tree of nested inserts, whatever rows they belong to: what
 * is written together. Rows that come with another conflict clause are a level of their own.
 */
import type { RaisedFailure } from '../../../../backend/backend.ts';
import type { CatalogType, QualifiedName } from '../../../../catalog/catalog.ts';
import type { InsertColumn, InsertRow, InsertRows, NestedArray, NestedColumn, NestedObject, OnConflict } from '../../../../ir/mutation.ts';
import type { Slot } from './program.ts';

/** A row, and what connects it with rows of other levels. */
export interface LevelRow {
  readonly row: InsertRow;
  /** By column: what a row written before has. */
  readonly fills: Fills;
  /**
   * Null for one that nobody refers to. First its place among those of the level that others refer to, from 0; while it
   * is written its place in the slot that keeps its key.
   */
  readonly number: number | null;
}

export type Fills = ReadonlyMap<string, Fill>;

/** A value among the keys that a level has left behind. */
export interface Fill {
  readonly slot: Slot;
  /** Number of the row. */
  readonly row: number;
  /** Which of the columns that were kept. */
  readonly column: number;
  readonly type: CatalogType;
  /** Tells the row from others: another text is most likely another row. */
  readonly of: string;
}

/** A level before it is known which of its rows are referred to. */
export interface Level {
  /** What all of its rows have in common; `rows` and `uniform` are not looked at. */
  readonly common: InsertRows;
  readonly columns: readonly InsertColumn[];
  readonly rows: readonly { readonly row: InsertRow; readonly fills: Fills }[];
  /** Of every row: what is raised where it is not written; null when nobody waits for it. */
  readonly awaited: readonly RaisedFailure[] | null;
}

/** The nested rows of one relationship that have the same conflict clause, and whose they are. */
export interface NestedGroup<N extends NestedObject | NestedArray = NestedObject | NestedArray> {
  readonly name: string;
  readonly common: InsertRows;
  readonly columns: readonly NestedColumn[];
  readonly members: { readonly nested: N; readonly owner: number }[];
}

/**
 * @param nestedOf what a row has, in order
 * @returns the groups in the order in which they are met; members are in the order of their rows
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

/** A number of rows that is not known yet cannot be joined to others. */
function isJoinable(a: InsertRows, b: InsertRows): boolean {
  return a.uniform === undefined && a.check === b.check && sameConflict(a.onConflict, b.onConflict);
}

/** Whether both are known to do the same. */
function sameConflict(a: OnConflict | null, b: OnConflict | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.constraint !== b.constraint || !sameTexts(a.columns, b.columns)) return false;
  if (a.update === null || b.update === null) return a.update === b.update;
  // Conditions that a request wrote are told apart: each may have other values.
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

/** The columns of several rows, each once. */
export function unitedColumns(parts: readonly InsertRows[]): readonly InsertColumn[] {
  const [first] = parts;
  if (first !== undefined && parts.every(({ columns }) => columns === first.columns)) return first.columns;
  const columns = new Map<string, InsertColumn>();
  for (const part of parts) for (const column of part.columns) if (!columns.has(column.name)) columns.set(column.name, column);
  return [...columns.values()];
}

export function objectFailure({ name, rows, path }: NestedObject): RaisedFailure {
  const table = printTable(rows.table);
  return {
    code: 'not-supported',
    message: `cannot proceed to insert object relation "${name}" since insert to table "${table}" affects zero rows`,
    path,
  };
}

export function arrayFailure(table: QualifiedName, { path }: InsertRow): RaisedFailure {
  return {
    code: 'not-supported',
    message: `cannot proceed to insert array relations since insert to table "${printTable(table)}" affects zero rows`,
    path,
  };
}

function printTable(table: QualifiedName): string {
  return table.schema === 'public' ? table.name : `${table.schema}.${table.name}`;
}
