/** The statements of one transaction while they are compiled. */
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

/** Shared by the expressions of one statement. */
export interface MutationDraft {
  readonly context: Context;
  /** Returns an `int4` expression that fails with this error. */
  raise(failure: RaisedFailure): Sql;
  /** Returns a function from an index to an expression that fails with the error of that index. */
  raiseOneOf(failures: readonly RaisedFailure[]): (index: Sql) => Sql;
}

/** Number of a setting of the transaction that passes rows from one statement to later ones. */
export type SettingSlot = number;

/** Maximum number of statements in addition to one per level; each takes client and server about a tenth of a millisecond. */
const MAX_EXTRA_STATEMENTS = 2_000;

export class Program {
  readonly writes: WriteCompiler;
  readonly statements: CompiledMutationStatement[] = [];
  /** True if rows that may update others share a statement if their keys seem to differ. */
  readonly combinesRows: boolean;
  /** True if some rows share a statement: PostgreSQL refuses it if their keys are equal after all. */
  hasCombined = false;
  #extra = 0;
  readonly #free: SettingSlot[] = [];
  #slots = 0;

  constructor(writes: WriteCompiler, combinesRows: boolean) {
    this.writes = writes;
    this.combinesRows = combinesRows;
  }

  /** Called before rows are written in additional statements. @param why the reason, for the message @throws SvcError validation-failed */
  addExtraStatements(statements: number, path: Path, why: string): void {
    this.#extra += statements;
    if (this.#extra > MAX_EXTRA_STATEMENTS) throw tooManyStatements(path, why);
  }

  /**
   * Adds a statement.
   * @param path of the database's errors
   * @param columns number of JSON columns of its row
   * @param rows inserted rows, to find the one that the database refuses
   * @returns its index
   */
  add(path: Path, columns: number, build: (draft: MutationDraft) => Sql, rows?: InsertedRows, context = this.writes.newContext()): number {
    const failures: RaisedFailure[] = [];
    const draft: MutationDraft = {
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

  /** Reuses released slots, because a session never forgets the name of a setting. */
  acquireSlot(): SettingSlot {
    return this.#free.pop() ?? this.#slots++;
  }

  releaseSlot(slot: SettingSlot): void {
    this.#free.push(slot);
  }
}

function tooManyStatements(path: Path, why: string): SvcError {
  const message = `${why}: this would take more than ${MAX_EXTRA_STATEMENTS} statements`;
  return new SvcError('validation-failed', message, { path });
}

/** Compiler of the writes of a kind of database. */
export interface WriteCompiler {
  newContext(): Context;
  /** Adds a statement that writes and answers. @returns its index; its only column is the answer */
  writeAndAnswer(program: Program, write: Write, output: MutationOutput): number;
  /** Adds a statement that writes and stores rows for later statements. */
  writeAndStore(program: Program, write: Write, stored: StoredResults): void;
  /** Adds a statement that answers from stored rows and their number. @returns its index; its only column is the answer */
  answerFromStored(program: Program, stored: TransactionLocalRows, output: MutationOutput): number;
  /** True if a statement can report the numbers of its written rows; otherwise rows that others refer to are written one by one. */
  readonly numbersRows: boolean;
}

export interface TransactionLocalRows {
  readonly path: Path;
  readonly table: QualifiedName;
  readonly slots: readonly SettingSlot[];
}

export interface Write {
  readonly path: Path;
  readonly kind: 'insert' | 'update' | 'delete';
  /** Compiles the statement before `returning`. @param alias of the table */
  command(context: Context, alias: Sql): Sql;
  /** Compiles the check of a written row; `null` without a check. */
  check(context: Context, row: Row): Sql | null;
  /** Inserted rows, to find the one that the database refuses. */
  readonly rows?: InsertedRows;
}

export interface StoredResults {
  /** Slot for the rows; `null` if no statement reads them. */
  readonly slot: SettingSlot | null;
  /** `first` starts the count of rows, `more` adds to it; `null` does not count. */
  readonly count: 'first' | 'more' | null;
  /** Keys that other rows need; `null` without any. */
  readonly keys: TransactionLocalKeys | null;
}

/** Keys of a statement's rows that others refer to. */
export interface TransactionLocalKeys {
  readonly slot: SettingSlot;
  readonly columns: readonly string[];
  /** Number of the first of these rows; not 0 if earlier statements have stored rows in the slot. */
  readonly first: number;
  /** Errors by row for rows that are not written. */
  readonly absent: readonly RaisedFailure[];
  /** Path of the other errors. */
  readonly path: Path;
  /** True if the statement writes several rows and numbers them. */
  readonly isNumbered: boolean;
}
