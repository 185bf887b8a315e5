import { SvcError } from '../../errors/svc-error.ts';
import type { Json } from '../../util/json.ts';

/** What BigQuery says of a call or a job that failed. */
export class BigQueryError extends Error {
  override readonly name = 'BigQueryError';
  /** Of the answer; 0 for a job that failed. */
  readonly status: number;
  /** `invalidQuery`, `accessDenied`, … */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** A statement was given up because nobody waits for it any more, or its time is over. */
export class StatementCancelledError extends Error {
  override readonly name = 'StatementCancelledError';
  readonly reason: 'abort' | 'deadline';
  constructor(reason: 'abort' | 'deadline') {
    super(reason);
    this.reason = reason;
  }
}

/** Values that a row has and an expression does not take. */
const DATA = /^(?:bad |could not (?:cast|parse|convert)|failed to parse|invalid |division by zero|.*\b(?:overflow|out of range)\b)/i;
/** Ends messages about the text of a statement. */
const PLACE = / at \[\d+:\d+\]$/;
/** Column-level and row-level security, perimeters of VPC Service Controls. */
const POLICY = /\bpolicy|\bpolicies|\bvpcServiceControls/i;
/** Quotas of a day, which no pause brings back. */
const DAILY_QUOTA = /custom quota|per ?day/i;
/** A table with `require_partition_filter`. */
const WITHOUT_PARTITIONS = /^Cannot query over table .* without a filter over column/;
const OF_JOBS = ['jobBackendError', 'jobInternalError', 'jobRateLimitExceeded', 'tableUnavailable'];
/** Reasons of jobs that have failed: another job with the same statement may succeed. */
const FAILED_JOBS = new Set([...OF_JOBS, 'timeout', 'quotaExceeded']);
const PASSING = new Set(['backendError', 'internalError', 'rateLimitExceeded', ...OF_JOBS]);

/** Whether the same again may succeed. */
export function isPassingFailure(error: BigQueryError): boolean {
  return error.status === 429 || error.status >= 500 || PASSING.has(error.reason);
}

/** Whether the job itself failed with what may pass: only another job may succeed. */
export function hasJobFailed({ reason, message }: BigQueryError): boolean {
  return FAILED_JOBS.has(reason) && !(reason === 'quotaExceeded' && DAILY_QUOTA.test(message));
}

/** Whether either the interface or a job may have failed so. */
export function isOfInterfaceOrJob({ reason }: BigQueryError): boolean {
  return reason === 'backendError' || reason === 'internalError';
}

/** The failure of a job, under the reason that BigQuery has for those of jobs. */
export function jobFailure(error: BigQueryError): BigQueryError {
  const reason = `job${error.reason.charAt(0).toUpperCase()}${error.reason.slice(1)}`;
  return FAILED_JOBS.has(reason) ? new BigQueryError(0, reason, error.message) : error;
}

/** A failed statement of a request or a small statement of our own. Never throws. */
export function statementError(failure: unknown, text: string, values: readonly (string | null)[]): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  const error = failure as BigQueryError;
  const options = { cause: error, internal: internalOf(error, text, values) };
  if (error.reason === 'bytesBilledLimitExceeded') {
    return new SvcError('bad-request', `the query reads more than the source allows: ${error.message}`, { cause: error });
  }
  if (error.reason === 'responseTooLarge' || error.reason === 'resourcesExceeded') {
    return new SvcError('bad-request', 'the query is too much for BigQuery: ask for fewer rows or fields', options);
  }
  if (error.reason === 'quotaExceeded') {
    return new SvcError('database-error', 'a quota of the project is used up', { status: 503, internal: options.internal, cause: error });
  }
  // The message names columns that the role may not know of.
  if (WITHOUT_PARTITIONS.test(error.message)) {
    return new SvcError(
      'bad-request',
      'the query reads a table that may be read by its partitions only: it needs a condition on them',
      options,
    );
  }
  if (error.reason === 'accessDenied' && POLICY.test(error.message)) {
    return new SvcError('permission-denied', 'a policy of BigQuery hides data of the query from the source', options);
  }
  if (error.reason === 'stopped' || error.reason === 'timeout')
    return new SvcError('timeout', 'the database stopped the statement', options);
  if (error.reason === 'invalidQuery' && DATA.test(error.message) && !PLACE.test(error.message))
    return new SvcError('data-exception', error.message, { cause: error });
  return new SvcError('unexpected', 'database query error', options);
}

/** SQL that an administrator sent failed. Never throws. */
export function runSqlError(failure: unknown, text: string): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  const error = failure as BigQueryError;
  return new SvcError('database-error', 'query execution failed', { internal: internalOf(error, text, []), cause: error });
}

/** The database cannot be reached or used; `internal` says why. */
export function connectionError(reason: string, cause?: unknown): SvcError {
  return new SvcError('database-error', 'connection error', { status: 500, internal: reason, isPassing: true, cause });
}

/** Failures that have nothing to do with the statement's text; null when it is about the text. */
function generalError(failure: unknown): SvcError | null {
  if (failure instanceof SvcError) return failure;
  if (failure instanceof StatementCancelledError) {
    const message = failure.reason === 'deadline' ? 'the database did not answer in time' : 'the request was cancelled';
    return new SvcError('timeout', message, { cause: failure });
  }
  if (!(failure instanceof BigQueryError)) return new SvcError('unexpected', 'internal error', { cause: failure });
  if (isPassingFailure(failure)) {
    return new SvcError('database-error', 'bigquery is busy or away', {
      status: 503,
      internal: failure.message,
      isPassing: true,
      cause: failure,
    });
  }
  return failure.status === 401 ? connectionError(`the access token was refused: ${failure.message}`, failure) : null;
}

function internalOf(error: BigQueryError, text: string, values: readonly (string | null)[]): Json {
  return {
    statement: text,
    arguments: [...values],
    error: { status_code: error.status === 0 ? null : error.status, reason: error.reason, message: error.message },
  };
}
