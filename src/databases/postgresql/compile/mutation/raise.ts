/**
 * Errors that a statement raises itself, without functions in the database: it casts a text to a number that is not one. The text has a
 * token of this process, which no value of a user can contain, and the number of the failure.
 */
import { randomBytes } from 'node:crypto';
import { string, type Sql, sql } from '../../../../sql/fragment.ts';

const TOKEN = `svc:${randomBytes(12).toString('hex')}:`;
const RAISED = new RegExp(`${TOKEN}(\\d+)`);

/** An `int4` expression that fails. `concat` is not immutable, so it is not evaluated during planning. */
export function raiseSql(failure: Sql): Sql {
  return sql`concat(${string(TOKEN)}, ${failure})::int4`;
}

/** Returns the number of the failure in a database error; `undefined` for any other error. */
export function raisedFailure(code: string, message: string): number | undefined {
  if (code !== '22P02') return undefined;
  const found = RAISED.exec(message);
  return found === null ? undefined : Number(found[1]);
}
