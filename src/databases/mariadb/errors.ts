import type { MutationStatement } from '../../backend/backend.ts';
import { raisedFailure } from './compile/mutation/raise.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { cancellationError, connectionError, StatementCancelledError } from '../shared/failures.ts';
import { type Path, ROOT } from '../../util/path.ts';

export { connectionError, StatementCancelledError };

/** No connection became free in time. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';
}

/** Error of the server as the driver reports it. */
interface ServerError extends Error {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
}

export interface FailedStatement extends Partial<Pick<MutationStatement, 'path' | 'failures' | 'rows'>> {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

const CONSTRAINTS: Readonly<Record<number, string>> = {
  1062: 'Uniqueness violation. ',
  1586: 'Uniqueness violation. ',
  1216: 'Foreign key violation. ',
  1217: 'Foreign key violation. ',
  1451: 'Foreign key violation. ',
  1452: 'Foreign key violation. ',
  1048: 'Not-NULL violation. ',
  1364: 'Not-NULL violation. ',
};

/** Errors for values that do not fit their type, numbers out of range, and invalid patterns and documents. */
const DATA = new Set([1264, 1292, 1366, 1406, 1365, 1690, 1139, 1411, 1441, 4037, 4038, 4041, 4042, 3140, 1265, 1367, 1416]);

/** Errors for mixed collations; the message says whether one is that of a text that the column's character set cannot represent. */
const MIXED = new Set([1267, 1270, 1271]);

/** Converts the failure of a compiled or internal statement. Never throws. */
export function statementError(failure: unknown, statement: FailedStatement): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  const error = failure as ServerError;
  const message = withoutValues(withoutRow(error.sqlMessage ?? error.message, statement));
  const raised = statement.failures?.[raisedFailure(message) ?? -1];
  if (raised !== undefined) return new SvcError(raised.code, raised.message, { path: raised.path });
  const options = { path: statement.path ?? ROOT, cause: error };
  const errno = error.errno ?? 0;
  const prefix = CONSTRAINTS[errno];
  if (prefix !== undefined) return new SvcError('constraint-violation', prefix + message, options);
  if (errno === 4025) return new SvcError('permission-error', `Check constraint violation. ${message}`, options);
  if (DATA.has(errno)) return new SvcError('data-exception', message, options);
  if (errno === 1213 || errno === 1205) {
    return new SvcError('concurrent-update', 'the statement met a concurrent update of the same rows', { ...options, isTransient: true });
  }
  if (MIXED.has(errno) && message.includes('COERCIBLE')) {
    return new SvcError(
      'data-exception',
      'a text has characters that are not in the character set of the column that it is compared with',
      options,
    );
  }
  if (errno === 1153) return tooLarge(message);
  if (errno === 1969 || errno === 1317) {
    return new SvcError('timeout', 'the database stopped the statement', { ...options, internal: internalOf(error, statement) });
  }
  return new SvcError('unexpected', 'database query error', { ...options, internal: internalOf(error, statement) });
}

/** Returns the error that a statement declares for its failure. */
export function raisedError({ failures = [] }: Pick<MutationStatement, 'failures'>, index: number): SvcError {
  const failure = failures[index];
  if (failure === undefined) throw new Error('invariant: a failure of the statement');
  return new SvcError(failure.code, failure.message, { path: failure.path });
}

export function isDuplicate(failure: unknown): boolean {
  return failure instanceof Error && (failure as ServerError).errno === 1062;
}

/** Returns whether the server has rolled back a transaction that may succeed when repeated. */
export function isDeadlock(failure: unknown): boolean {
  const error = failure instanceof SvcError ? failure.cause : failure;
  return error instanceof Error && (error as ServerError).errno === 1213;
}

/** Returns the path of the row that the server refuses, if it names one. @param start number of rows of earlier statements */
export function wrongRow(failure: unknown, start: number, rowsOf: MutationStatement['rows']): Path | undefined {
  const text = failure instanceof Error ? (failure as ServerError).sqlMessage : undefined;
  const found = text === undefined ? null : / at row (\d{1,6})$/.exec(text);
  return found === null ? undefined : rowsOf?.().place(start + Number(found[1]) - 1);
}

/** Removes row numbers of existing rows: the server also counts rows that the condition excludes, whose number must not leak. */
function withoutRow(message: string, { rows }: FailedStatement): string {
  return rows === undefined ? message.replace(/ at row \d+$/, '') : message;
}

/** Removes values, which may be presets or from hidden columns, and database names. */
function withoutValues(message: string): string {
  return message
    .replace(/^Duplicate entry '.*' for key '/s, "Duplicate entry for key '")
    .replace(/ \(`.*`, CONSTRAINT (`(?:[^`]|``)*`) FOREIGN KEY .*\)$/s, ' ($1)')
    .replace(/`(?:[^`]|``)*`\.(?=`(?:[^`]|``)*`\.`)/g, '')
    .replace(/ failed for `(?:[^`]|``)*`\.(?=`)/, ' failed for ');
}

/** Converts the failure of an administrator's SQL. Never throws. */
export function runSqlError(failure: unknown, text: string): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  const error = failure as ServerError;
  return new SvcError('database-error', 'query execution failed', { internal: internalOf(error, { text, values: [] }), cause: error });
}

/** The server would have truncated the answer or a part of it. */
export function tooLarge(cause: string): SvcError {
  return new SvcError(
    'bad-request',
    'the answer is larger than the database can produce: request fewer rows, or raise its max_allowed_packet',
    {
      internal: cause,
    },
  );
}

/** Failures that do not concern the text of the statement; otherwise `null`. */
function generalError(failure: unknown): SvcError | null {
  if (failure instanceof SvcError) return failure;
  if (failure instanceof StatementCancelledError) return cancellationError(failure.reason, failure);
  if (failure instanceof NoConnectionError) {
    return new SvcError('database-error', `max connections reached on mariadb: ${failure.message}`, {
      status: 503,
      isTransient: true,
      cause: failure,
    });
  }
  if (!(failure instanceof Error)) return new SvcError('unexpected', 'internal error', { cause: failure });
  const { errno, sqlState, code } = failure as ServerError;
  // Too many connections, access denied, shutdown: errors of the server that do not concern the statement.
  if (errno !== undefined && [1040, 1044, 1045, 1049, 1053, 1129, 1130, 1203, 1226, 1927].includes(errno)) {
    return connectionError(failure.message, failure);
  }
  if (sqlState === undefined && code !== undefined) return connectionError(failure.message, failure);
  if (sqlState === undefined && errno === undefined) return new SvcError('unexpected', 'internal error', { cause: failure });
  return null;
}

function internalOf(error: ServerError, { text, values }: FailedStatement) {
  return {
    statement: text,
    arguments: values,
    error: {
      code: error.code ?? null,
      errno: error.errno ?? null,
      status_code: error.sqlState ?? null,
      message: error.sqlMessage ?? error.message,
    },
  };
}
