/** What is a kind of database's own in mutations: how rows are written, kept and answered from. */
import type { InsertedRows, RaisedFailure } from '../../../../backend/backend.ts';
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import type { Sql } from '../../../../sql/fragment.ts';
import type { Row } from '../../../../sql/row.ts';
import type { Path } from '../../../../util/path.ts';
import type { Context } from '../context.ts';
import type { Program, Slot } from './program.ts';

/** How writes of a kind of database become statements. */
export interface Writing {
  newContext(): Context;
  /** Writes and answers. @returns the statement, whose only column is the answer */
  writeAndAnswer(program: Program, write: Write, output: MutationOutput): number;
  /** Writes and leaves the answer to later statements. */
  writeAndKeep(program: Program, write: Write, keeping: Keeping): void;
  /** Answers from rows that were kept, and from their number. @returns the statement, whose only column is the answer */
  answerKept(program: Program, kept: KeptRows, output: MutationOutput): number;
  /** Whether one statement can tell which of the rows that it has written is which: else those that others refer to come one by one. */
  readonly marksRows: boolean;
}

export interface KeptRows {
  readonly path: Path;
  readonly table: QualifiedName;
  readonly slots: readonly Slot[];
}

export interface Write {
  readonly path: Path;
  /** Everything in front of `returning`; `alias` is the table's. */
  command(context: Context, alias: Sql): Sql;
  /** Holds for every row that was written; null when nothing is to be checked. */
  check(context: Context, row: Row): Sql | null;
  /** What it inserts, where it may be asked which of them is wrong. */
  readonly rows?: InsertedRows;
}

export interface Keeping {
  /** Where the rows go; null when nobody reads them. */
  readonly slot: Slot | null;
  /** Whether to count the rows, and whether the count begins with this statement. */
  readonly count: 'first' | 'more' | null;
  /** What other rows need; null when there are none. */
  readonly keys: KeepKeys | null;
}

/** What a statement leaves behind of the rows that others refer to. */
export interface KeepKeys {
  readonly slot: Slot;
  readonly columns: readonly string[];
  /** Number of the first of these rows; there are rows of statements before this one if it is not 0. */
  readonly first: number;
  /** By row: what is raised where it has not been written. */
  readonly absent: readonly RaisedFailure[];
  /** Where the statement's other failures are reported. */
  readonly path: Path;
  /** The statement writes other rows as well. */
  readonly marked: boolean;
}
