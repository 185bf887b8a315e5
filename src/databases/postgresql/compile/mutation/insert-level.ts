/**
 * The rows of one table that stand at the same place of a tree of nested inserts, whatever rows they belong to: what
 * is written together. Rows that come with another conflict clause are a level of their own.
 */
import type { RaisedFailure } from '../../../../backend/backend.ts';
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { InsertColumn, InsertRow, InsertRows } from '../../../../ir/mutation.ts';
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
