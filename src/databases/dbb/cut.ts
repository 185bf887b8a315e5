import type { Connection, RowDataPacket } from 'mysql2/promise';
import { tooLarge } from './errors.ts';

/** A group's result was cut; a document became null. */
const CUT = new Set([1260, 1301]);

/** What the server cuts it only warns about, which counts until the next statement that reads a table. */
export function warningCount(connection: Connection): Promise<number> {
  return connection.query<RowDataPacket[]>('select @@warning_count as `count`').then(([rows]) => Number(rows[0]?.['count'] ?? 0));
}

/** To be asked behind a statement. @throws SvcError where its answer may be less than the whole */
export async function refuseCut(connection: Connection): Promise<void> {
  if ((await warningCount(connection)) > 0) await refuseWarnings(connection);
}

/** The same where it is known that there are warnings. @throws SvcError */
export async function refuseWarnings(connection: Connection): Promise<void> {
  const [warnings] = await connection.query<RowDataPacket[]>('show warnings');
  const cut = warnings.find((warning) => CUT.has(Number(warning['Code'])));
  if (cut !== undefined) throw tooLarge(String(cut['Message']));
  // Of very many it keeps the first ones only.
  if ((await warningCount(connection)) > warnings.length) throw tooLarge('there are more warnings than the server keeps');
}
