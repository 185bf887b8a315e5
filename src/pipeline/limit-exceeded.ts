import { SvcError, type SvcErrorOptions } from '../errors/svc-error.ts';
import type { ErrorCode } from '../errors/codes.ts';

export type LimitName = 'rate' | 'concurrency' | 'depth' | 'nodes' | 'batch';

/** Error for an exceeded limit of the role; `limit` names it for metrics. */
export class LimitExceeded extends SvcError {
  readonly limit: LimitName;

  constructor(limit: LimitName, code: ErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(code, message, options);
    this.limit = limit;
  }

  protected override copy(message: string, options: SvcErrorOptions): SvcError {
    return new LimitExceeded(this.limit, this.code, message, options);
  }
}
