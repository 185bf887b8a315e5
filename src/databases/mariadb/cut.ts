import type { Connection, RowDataPacket } from 'mysql2/promise';
import { SvcError } from '../../errors/svc-error.ts';
import { tooLarge } from './errors.ts';

/** A group's result was cut; a document became null. */
const CUT = new Set([1260, 1301]);
/** A regular expression that was given up, and then counts as one that does not match. */
const GIVEN_UP = 1139;

/** Whether a statement has patterns that the database may give up; written as in `operators.ts`. */
export function mayBeGivenUp(text: string): boolean {
  return text.includes(' regexp ');
}

/** To be asked behind a statement that the server warns of. @throws SvcError where its answer may be another one, or less than the whole */
export async function refuseCut(connection: Connection): Promise<void> {
  const [warnings] = await connection.query<RowDataPacket[]>('show warnings');
  const cut = warnings.find((warning) => CUT.has(Number(warning['Code'])));
  if (cut !== undefined) throw tooLarge(String(cut['Message']));
  const givenUp = warnings.find((warning) => Number(warning['Code']) === GIVEN_UP);
  if (givenUp !== undefined) throw new SvcError('data-exception', String(givenUp['Message']));
  const [counted] = await connection.query<RowDataPacket[]>('select @@warning_count as `count`');
  // Of very many it keeps the first ones only.
  if (Number(counted[0]?.['count'] ?? 0) > warnings.length) throw tooLarge('there are more warnings than the server keeps');
}
