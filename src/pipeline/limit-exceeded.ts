import { SvcError, type SvcErrorOptions } from '../errors/svc-error.ts';
import type { ErrorCode } from '../errors/codes.ts';

export type LimitName = 'rate' | 'concurrency' | 'depth' | 'nodes' | 'batch';

/** A limit of the role was reached; which one, for whoever counts. */
export class LimitExceeded extends SvcError {
  readonly limit: LimitName;

  constructor(limit: LimitName, code: ErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(code, message, options);
    this.limit = limit;
  }
}
