/** Reason why a call has no response. The message of the error has no secret, and no address that is not in the request. */
export type OutboundFailure = 'invalid-url' | 'refused-address' | 'connection' | 'timeout' | 'cancelled' | 'too-large';

export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OutboundError';
    this.failure = failure;
  }
}
