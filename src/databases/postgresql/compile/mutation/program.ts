/** The statements of one transaction while they are put together. */
import type { CompiledMutationStatement, InsertedRows, RaisedFailure } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import { integer, print, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Path } from '../../../../util/path.ts';
import type { Context } from '../context.ts';
import { dialect } from '../dialect.ts';
import { raiseSql } from './raise.ts';
import type { Statement } from '../../../../backend/connection.ts';
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import type { Row } from '../../../shared/row.ts';

/** One statement: what its expressions share. */
export interface Draft {
  readonly context: Context;
  /** An expression that fails with this error, of type `int4`. */
  raise(failure: RaisedFailure): Sql;
  /** The same for one of several, by its index. */
  raiseOneOf(failures: readonly RaisedFailure[]): (index: Sql) => Sql;
}

/** Settings of the transaction that hand rows of one statement on to later ones. */
export type Slot = number;

/** Statements more than one for each level, of rows that may not share one; each takes client and server about a tenth of a millisecond. */
const MOST_APART = 2_000;

export class Program {
  readonly writing: Writing;
  readonly statements: CompiledMutationStatement[] = [];
  /** Whether rows that may update others may share a statement where they seem to have different keys. */
  readonly unites: boolean;
  /** Some do: PostgreSQL refuses the statement if their keys are the same after all. */
  hasUnited = false;
  #apart = 0;
  readonly #free: Slot[] = [];
  #slots = 0;

  constructor(writing: Writing, unites: boolean) {
    this.writing = writing;
    this.unites = unites;
  }

  /** Before rows are written in so many statements more than one. @param why they are @throws SvcError validation-failed */
  addApart(statements: number, path: Path, why: string): void {
    this.#apart += statements;
    if (this.#apart > MOST_APART) throw tooManyApart(path, why);
  }

  /**
   * Adds a statement.
   * @param path where errors of the database are reported
   * @param columns JSON columns that are read from its row
   * @param rows what it inserts, where it may be asked which of them is wrong
   * @returns its index
   */
  add(path: Path, columns: number, build: (draft: Draft) => Sql, rows?: InsertedRows, context = this.writing.newContext()): number {
    const failures: RaisedFailure[] = [];
    const draft: Draft = {
      context,
      raise: (failure) => raiseSql(integer(failures.push(failure) - 1)),
      raiseOneOf: (more) => {
        const first = failures.length;
        for (const failure of more) failures.push(failure);
        return (index) => raiseSql(sql`${integer(first)} + ${index}`);
      },
    };
    const { text, parameters } = print(build(draft), dialect);
    return this.addStatement({ text, parameters, repeatable: false, columns }, path, failures, rows);
  }

  addStatement(statement: Statement, path: Path, failures: readonly RaisedFailure[] = [], rows?: InsertedRows): number {
    this.statements.push({ statement, path, failures, ...(rows === undefined ? {} : { rows }) });
    return this.statements.length - 1;
  }

  /** Slots are used again, because a session never forgets the name of a setting. */
  takeSlot(): Slot {
    return this.#free.pop() ?? this.#slots++;
  }

  giveBack(slot: Slot): void {
    this.#free.push(slot);
  }
}

function tooManyApart(path: Path, why: string): SvcError {
  const message = `${why}: this would take more than ${MOST_APART} statements`;
  return new SvcError('validation-failed', message, { path });
}

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
  readonly kind: 'insert' | 'update' | 'delete';
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
