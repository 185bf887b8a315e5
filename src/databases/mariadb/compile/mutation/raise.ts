/**
 * Errors that a statement that writes raises on purpose: in strict mode a text that is no number cannot be cast to one there. The
 * text holds a token of this process, so that no value of a user can look the same, and the number of the failure.
 */
import { randomBytes } from 'node:crypto';
import { integer, string, type Sql, sql } from '../../../../sql/fragment.ts';

const TOKEN = `svc:${randomBytes(12).toString('hex')}:`;
const RAISED = new RegExp(`${TOKEN}(\\d+)`);

/** An expression that fails when it is evaluated, and not before: nobody knows what `rand` will be. */
export function raiseSql(failure: number): Sql {
  return sql`cast(concat(${string(TOKEN)}, ${integer(failure)}, left(rand(), 0)) as signed)`;
}

/** The number of the failure behind an error of the server; undefined when the error is a real one. */
export function raisedFailure(message: string): number | undefined {
  const found = RAISED.exec(message);
  return found === null ? undefined : Number(found[1]);
}
