/** The statements of one transaction while they are put together. */
import type { CompiledMutationStatement, CompilerOptions, InsertedRows, RaisedFailure } from '../../../../backend/backend.ts';
import type { GivenCell, RepeatedRows, StatementFlow, Taken } from '../../../../backend/statement-flow.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { KeptValue } from '../../../../ir/value.ts';
import { type Parameter, print, type Sql } from '../../../../sql/fragment.ts';
import type { Path } from '../../../../util/path.ts';
import { type Context, createContext } from '../context.ts';
import { dialect } from '../dialect.ts';

/** One statement while it is made. */
export interface Draft {
  readonly context: Context;
  /** Its own place. */
  readonly index: number;
  /** @returns the place of the failure among those of the statement */
  fails(failure: RaisedFailure): number;
}

export interface Made extends Omit<StatementFlow, 'takes' | 'gives' | 'rows'> {
  readonly sql: Sql | Repeated;
}

/** A statement with as many rows as a request has; see `RepeatedRows`. */
export interface Repeated {
  readonly before: Sql;
  readonly row: Sql;
  readonly after: Sql;
}

/** Each takes client and server about a tenth of a millisecond. */
const MOST_STATEMENTS = 50_000;
const NOTHING_GIVEN: readonly GivenCell[] = [];

export class Program {
  readonly statements: CompiledMutationStatement[] = [];
  readonly #options: CompilerOptions;

  constructor(options: CompilerOptions) {
    this.#options = options;
  }

  /** Place of the next statement. */
  get next(): number {
    return this.statements.length;
  }

  /**
   * Adds a statement.
   * @param path where errors of the database are reported
   * @param rows what it inserts, where errors may be about one of them
   * @returns its place
   * @throws SvcError validation-failed where there are too many
   */
  add(path: Path, make: (draft: Draft) => Made, rows?: InsertedRows): number {
    const index = this.statements.length;
    if (index >= MOST_STATEMENTS) {
      throw new SvcError('validation-failed', `the mutation would take more than ${MOST_STATEMENTS} statements`, { path });
    }
    const failures: RaisedFailure[] = [];
    const draft: Draft = { context: createContext(this.#options), index, fails: (failure) => failures.push(failure) - 1 };
    const { sql, ...flow } = make(draft);
    const { text, parameters, repeated } = printed(sql);
    this.statements.push({
      statement: { text, parameters, repeatable: false, columns: 0 },
      path,
      failures,
      flow: { ...flow, takes: takesOf(parameters), gives: NOTHING_GIVEN, ...(repeated === null ? {} : { rows: repeated }) },
      ...(rows === undefined ? {} : { rows }),
    });
    return index;
  }

  /** Says what a statement gives to the answer. */
  give(index: number, gives: readonly GivenCell[]): void {
    const { made, flow } = this.#added(index);
    this.statements[index] = { ...made, statement: { ...made.statement, columns: gives.length }, flow: { ...flow, gives } };
  }

  /** Says that one of some statements has to give a row, as is known behind the last of them. */
  expect(statements: readonly number[], failure: RaisedFailure): void {
    const index = Math.max(...statements);
    const { made, flow } = this.#added(index);
    const failures = [...made.failures, failure];
    this.statements[index] = { ...made, failures, flow: { ...flow, some: { statements, failure: failures.length - 1 } } };
  }

  #added(index: number): { readonly made: CompiledMutationStatement; readonly flow: StatementFlow } {
    const made = this.statements[index];
    if (made?.flow === undefined) throw new Error('invariant: a statement that is named was added');
    return { made, flow: made.flow };
  }
}

interface PrintedStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  readonly repeated: RepeatedRows | null;
}

function printed(sql: Made['sql']): PrintedStatement {
  if ('kind' in sql) return { ...print(sql, dialect), repeated: null };
  const [before, row, after] = [print(sql.before, dialect), print(sql.row, dialect), print(sql.after, dialect)];
  if (before.parameters.length > 0) throw new Error('invariant: values of rows come first');
  return {
    text: `${before.text}${row.text}${after.text}`,
    parameters: [...row.parameters, ...after.parameters],
    repeated: {
      before: before.text,
      row: row.text,
      after: after.text,
      lists: row.parameters.map(({ operand }) => operand.value.kind === 'members'),
    },
  };
}

function takesOf(parameters: readonly Parameter[]): readonly Taken[] {
  return parameters.flatMap(({ operand: { value } }, parameter) => (value.kind === 'kept' ? [taken(value, parameter)] : []));
}

function taken({ statements, cell, row }: KeptValue, parameter: number): Taken {
  return { parameter, statements, cell, row };
}
