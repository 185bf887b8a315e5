/** Failures that kinds report in the same way. */
import { SvcError } from '../../errors/svc-error.ts';

/** The caller cancelled the statement, or its deadline passed. */
export class StatementCancelledError extends Error {
  override readonly name = 'StatementCancelledError';
  readonly reason: 'abort' | 'deadline';
  constructor(reason: 'abort' | 'deadline') {
    super(reason);
    this.reason = reason;
  }
}

export function cancellationError(reason: 'abort' | 'deadline', cause: Error): SvcError {
  const message = reason === 'deadline' ? 'the database did not answer in time' : 'the request was cancelled';
  return new SvcError('timeout', message, { cause });
}

/** The database cannot be reached or used. @param reason goes to the `internal` part */
export function connectionError(reason: string, cause?: unknown): SvcError {
  return new SvcError('database-error', 'connection error', {
    ...{ status: 500, internal: reason, isTransient: true, isUnreachable: true, cause },
  });
}
