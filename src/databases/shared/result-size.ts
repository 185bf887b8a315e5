/** Limits for the rows of administrators' SQL, which are kept in memory. */
import { SvcError } from '../../errors/svc-error.ts';

/** Maximum size of all rows of one call, in bytes. */
export const MAX_RESULT_BYTES = 256 * 1024 * 1024;
/** Memory of a value in addition to its text, in bytes. */
export const VALUE_OVERHEAD = 24;

export function resultTooLarge(bytes: number, cause?: unknown): SvcError {
  const limit = bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.floor(bytes / 2 ** 20)} MiB`;
  return new SvcError('bad-request', `the rows are larger than ${limit} in total: request fewer rows, or set max_rows`, { cause });
}
