import type { RaisedFailure, RowsOfRequest } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { JsonObject } from '../../util/json.ts';
import { cancellationError } from '../shared/failures.ts';
import { type Path, ROOT } from '../../util/path.ts';
import { raisedFailure } from './compile/mutation/raise.ts';
import {
  CancelledError,
  ConnectionError,
  DatabaseError,
  isConnectionFailure,
  isDeadlock,
  PoolTimeoutError,
} from './driver/database-error.ts';
import { wrongRow } from './wrong-row.ts';

/** The statement that failed, for the `internal` part of an error. */
export interface FailedStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly prepared: boolean;
  /** Path of its errors. */
  readonly path?: Path | undefined;
  /** Errors that it raises itself. */
  readonly failures?: readonly RaisedFailure[] | undefined;
  /** Rows that it inserts. */
  readonly rows?: (() => RowsOfRequest) | undefined;
}

const CONSTRAINT_PREFIX: Readonly<Record<string, string>> = {
  '23505': 'Uniqueness violation. ',
  '23503': 'Foreign key violation. ',
  '23502': 'Not-NULL violation. ',
  '23P01': 'Exclusion violation. ',
  '23001': 'Can not delete or update due to data being referred. ',
};

/** Error of a statement of a request or of the service. Never throws. */
export function statementError(failure: unknown, statement: FailedStatement): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  if (!(failure instanceof DatabaseError)) return new SvcError('unexpected', 'internal error', { cause: failure });
  // Errors that the client's data caused have the message of the database; only unexpected ones show the statement.
  const raised = statement.failures?.[raisedFailure(failure.code, failure.message) ?? -1];
  if (raised !== undefined) return new SvcError(raised.code, raised.message, { path: raised.path, cause: failure });
  const row = statement.rows === undefined ? null : wrongRow(failure, statement.rows);
  const options = { path: row ?? statement.path ?? ROOT, cause: failure };
  const { code, message } = failure;
  const prefix = CONSTRAINT_PREFIX[code];
  if (prefix !== undefined) return new SvcError('constraint-violation', prefix + message, options);
  if (code === '23514') return new SvcError('permission-error', `Check constraint violation. ${message}`, options);
  // Cancelled by `statement_timeout` or an administrator, not by the service.
  if (code === '57014') {
    return new SvcError('timeout', 'the database stopped the statement', { ...options, internal: internalOf(failure, statement) });
  }
  if (code === '22025') return new SvcError('bad-request', message, options);
  if (code.startsWith('22')) return new SvcError('data-exception', message, options);
  if (code === '42704') return new SvcError('constraint-error', message, options);
  if (code === '42P10') return new SvcError('constraint-error', 'there is no unique or exclusion constraint on target column(s)', options);
  if (code === '40001')
    return new SvcError('concurrent-update', 'serialization failure due to concurrent update', { ...options, isTransient: true });
  if (isDeadlock(failure))
    return new SvcError('concurrent-update', 'the statement met a concurrent update of the same rows', { ...options, isTransient: true });
  return new SvcError('unexpected', 'database query error', { ...options, internal: internalOf(failure, statement) });
}

/** Error of a commit. It is uncertain unless the server refused the commit and kept the session. Never throws. */
export function commitError(failure: unknown, statement: FailedStatement): SvcError {
  const error = statementError(failure, statement);
  if (failure instanceof SvcError || (failure instanceof DatabaseError && failure.severity === 'ERROR')) return error;
  const { code, status, internal } = error;
  return new SvcError(code, 'the connection broke while the transaction was committed: it may be committed or not', {
    status,
    isTransient: true,
    isUncertain: true,
    cause: failure,
    ...(internal === undefined ? {} : { internal }),
  });
}

/** Error of SQL of an administrator. Never throws. */
export function runSqlError(failure: unknown, sql: string): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  if (!(failure instanceof DatabaseError)) return new SvcError('unexpected', 'internal error', { cause: failure });
  const internal = internalOf(failure, { text: sql, values: [], prepared: false });
  return new SvcError('postgres-error', 'query execution failed', { internal, cause: failure });
}

/** Error for a database that cannot be reached; `internal` is the message of the driver. */
export function connectionError(failure: Error): SvcError {
  return new SvcError('postgres-error', 'connection error', {
    ...{ status: 500, internal: failure.message, isTransient: true, isUnreachable: true, cause: failure },
  });
}

/** Returns the error of a failure that does not depend on the text of the statement; `null` for any other. */
function generalError(failure: unknown): SvcError | null {
  if (failure instanceof SvcError) return failure;
  if (failure instanceof PoolTimeoutError) {
    const message = `max connections reached on postgres: ${failure.message}`;
    return new SvcError('postgres-max-connections-error', message, { status: 503, isTransient: true, cause: failure });
  }
  if (codeOf(failure) === '53300') {
    return new SvcError('postgres-max-connections-error', 'max connections reached on postgres', { isTransient: true, cause: failure });
  }
  if (failure instanceof Error && isConnectionFailure(failure)) return connectionError(failure);
  if (failure instanceof CancelledError) {
    if (failure.clientError !== null) return failure.clientError;
    if (failure.reason === 'size') return new SvcError('bad-request', failure.message, { cause: failure });
    return cancellationError(failure.reason, failure);
  }
  return null;
}

/** Returns the SQLSTATE, also of the cause of a failed connection. */
function codeOf(failure: unknown): string | undefined {
  if (failure instanceof DatabaseError) return failure.code;
  if (!(failure instanceof ConnectionError)) return undefined;
  const code = (failure.cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

function internalOf(error: DatabaseError, statement: FailedStatement): JsonObject {
  return {
    statement: statement.text,
    prepared: statement.prepared,
    arguments: statement.values,
    error: {
      exec_status: 'FatalError',
      status_code: error.code,
      message: error.message,
      description: error.detail,
      hint: error.hint,
    },
  };
}
