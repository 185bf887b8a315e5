/** Subscriptions for transports: a transport opens one for each operation of a client and forwards the answers. */
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';
import type { Bytes } from '../util/bytes.ts';

/**
 * `{"data":…}` in pieces. All subscribers of a cohort get the same object, so that a transport can cache the frame for it in a `WeakMap`.
 */
export interface SubscriptionAnswer {
  readonly body: readonly Bytes[];
}

/** Receives the answers of one subscription. None of its methods throws. */
export interface Subscriber {
  /** Called only while `ready()`, and never before `open` has resolved. */
  next(answer: SubscriptionAnswer): void;
  /** Called with errors instead of data. `final`: the subscription has ended; otherwise it goes on and may recover. */
  failed(errors: readonly SvcError[], final: boolean): void;
  /** Called when the subscription has ended. */
  complete(): void;
  /**
   * Returns false while the client has not read what was sent. `Subscription.drained` then sends the newest answer of a live query; the
   * cursor of a stream does not advance until then.
   */
  ready(): boolean;
}

export interface Subscription {
  /** Called when the client has read what was sent: sends the newest answer that it lacks, which is read again if it was not cached. */
  drained(): void;
  /** Ends the subscription: its subscriber is no longer called. May be called more than once. */
  close(): void;
}

export interface Subscriptions {
  /**
   * Plans and starts the operation of a request, which must be a subscription. Must be called within `withAdmission`, with the document
   * prepared: the transport has done both to learn the kind of the operation, so nothing is counted again here.
   * @throws SvcError for an invalid or rejected request; then nothing has been started
   */
  open(session: Session, request: GraphqlRequest, options: RequestOptions, subscriber: Subscriber): Promise<Subscription>;
  /** Ends all subscriptions and pollers without notifying the subscribers. */
  close(): Promise<void>;
}
