import { SvcError } from '../../../src/errors/svc-error.ts';
import type { Json } from '../../../src/util/json.ts';

/** Limits of SQLite: memory, expression depth, tables of a join, parameters. */
const TOO_MUCH = /out of memory|too big|too large|at most \d+ tables|too many|stack overflow/;
const DATA = /integer overflow|pattern too complex/;

/** Converts the failure of a compiled statement. */
export function statementError(failure: unknown, text: string, values: readonly (string | null)[]): SvcError {
  if (failure instanceof SvcError) return failure;
  const { message } = failure as Error;
  const options = { cause: failure, internal: internalOf(message, text, values) };
  if (DATA.test(message)) return new SvcError('data-exception', message, options);
  if (TOO_MUCH.test(message))
    return new SvcError('bad-request', 'the query is too large for SQLite: use fewer rows, fields or conditions', options);
  return new SvcError('unexpected', 'database query error', options);
}

/** Converts the failure of an administrator's SQL. */
export function runSqlError(failure: unknown, text: string): SvcError {
  if (failure instanceof SvcError) return failure;
  const internal = internalOf((failure as Error).message, text, []);
  return new SvcError('database-error', 'query execution failed', { internal, cause: failure });
}

function internalOf(message: string, text: string, values: readonly (string | null)[]): Json {
  return { statement: text, arguments: [...values], error: { message } };
}
