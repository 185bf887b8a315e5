/**
 * Deliberate errors of statements that write: in strict mode, they fail when they cast a non-numeric text to a number. The text holds a
 * token of this process, so that no user value can imitate it, and the index of the failure.
 */
import { randomBytes } from 'node:crypto';
import { integer, string, type Sql, sql } from '../../../../sql/fragment.ts';

const TOKEN = `svc:${randomBytes(12).toString('hex')}:`;
const RAISED = new RegExp(`${TOKEN}(\\d+)`);

/** Compiles an expression that fails when it is evaluated. `rand` prevents its evaluation in advance. */
export function raiseSql(failure: number): Sql {
  return sql`cast(concat(${string(TOKEN)}, ${integer(failure)}, left(rand(), 0)) as signed)`;
}

/** Returns the index of the failure in an error message, or `undefined` for a genuine error. */
export function raisedFailure(message: string): number | undefined {
  const found = RAISED.exec(message);
  return found === null ? undefined : Number(found[1]);
}
