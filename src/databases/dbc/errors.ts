import { SvcError } from '../../errors/svc-error.ts';
import { DatabaseError } from '../pg/driver/database-error.ts';

/** Said of what came from another server; the fields with the names of tables and constraints are not handed on. */
const FROM_WORKER = /while executing command on /;
const NOT_SUPPORTED = '0A000';
const VIOLATION = /^23/;
/** Of tables and constraints of shards; shards have numbers from 102008 on. */
const SHARD = /_\d{6,}$/;
const NAMES_OF_SHARDS = /\b(constraint|index|relation|table) "((?:[^"]|"")+)_\d{6,}"/g;

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
  const message = VIOLATION.test(cause.code) ? withoutShards(error.message, cause) : error.message;
  return message === error.message ? error : new SvcError(error.code, message, { ...options, status: error.status });
}

function withoutShards(message: string, { where, table, constraint }: DatabaseError): string {
  if (where !== null && FROM_WORKER.test(where)) return message.replaceAll(NAMES_OF_SHARDS, '$1 "$2"');
  // Shards of the coordinator itself: a table of another kind may end with a number, but hardly its constraint with the same one.
  const suffix = SHARD.exec(table ?? '')?.[0];
  return suffix !== undefined && constraint?.endsWith(suffix) === true ? message.replaceAll(`${suffix}"`, '"') : message;
}
