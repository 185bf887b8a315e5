import { SvcError } from '../../errors/svc-error.ts';
import { DatabaseError } from '../pg/driver/database-error.ts';

/** Said of what came from another server. */
const FROM_WORKER = /while executing command on /;
const NOT_SUPPORTED = '0A000';
const SHARD = /_\d+$/;

/**
 * An error of a statement on the coordinator: what the extension does not do is `not-supported`, and the tables and constraints of
 * other servers have the names of those that they are parts of. Anything else is returned as it is.
 */
export function ofCitus(error: unknown): unknown {
  if (!(error instanceof SvcError) || !(error.cause instanceof DatabaseError)) return error;
  const { cause } = error;
  const options = { path: error.path, cause, ...(error.internal === undefined ? {} : { internal: error.internal }) };
  if (cause.code === NOT_SUPPORTED) {
    const hint = cause.hint === null ? '' : `; ${cause.hint}`;
    const message = `the database does not support this: ${cause.message}${hint}`;
    return new SvcError('not-supported', message, { ...options, discreetMessage: 'the database does not support this' });
  }
  const suffix = cause.where !== null && FROM_WORKER.test(cause.where) ? SHARD.exec(cause.table ?? '')?.[0] : undefined;
  if (suffix === undefined) return error;
  return new SvcError(error.code, error.message.replaceAll(`${suffix}"`, '"'), { ...options, status: error.status });
}
