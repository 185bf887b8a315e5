/**
 * Subscriptions as those see them that carry their answers: a transport opens one for each operation of a client and
 * hands on what comes. Nothing here knows sockets.
 */
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';
import type { Bytes } from '../util/bytes.ts';

/**
 * `{"data":…}` in pieces. All subscribers of a cohort get the same object, so that whoever frames it
 * may keep the frame by it (in a `WeakMap`).
 */
export interface Answer {
  readonly body: readonly Bytes[];
}

/** Where the answers of one subscription go. None of its methods throws. */
export interface Subscriber {
  /** Called only while `ready()`, never before `open` has resolved. */
  next(answer: Answer): void;
  /** Errors instead of data. `final`: the subscription has ended and nothing follows; else it goes on, and may recover. */
  failed(errors: readonly SvcError[], final: boolean): void;
  /** Nothing follows: the subscription is done. */
  complete(): void;
  /**
   * False while the client has not taken what it got. `Subscription.drained` then sends the newest answer of a live query; the
   * cursor of a stream stays until then.
   */
  ready(): boolean;
}

export interface Subscription {
  /** The client has taken what it got: it is sent the newest answer that it lacks, which is read again if it was not kept. */
  drained(): void;
  /** Ends it; the subscriber hears nothing any more. May be called more than once. */
  close(): void;
}

export interface Subscriptions {
  /**
   * Plans and starts the operation of a request, which must be a subscription. To be called inside of `admitted`, with the
   * document prepared: the transport has done so to learn the kind of the operation. So nothing is counted a second time here.
   * @throws SvcError for whatever is refused before anything runs, then nothing has been started
   */
  open(session: Session, request: GraphqlRequest, how: RequestOptions, subscriber: Subscriber): Promise<Subscription>;
  /** Ends all of them without telling their subscribers, and what works for them. */
  close(): Promise<void>;
}
