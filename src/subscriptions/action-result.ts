/**
 * The result of an asynchronous action for one subscriber. It is looked up at once, when the handler has responded, and when the metadata
 * changes. Each lookup is planned with the current metadata, so the subscriber never gets data that it may no longer see.
 */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Bytes } from '../util/bytes.ts';
import type { CallWaits } from './call-waits.ts';
import { isAway, AWAY_GRACE_MS } from './failures.ts';
import type { Subscriber, Subscription } from './subscriptions.ts';
import { answerDigest, answerText } from './version.ts';

/** One lookup of the result. */
export interface ResultLookup {
  readonly body: readonly Bytes[];
  readonly next: NextLookup;
  /** Called once the body is sent or dropped. */
  release(): void;
}

/** The time of the next lookup. */
export type NextLookup =
  /** The result is final. */
  | { readonly when: 'never' }
  /** When the handler has responded to the call. */
  | { readonly when: 'answered'; readonly id: string }
  /** After an interval: the result contains rows of tables, which may change at any time. */
  | { readonly when: 'soon' }
  /** When the metadata changes: the call does not exist, or is not visible to the subscriber. */
  | { readonly when: 'changed' };

/** Events of a subscription. */
export interface ResultListener {
  /** Called for unexpected errors. */
  onFault(error: unknown): void;
  onClose(closed: ActionResultSubscription): void;
}

const INTERVAL_MS = 1000;

export class ActionResultSubscription implements Subscription {
  readonly #look: () => Promise<ResultLookup>;
  readonly #waits: Pick<CallWaits, 'add'>;
  readonly #subscriber: Subscriber;
  readonly #listener: ResultListener;
  #timer: NodeJS.Timeout | undefined;
  #endWait: () => void = () => undefined;
  /** Time of the next lookup, according to the last one. */
  #next: NextLookup = { when: 'soon' };
  /** Digest of the body that was sent last. */
  #last: string | null = null;
  /** True if the client was not ready for a result: it is looked up once the client is. */
  #isBehind = false;
  /** `performance.now()` since when a database has been unavailable; `null` if none is. */
  #awaySince: number | null = null;
  #hasReportedAway = false;
  /** Number of metadata changes. */
  #changes = 0;
  #isLooking = false;
  #isOver = false;

  /** @param look may throw: an unavailable database is reported if it persists, any other error ends the subscription */
  constructor(look: () => Promise<ResultLookup>, waits: Pick<CallWaits, 'add'>, subscriber: Subscriber, listener: ResultListener) {
    this.#look = look;
    this.#waits = waits;
    this.#subscriber = subscriber;
    this.#listener = listener;
  }

  start(): void {
    // Deferred, so that nothing is sent before the caller has the subscription.
    this.#timer = setTimeout(() => void this.#tick(), 0);
  }

  drained(): void {
    if (this.#isBehind && !this.#isOver) void this.#tick();
  }

  /** Called when the metadata has changed: the subscriber may no longer see the last result. */
  changed(): void {
    this.#changes += 1;
    if (!this.#isLooking) this.#lookSoon();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopWaiting();
    this.#listener.onClose(this);
  }

  async #tick(): Promise<void> {
    const changes = this.#changes;
    let look: ResultLookup;
    this.#stopWaiting();
    this.#isBehind = !this.#subscriber.ready();
    if (this.#isBehind) return;
    this.#isLooking = true;
    try {
      look = await this.#look();
    } catch (error) {
      this.#isLooking = false;
      if (!this.#isOver && this.#isTransient(error)) this.#lookSoon();
      return;
    }
    this.#isLooking = false;
    try {
      this.#onLook(look, changes);
    } finally {
      look.release();
    }
  }

  #onLook({ body, next }: ResultLookup, changes: number): void {
    if (this.#isOver) return;
    if (changes !== this.#changes || !this.#subscriber.ready()) {
      void this.#tick();
      return;
    }
    this.#awaySince = null;
    this.#hasReportedAway = false;
    const digest = answerDigest(answerText({ body }));
    const isNew = digest !== this.#last;
    this.#last = digest;
    this.#next = next;
    if (isNew || next.when === 'never') this.#subscriber.next({ body });
    if (next.when === 'never') {
      this.close();
      this.#subscriber.complete();
    } else if (!this.#isOver) this.#wait();
  }

  #wait(): void {
    const next = this.#next;
    if (next.when === 'soon') this.#lookSoon();
    if (next.when === 'answered') {
      this.#endWait = this.#waits.add(next.id, { onDone: () => void this.#tick(), onError: (error) => this.#onWaitError(error) });
    }
  }

  #lookSoon(): void {
    this.#stopWaiting();
    this.#timer = setTimeout(() => void this.#tick(), INTERVAL_MS);
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#endWait();
    this.#endWait = () => undefined;
  }

  #onWaitError(thrown: unknown): void {
    if (!this.#isTransient(thrown)) return;
    // A lookup also ends the error state of a subscriber that has got the error.
    if (this.#hasReportedAway) this.#lookSoon();
    else this.#wait();
  }

  /** Reports an error as necessary. Returns false if it ends the subscription. */
  #isTransient(thrown: unknown): boolean {
    if (!(thrown instanceof SvcError)) this.#listener.onFault(thrown);
    const error = toSvcError(thrown);
    if (!isAway(error)) {
      this.close();
      this.#subscriber.failed([error], true);
      return false;
    }
    const now = performance.now();
    this.#awaySince ??= now;
    if (!this.#hasReportedAway && now - this.#awaySince >= AWAY_GRACE_MS) {
      this.#hasReportedAway = true;
      // After the error, even an unchanged result is sent.
      this.#last = null;
      this.#subscriber.failed([error], false);
    }
    return true;
  }
}
