/** Runs the statements of a mutation one after another and hands rows from one to another as their flows say. */
import type { Connection } from 'mysql2/promise';
import type { MutationStatement } from '../../backend/backend.ts';
import type { GivenCell, StatementFlow, Taken } from '../../backend/statement-flow.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfBuffer, bytesOfText } from '../../util/bytes.ts';
import type { Path } from '../../util/path.ts';
import { mayBeGivenUp, refuseCut } from './cut.ts';
import { isDuplicate, raisedError, statementError, tooLarge, wrongRow } from './errors.ts';
import { execute, type Keeping, type Row } from './execute.ts';
import { repeatedStatements } from './repeated-rows.ts';
import type { JsonRow } from '../../backend/connection.ts';

/** What a statement has done. */
interface Outcome {
  readonly rows: readonly Row[];
  /** Rows that it has written, or given to others. */
  readonly given: number;
  /** Given or not. */
  readonly met: number;
}

const NOTHING: Outcome = { rows: [], given: 0, met: 0 };
const NO_FLOW: StatementFlow = { takes: [], gives: [] };
const [OPEN, CLOSE, COMMA] = [bytesOfText('['), bytesOfText(']'), bytesOfText(',')];
/** Times that a row is looked for again that somebody else has inserted, or taken away, in between. */
const MOST_LOOKS = 3;

/**
 * @param before is called before each statement; may throw
 * @param keeping of what they answer; absent: all is kept
 * @returns a row for each statement
 * @throws SvcError, and errors of the driver that are about no statement; what was written has to be rolled back then
 */
export async function runStatements(
  connection: Connection,
  statements: readonly MutationStatement[],
  before: () => void,
  keeping?: Keeping,
): Promise<readonly JsonRow[]> {
  const outcomes: Outcome[] = statements.map(() => NOTHING);
  const looks = new Map<number, number>();
  for (let i = 0; i < statements.length; i++) {
    const statement = statements[i] as MutationStatement;
    const { flow = NO_FLOW } = statement;
    before();
    if (isRun(flow, outcomes)) {
      try {
        outcomes[i] = await run(connection, statement, flow, outcomes, keeping);
      } catch (failure) {
        const { onDuplicate } = flow;
        if (onDuplicate === undefined || !isDuplicate(failure)) throw errorOf(failure, statement);
        if (onDuplicate === 'ignore') outcomes[i] = NOTHING;
        else {
          const before = looks.get(i) ?? 0;
          if (before >= MOST_LOOKS) throw errorOf(failure, statement);
          looks.set(i, before + 1);
          i = onDuplicate.again - 1;
        }
        continue;
      }
      verify(statement, flow, outcomes[i] as Outcome, outcomes);
    } else outcomes[i] = NOTHING;
    if (flow.some !== undefined && sum(flow.some.statements, outcomes) === 0) throw raisedError(statement, flow.some.failure);
  }
  return statements.map(({ flow = NO_FLOW }) => flow.gives.map((cell) => cellOf(cell, outcomes)));
}

function isRun({ ifAny, ifNone }: StatementFlow, outcomes: readonly Outcome[]): boolean {
  if (ifNone?.some((index) => (outcomes[index] as Outcome).met > 0) === true) return false;
  return ifAny === undefined || sum(ifAny, outcomes) > 0;
}

function sum(statements: readonly number[], outcomes: readonly Outcome[]): number {
  let rows = 0;
  for (const index of statements) rows += (outcomes[index] as Outcome).given;
  return rows;
}

function verify(statement: MutationStatement, { check, sameAs }: StatementFlow, outcome: Outcome, outcomes: readonly Outcome[]): void {
  if (check !== undefined && outcome.rows.some((row) => !isOne(row[check.cell]))) throw raisedError(statement, check.failure);
  if (sameAs !== undefined && outcome.given !== sum(sameAs.statements, outcomes)) throw raisedError(statement, sameAs.failure);
}

