/** Why a call out did not bring an answer. The text names no secret and no address that the caller did not give. */
export type OutboundFailure = 'invalid-url' | 'refused-address' | 'connection' | 'timeout' | 'cancelled' | 'too-large';

export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OutboundError';
    this.failure = failure;
  }
}
