/** Rows that SQL of administrators gives are held in memory as a whole: they are bounded. */
import { SvcError } from '../../errors/svc-error.ts';

/** Of all values of a text of SQL, whatever rows they are in. */
export const MOST_RESULT_BYTES = 256 * 1024 * 1024;
/** What a value takes besides its bytes. */
export const VALUE_OVERHEAD = 24;

export function resultTooLarge(bytes: number, cause?: unknown): SvcError {
  const limit = bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.floor(bytes / 2 ** 20)} MiB`;
  return new SvcError('bad-request', `the rows are larger than ${limit} together: ask for fewer, or give max_rows`, { cause });
}
