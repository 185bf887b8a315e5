import { SvcError } from '../../errors/svc-error.ts';
import { cancellationError, connectionError, StatementCancelledError } from '../shared/failures.ts';
import type { Json } from '../../util/json.ts';

export { connectionError, StatementCancelledError };

/** Failure of a call or a job. */
export class BigQueryError extends Error {
  override readonly name = 'BigQueryError';
  /** HTTP status; 0 for a failed job, 599 if no response came. */
  readonly status: number;
  /** `invalidQuery`, `accessDenied`, … */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

// BigQuery has few reasons, such as `invalidQuery` for every error in a statement or in its data: messages distinguish them.

/** Messages about values in the data that an expression cannot process. */
const DATA = /^(?:bad |could not (?:cast|parse|convert)|failed to parse|invalid |division by zero|.*\b(?:overflow|out of range)\b)/i;
/** Ending of messages about the text of a statement. */
const PLACE = / at \[\d+:\d+\]$/;
/** Column-level and row-level security, perimeters of VPC Service Controls. */
const POLICY = /\bpolicy|\bpolicies|\bvpcServiceControls/i;
/** Daily quotas, for which retrying does not help. */
const DAILY_QUOTA = /custom quota|per ?day/i;
/** Query without the filter that `require_partition_filter` of a table demands. */
const WITHOUT_PARTITIONS = /^Cannot query over table .* without a filter over column/;
const JOB_REASONS = ['jobBackendError', 'jobInternalError', 'jobRateLimitExceeded', 'tableUnavailable'];
/** Reasons of failed jobs. Another job with the same statement may succeed. */
const FAILED_JOBS = new Set([...JOB_REASONS, 'timeout', 'quotaExceeded']);
const TRANSIENT = new Set(['backendError', 'internalError', 'rateLimitExceeded', ...JOB_REASONS]);

/** Returns whether a retry may succeed. */
export function isTransientFailure(error: BigQueryError): boolean {
  return error.status === 429 || error.status >= 500 || TRANSIENT.has(error.reason);
}

/** Returns whether the job itself failed transiently: only a new job may succeed. */
export function isTransientJobFailure({ reason, message }: BigQueryError): boolean {
  return FAILED_JOBS.has(reason) && !(reason === 'quotaExceeded' && DAILY_QUOTA.test(message));
}

/** Returns whether the reason may be one of the call or of the job. */
export function isAmbiguousFailure({ reason }: BigQueryError): boolean {
  return reason === 'backendError' || reason === 'internalError';
}

/** Converts an ambiguous failure into a failure of the job, with the reason that BigQuery uses for jobs. */
export function jobFailure(error: BigQueryError): BigQueryError {
  const reason = `job${error.reason.charAt(0).toUpperCase()}${error.reason.slice(1)}`;
  return FAILED_JOBS.has(reason) ? new BigQueryError(0, reason, error.message) : error;
}

/** Converts the failure of a compiled or internal statement. Never throws. */
export function statementError(failure: unknown, text: string, values: readonly (string | null)[]): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  const error = failure as BigQueryError;
  const options = { cause: error, internal: internalOf(error, text, values) };
  if (error.reason === 'bytesBilledLimitExceeded') {
    return new SvcError('bad-request', `the query reads more than the source allows: ${error.message}`, { cause: error });
  }
  if (error.reason === 'responseTooLarge' || error.reason === 'resourcesExceeded') {
    return new SvcError('bad-request', 'the query exceeds the limits of BigQuery: request fewer rows or fields', options);
  }
  if (error.reason === 'quotaExceeded') {
    return new SvcError('database-error', 'a quota of the BigQuery project is exhausted', {
      status: 503,
      internal: options.internal,
      cause: error,
    });
  }
  // The message names columns that the role may not see.
  if (WITHOUT_PARTITIONS.test(error.message)) {
    return new SvcError('bad-request', 'the query reads a table that requires a filter on its partition column', options);
  }
  if (error.reason === 'accessDenied' && POLICY.test(error.message)) {
    return new SvcError('permission-denied', 'a BigQuery policy denies the source access to data of the query', options);
  }
  if (error.reason === 'stopped' || error.reason === 'timeout')
    return new SvcError('timeout', 'the database stopped the statement', options);
  if (error.reason === 'invalidQuery' && DATA.test(error.message) && !PLACE.test(error.message))
    return new SvcError('data-exception', error.message, { cause: error });
  return new SvcError('unexpected', 'database query error', options);
}

/** Converts the failure of an administrator's SQL. Never throws. */
export function runSqlError(failure: unknown, text: string): SvcError {
  const general = generalError(failure);
  if (general !== null) return general;
  const error = failure as BigQueryError;
  return new SvcError('database-error', 'query execution failed', { internal: internalOf(error, text, []), cause: error });
}

/** Failures that do not concern the text of the statement; otherwise `null`. */
function generalError(failure: unknown): SvcError | null {
  if (failure instanceof SvcError) return failure;
  if (failure instanceof StatementCancelledError) return cancellationError(failure.reason, failure);
  if (!(failure instanceof BigQueryError)) return new SvcError('unexpected', 'internal error', { cause: failure });
  if (isTransientFailure(failure)) {
    return new SvcError('database-error', 'BigQuery is busy or unavailable', {
      status: 503,
      internal: failure.message,
      isTransient: true,
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
