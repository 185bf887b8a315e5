/** The statements of one transaction while they are put together. */
import type { CompiledMutationStatement, InsertedRows, RaisedFailure, Statement } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import { integer, print, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Path } from '../../../../util/path.ts';
import type { Context } from '../context.ts';
import { dialect } from '../dialect.ts';
import { raiseSql } from './raise.ts';
import type { Writing } from './writing.ts';

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
  private apart = 0;
  private readonly free: Slot[] = [];
  private slots = 0;

  constructor(writing: Writing, unites: boolean) {
    this.writing = writing;
    this.unites = unites;
  }

  /** Before rows are written in so many statements more than one. @param why they are @throws SvcError validation-failed */
  addApart(statements: number, path: Path, why: string): void {
    this.apart += statements;
    if (this.apart > MOST_APART) throw tooManyApart(path, why);
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
    return this.free.pop() ?? this.slots++;
  }

  giveBack(slot: Slot): void {
    this.free.push(slot);
  }
}

function tooManyApart(path: Path, why: string): SvcError {
  const message = `${why}: this would take more than ${MOST_APART} statements`;
  return new SvcError('validation-failed', message, { path });
}
