/**
 * Errors raised by a statement on purpose, without functions in the database: a text that no number
 * looks like is cast to one. The text holds a token of this process, so that no value of a user can
 * look the same, and the number of the failure.
 */
import { randomBytes } from 'node:crypto';
import { string, type Sql, sql } from '../../../../sql/fragment.ts';

const TOKEN = `svc:${randomBytes(12).toString('hex')}:`;
const RAISED = new RegExp(`${TOKEN}(\\d+)`);

/** An expression of type `int4` that fails. `concat` is not immutable, so nobody evaluates it beforehand. */
export function raiseSql(failure: Sql): Sql {
  return sql`concat(${string(TOKEN)}, ${failure})::int4`;
}

/** The number of the failure behind a database error; undefined when the error is a real one. */
export function raisedFailure(code: string, message: string): number | undefined {
  if (code !== '22P02') return undefined;
  const found = RAISED.exec(message);
  return found === null ? undefined : Number(found[1]);
}
