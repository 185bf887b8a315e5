/**
 * Levels of nested inserts. A level has the rows of one table at the same place of the tree, which are written together whatever rows they
 * belong to. Rows with another conflict clause are a level of their own.
 */
import type { RaisedFailure } from '../../../../backend/backend.ts';
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { InsertColumn, InsertRow, InsertRows } from '../../../../ir/mutation.ts';
import type { SettingSlot } from './program.ts';

/** A row with its connections to rows of other levels. */
export interface LevelRow {
  readonly row: InsertRow;
  /** Values from rows that were written before, by column. */
  readonly fills: Fills;
  /**
   * Number, from 0, among the rows of the level that other rows refer to. While the row is written, its number in the slot that stores its
   * key. `null` for rows that no other row refers to.
   */
  readonly number: number | null;
}

export type Fills = ReadonlyMap<string, Fill>;

/** A value among the transaction-local keys of a level. */
export interface Fill {
  readonly slot: SettingSlot;
  /** Number of the row. */
  readonly row: number;
  /** Index among the stored columns. */
  readonly column: number;
  readonly type: CatalogType;
  /** Identifies the row: rows with different texts are most likely different. */
  readonly of: string;
}

/** A level before its rows are numbered. */
export interface Level {
  /** Common properties of all rows; `rows` and `uniform` are ignored. */
  readonly common: InsertRows;
  readonly columns: readonly InsertColumn[];
  readonly rows: readonly { readonly row: InsertRow; readonly fills: Fills }[];
  /** Errors by row for rows that are not written; `null` if no row depends on them. */
  readonly awaited: readonly RaisedFailure[] | null;
}