async function run(
  connection: Connection,
  { statement: { text }, values, once }: MutationStatement,
  flow: StatementFlow,
  outcomes: readonly Outcome[],
  keeping: Keeping | undefined,
): Promise<Outcome> {
  const filled = flow.takes.length === 0 ? values : [...values];
  for (const taken of flow.takes)
    (filled as (string | null)[])[taken.parameter] = taken.row === null ? listOf(taken, outcomes) : textOf(taken, outcomes);
  if (flow.rows === undefined) return outcomeOf(connection, text, filled, once === true, flow, keeping);
  const all: Outcome[] = [];
  let start = 0;
  for (const part of repeatedStatements(flow.rows, filled)) {
    try {
      all.push(await outcomeOf(connection, part.text, part.values, false, flow, keeping));
    } catch (failure) {
      throw new RowsError(failure, start);
    }
    start += part.rows;
  }
  return {
    rows: all.flatMap((one) => one.rows),
    given: all.reduce((total, one) => total + one.given, 0),
    met: all.reduce((total, one) => total + one.met, 0),
  };
}

/** An error of a statement with a part of the rows. */
class RowsError extends Error {
  readonly start: number;
  constructor(cause: unknown, start: number) {
    super('', { cause });
    this.start = start;
  }
}

async function outcomeOf(
  connection: Connection,
  text: string,
  values: readonly (string | null)[],
  once: boolean,
  { given, mayBeCut }: StatementFlow,
  keeping: Keeping | undefined,
): Promise<Outcome> {
  const { rows: found, affectedRows, warns } = await execute(connection, text, values, keeping);
  // The server would keep it for nothing.
  if (once) connection.unprepare(text);
  if (warns && (mayBeCut === true || mayBeGivenUp(text))) await refuseCut(connection);
  if (found === null) return { rows: [], given: affectedRows, met: affectedRows };
  const rows = given === undefined ? found : found.filter((row) => isOne(row[given]));
  return { rows, given: rows.length, met: found.length };
}

const ONE = '1'.charCodeAt(0);

function isOne(cell: Buffer | null | undefined): boolean {
  return cell !== null && cell?.length === 1 && cell[0] === ONE;
}

function rowsOf(statements: readonly number[], outcomes: readonly Outcome[]): readonly Row[] {
  const [first] = statements;
  if (first !== undefined && statements.length === 1) return (outcomes[first] as Outcome).rows;
  return statements.flatMap((index) => (outcomes[index] as Outcome).rows);
}

function listOf({ statements, cell }: Taken, outcomes: readonly Outcome[]): string {
  return `[${rowsOf(statements, outcomes)
    .map((row) => row[cell]?.toString() ?? 'null')
    .join(',')}]`;
}

function textOf({ statements, cell, row }: Taken, outcomes: readonly Outcome[]): string | null {
  // Most often the row is one of the only statement.
  const found = rowsOf(statements, outcomes)[row ?? 0];
  if (found === undefined) throw new Error('invariant: a row that others refer to was written');
  return found[cell]?.toString() ?? null;
}

function cellOf(cell: GivenCell, outcomes: readonly Outcome[]): readonly Bytes[] | null {
  if (cell.kind === 'count') return [bytesOfText(String(sum(cell.statements, outcomes)))];
  const rows = rowsOf(cell.statements, outcomes);
  if (cell.kind === 'first') {
    const [first] = rows;
    return first === undefined ? null : [bytesOf(first, cell.cell)];
  }
  const pieces: Bytes[] = [OPEN];
  rows.forEach((row, i) => {
    if (i > 0) pieces.push(COMMA);
    pieces.push(bytesOf(row, cell.cell));
  });
  pieces.push(CLOSE);
  return pieces;
}

/** An object is never null, but where it is larger than the server can make. */
function bytesOf(row: Row, cell: number): Bytes {
  const buffer = row[cell];
  if (buffer === null || buffer === undefined) throw tooLarge('an object is null');
  return bytesOfBuffer(buffer, 0, buffer.length);
}

function errorOf(failure: unknown, statement: MutationStatement): unknown {
  const [cause, start] = failure instanceof RowsError ? [failure.cause, failure.start] : [failure, 0];
  if (cause instanceof SvcError) return cause;
  const { statement: made, values, failures = [], path, rows } = statement;
  const place: Path | undefined = wrongRow(cause, start, rows) ?? path;
  return statementError(cause, {
    ...{ text: made.text, values, failures },
    ...(place === undefined ? {} : { path: place }),
    ...(rows === undefined ? {} : { rows }),
  });
}
