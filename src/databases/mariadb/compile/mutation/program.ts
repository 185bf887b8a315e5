/** Builder for the statements of one transaction. */
import type { CompiledMutationStatement, CompilerOptions, InsertedRows, RaisedFailure } from '../../../../backend/backend.ts';
import type { FlowOutput, RepeatedRows, StatementFlow, FlowInput } from '../../../../backend/statement-flow.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { TransactionLocalValue } from '../../../../ir/value.ts';
import { type Parameter, print, type Sql } from '../../../../sql/fragment.ts';
import type { Path } from '../../../../util/path.ts';
import { type Context, createContext } from '../context.ts';
import { dialect } from '../dialect.ts';

/** Statement under construction. */
export interface Draft {
  readonly context: Context;
  /** Index of the statement. */
  readonly index: number;
  /** Declares a failure and returns its index. */
  declareFailure(failure: RaisedFailure): number;
}

export interface DraftStatement extends Omit<StatementFlow, 'inputs' | 'outputs' | 'rows'> {
  readonly sql: Sql | Repeated;
}

/** Statement that is repeated for each row of a request; see `RepeatedRows`. */
export interface Repeated {
  readonly before: Sql;
  readonly row: Sql;
  readonly after: Sql;
}

/** Maximum statements of a mutation. Each takes client and server about 0.1 ms. */
const MAX_STATEMENTS = 50_000;
const NO_OUTPUTS: readonly FlowOutput[] = [];

export class Program {
  readonly statements: CompiledMutationStatement[] = [];
  readonly #options: CompilerOptions;

  constructor(options: CompilerOptions) {
    this.#options = options;
  }

  /** Index of the next statement. */
  get next(): number {
    return this.statements.length;
  }

  /**
   * Adds a statement.
   * @param path for errors of the database
   * @param rows inserted rows, one of which an error may concern
   * @returns its index
   * @throws SvcError validation-failed if there are too many statements
   */
  add(path: Path, make: (draft: Draft) => DraftStatement, rows?: InsertedRows): number {
    const index = this.statements.length;
    if (index >= MAX_STATEMENTS) {
      throw new SvcError('validation-failed', `the mutation would take more than ${MAX_STATEMENTS} statements`, { path });
    }
    const failures: RaisedFailure[] = [];
    const draft: Draft = { context: createContext(this.#options), index, declareFailure: (failure) => failures.push(failure) - 1 };
    const { sql, ...flow } = make(draft);
    const { text, parameters, repeated } = printed(sql);
    this.statements.push({
      statement: { text, parameters, repeatable: false, columns: 0 },
      path,
      failures,
      flow: { ...flow, inputs: inputsOf(parameters), outputs: NO_OUTPUTS, ...(repeated === null ? {} : { rows: repeated }) },
      ...(rows === undefined ? {} : { rows }),
    });
    return index;
  }

  /** Sets the outputs of a statement. */
  setOutputs(index: number, outputs: readonly FlowOutput[]): void {
    const { added, flow } = this.#added(index);
    this.statements[index] = { ...added, statement: { ...added.statement, columns: outputs.length }, flow: { ...flow, outputs: outputs } };
  }

  /** Requires that one of the statements returns a row, which is checked after the last of them. */
  expect(statements: readonly number[], failure: RaisedFailure): void {
    const index = Math.max(...statements);
    const { added, flow } = this.#added(index);
    const failures = [...added.failures, failure];
    this.statements[index] = { ...added, failures, flow: { ...flow, requiresAny: { statements, failure: failures.length - 1 } } };
  }

  #added(index: number): { readonly added: CompiledMutationStatement; readonly flow: StatementFlow } {
    const added = this.statements[index];
    if (added?.flow === undefined) throw new Error('invariant: the statement was added');
    return { added, flow: added.flow };
  }
}

interface PrintedStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  readonly repeated: RepeatedRows | null;
}

function printed(sql: DraftStatement['sql']): PrintedStatement {
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

function inputsOf(parameters: readonly Parameter[]): readonly FlowInput[] {
  return parameters.flatMap(({ operand: { value } }, parameter) => (value.kind === 'transaction-local' ? [inputOf(value, parameter)] : []));
}

function inputOf({ statements, cell, row }: TransactionLocalValue, parameter: number): FlowInput {
  return { parameter, statements, cell, row };
}
