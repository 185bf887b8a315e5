/** Runs the statements of a mutation in order and passes rows between them as their flows say. */
import type { Connection } from 'mysql2/promise';
import type { MutationStatement } from '../../backend/backend.ts';
import type { FlowOutput, StatementFlow, FlowInput } from '../../backend/statement-flow.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfBuffer, bytesOfText } from '../../util/bytes.ts';
import type { Path } from '../../util/path.ts';
import { mayAbortPattern, refuseTruncation } from './truncation.ts';
import { isDuplicate, raisedError, statementError, tooLarge, wrongRow } from './errors.ts';
import { execute, type ResultReservation, type Row } from './execute.ts';
import { repeatedStatements } from './repeated-rows.ts';
import type { JsonRow } from '../../backend/connection.ts';

interface Outcome {
  readonly rows: readonly Row[];
  /** Number of rows that were written or passed on. */
  readonly returned: number;
  /** Number of rows that were found, whether or not they were passed on. */
  readonly found: number;
}

const NOTHING: Outcome = { rows: [], returned: 0, found: 0 };
const NO_FLOW: StatementFlow = { inputs: [], outputs: [] };
const [OPEN, CLOSE, COMMA] = [bytesOfText('['), bytesOfText(']'), bytesOfText(',')];
/** Maximum retries of an upsert whose row other transactions insert or delete in the meantime. */
const MAX_RETRIES = 3;

/**
 * @param before called before each statement; may throw
 * @param reservation for the answers; without one, they are not limited
 * @returns one row for each statement
 * @throws SvcError, and errors of the driver that concern no statement; the caller has to roll back
 */
export async function runStatements(
  connection: Connection,
  statements: readonly MutationStatement[],
  before: () => void,
  reservation?: ResultReservation,
): Promise<readonly JsonRow[]> {
  const outcomes: Outcome[] = statements.map(() => NOTHING);
  const retries = new Map<number, number>();
  for (let i = 0; i < statements.length; i++) {
    const statement = statements[i] as MutationStatement;
    const { flow = NO_FLOW } = statement;
    before();
    if (isRun(flow, outcomes)) {
      try {
        outcomes[i] = await run(connection, statement, flow, outcomes, reservation);
      } catch (failure) {
        const { onDuplicate } = flow;
        if (onDuplicate === undefined || !isDuplicate(failure)) throw errorOf(failure, statement);
        if (onDuplicate === 'ignore') outcomes[i] = NOTHING;
        else {
          const before = retries.get(i) ?? 0;
          if (before >= MAX_RETRIES) throw errorOf(failure, statement);
          retries.set(i, before + 1);
          i = onDuplicate.again - 1;
        }
        continue;
      }
      verify(statement, flow, outcomes[i] as Outcome, outcomes);
    } else outcomes[i] = NOTHING;
    if (flow.requiresAny !== undefined && sum(flow.requiresAny.statements, outcomes) === 0)
      throw raisedError(statement, flow.requiresAny.failure);
  }
  return statements.map(({ flow = NO_FLOW }) => flow.outputs.map((cell) => cellOf(cell, outcomes)));
}

function isRun({ ifAny, ifNone }: StatementFlow, outcomes: readonly Outcome[]): boolean {
  if (ifNone?.some((index) => (outcomes[index] as Outcome).found > 0) === true) return false;
  return ifAny === undefined || sum(ifAny, outcomes) > 0;
}

function sum(statements: readonly number[], outcomes: readonly Outcome[]): number {
  let rows = 0;
  for (const index of statements) rows += (outcomes[index] as Outcome).returned;
  return rows;
}

function verify(statement: MutationStatement, { check, sameCountAs }: StatementFlow, outcome: Outcome, outcomes: readonly Outcome[]): void {
  if (check !== undefined && outcome.rows.some((row) => !isOne(row[check.cell]))) throw raisedError(statement, check.failure);
  if (sameCountAs !== undefined && outcome.returned !== sum(sameCountAs.statements, outcomes))
    throw raisedError(statement, sameCountAs.failure);
}

async function run(
  connection: Connection,
  { statement: { text }, values, once }: MutationStatement,
  flow: StatementFlow,
  outcomes: readonly Outcome[],
  reservation: ResultReservation | undefined,
): Promise<Outcome> {
  const filled = flow.inputs.length === 0 ? values : [...values];
  for (const input of flow.inputs)
    (filled as (string | null)[])[input.parameter] = input.row === null ? listOf(input, outcomes) : textOf(input, outcomes);
  if (flow.rows === undefined) return outcomeOf(connection, text, filled, once === true, flow, reservation);
  const all: Outcome[] = [];
  let start = 0;
  for (const part of repeatedStatements(flow.rows, filled)) {
    try {
      all.push(await outcomeOf(connection, part.text, part.values, false, flow, reservation));
    } catch (failure) {
      throw new RowsError(failure, start);
    }
    start += part.rows;
  }
  return {
    rows: all.flatMap((one) => one.rows),
    returned: all.reduce((total, one) => total + one.returned, 0),
    found: all.reduce((total, one) => total + one.found, 0),
  };
}

/** Error of a statement for a part of the rows. */
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
  { returned: flag, mayBeCut }: StatementFlow,
  reservation: ResultReservation | undefined,
): Promise<Outcome> {
  const { rows: cells, affectedRows, warns } = await execute(connection, text, values, reservation);
  // Otherwise the server would keep a prepared statement that is not used again.
  if (once) connection.unprepare(text);
  if (warns && (mayBeCut === true || mayAbortPattern(text))) await refuseTruncation(connection);
  if (cells === null) return { rows: [], returned: affectedRows, found: affectedRows };
  const rows = flag === undefined ? cells : cells.filter((row) => isOne(row[flag]));
  return { rows, returned: rows.length, found: cells.length };
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

function listOf({ statements, cell }: FlowInput, outcomes: readonly Outcome[]): string {
  return `[${rowsOf(statements, outcomes)
    .map((row) => row[cell]?.toString() ?? 'null')
    .join(',')}]`;
}

function textOf({ statements, cell, row }: FlowInput, outcomes: readonly Outcome[]): string | null {
  // Usually there is one statement.
  const found = rowsOf(statements, outcomes)[row ?? 0];
  if (found === undefined) throw new Error('invariant: a referenced row was written');
  return found[cell]?.toString() ?? null;
}

function cellOf(cell: FlowOutput, outcomes: readonly Outcome[]): readonly Bytes[] | null {
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

/** Objects are null only if they exceed the size that the server can build. */
function bytesOf(row: Row, cell: number): Bytes {
  const buffer = row[cell];
  if (buffer === null || buffer === undefined) throw tooLarge('an object is null');
  return bytesOfBuffer(buffer, 0, buffer.length);
}

function errorOf(failure: unknown, statement: MutationStatement): unknown {
  const [cause, start] = failure instanceof RowsError ? [failure.cause, failure.start] : [failure, 0];
  if (cause instanceof SvcError) return cause;
  const {
    statement: { text },
    values,
    failures = [],
    path,
    rows,
  } = statement;
  const place: Path | undefined = wrongRow(cause, start, rows) ?? path;
  return statementError(cause, {
    ...{ text, values, failures },
    ...(place === undefined ? {} : { path: place }),
    ...(rows === undefined ? {} : { rows }),
  });
}
