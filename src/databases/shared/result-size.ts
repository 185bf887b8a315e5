/** Limits for the rows of SQL of administrators, which are held in memory as a whole. */
import { SvcError } from '../../errors/svc-error.ts';

/** Maximum size of all rows of one call, in bytes. */
export const MOST_RESULT_BYTES = 256 * 1024 * 1024;
/** Memory of a value besides its text, in bytes. */
export const VALUE_OVERHEAD = 24;

export function resultTooLarge(bytes: number, cause?: unknown): SvcError {
  const limit = bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.floor(bytes / 2 ** 20)} MiB`;
  return new SvcError('bad-request', `the rows are larger than ${limit} together: ask for fewer, or give max_rows`, { cause });
}
