import type { Connection, RowDataPacket } from 'mysql2/promise';
import { SvcError } from '../../errors/svc-error.ts';
import { tooLarge } from './errors.ts';

/** Warnings of a truncated `group_concat` result and of a document that became null. */
const TRUNCATED = new Set([1260, 1301]);
/** Warning of an aborted regular expression, which then counts as no match. */
const ABORTED_PATTERN = 1139;

/** Returns whether a statement has patterns that the server may abort; matches the SQL of `operators.ts`. */
export function mayAbortPattern(text: string): boolean {
  return text.includes(' regexp ');
}

/** Called after a statement with warnings. @throws SvcError if its answer may be incomplete or wrong */
export async function refuseTruncation(connection: Connection): Promise<void> {
  const [warnings] = await connection.query<RowDataPacket[]>('show warnings');
  const truncated = warnings.find((warning) => TRUNCATED.has(Number(warning['Code'])));
  if (truncated !== undefined) throw tooLarge(String(truncated['Message']));
  const aborted = warnings.find((warning) => Number(warning['Code']) === ABORTED_PATTERN);
  if (aborted !== undefined) throw new SvcError('data-exception', String(aborted['Message']));
  const [counted] = await connection.query<RowDataPacket[]>('select @@warning_count as `count`');
  // The server keeps only the first warnings.
  if (Number(counted[0]?.['count'] ?? 0) > warnings.length) throw tooLarge('there are more warnings than the server keeps');
}
