/**
 * What came of a call of an asynchronous action, for one subscriber: looked up at once, when the handler has answered, and when the
 * metadata change. Each time the request is planned on the metadata of that moment, so nothing is told that the subscriber may not
 * see any more.
 */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Bytes } from '../util/bytes.ts';
import type { CallWaits } from './call-waits.ts';
import { isAway, PATIENCE_MS } from './failures.ts';
import type { Subscriber, Subscription } from './subscriptions.ts';
import { digestOf, textOf } from './version.ts';

/** One look at the result. */
export interface Look {
  readonly body: readonly Bytes[];
  readonly next: NextLook;
  /** Called once the body is sent or dropped. */
  release(): void;
}

/** When it may be another one. */
export type NextLook =
  /** Nothing in it will change any more. */
  | { readonly when: 'never' }
  /** Once the handler has answered the call. */
  | { readonly when: 'answered'; readonly id: string }
  /** At any time: it has rows of tables in it. */
  | { readonly when: 'soon' }
  /** With the metadata alone: there is no such call, as far as the subscriber may know. */
  | { readonly when: 'changed' };

/** Who hears of a subscription. */
export interface ResultListener {
  /** Something was thrown that nobody foresaw. */
  onFault(error: unknown): void;
  onClose(closed: ActionResultSubscription): void;
}

const INTERVAL_MS = 1000;

export class ActionResultSubscription implements Subscription {
  readonly #look: () => Promise<Look>;
  readonly #waits: Pick<CallWaits, 'add'>;
  readonly #subscriber: Subscriber;
  readonly #listener: ResultListener;
  #timer: NodeJS.Timeout | undefined;
  #endWait: () => void = () => undefined;
  /** As the last look said. */
  #next: NextLook = { when: 'soon' };
  /** Digest of the body that was sent last. */
  #last: string | null = null;
  /** Whether the client was not ready for a result: it is looked up when the client is. */
  #isBehind = false;
  /** `performance.now()` since when a database has been out of reach; null: none is. */
  #awaySince: number | null = null;
  #isToldOfAway = false;
  /** Of the metadata: how often they have changed. */
  #changes = 0;
  #isLooking = false;
  #isOver = false;

  /** @param look may throw: that a database is out of reach is told when it lasts, everything else ends the subscription */
  constructor(look: () => Promise<Look>, waits: Pick<CallWaits, 'add'>, subscriber: Subscriber, listener: ResultListener) {
    this.#look = look;
    this.#waits = waits;
    this.#subscriber = subscriber;
    this.#listener = listener;
  }

  start(): void {
    // Nothing is told before whoever opened it knows that it is open.
    this.#timer = setTimeout(() => void this.#tick(), 0);
  }

  drained(): void {
    if (this.#isBehind && !this.#isOver) void this.#tick();
  }

  /** The metadata are others: what was looked up before may not be for this subscriber any more. */
  changed(): void {
    this.#changes += 1;
    if (!this.#isLooking) this.#lookSoon();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forgetWait();
    this.#listener.onClose(this);
  }

  async #tick(): Promise<void> {
    const changes = this.#changes;
    let look: Look;
    this.#forgetWait();
    this.#isBehind = !this.#subscriber.ready();
    if (this.#isBehind) return;
    this.#isLooking = true;
    try {
      look = await this.#look();
    } catch (error) {
      this.#isLooking = false;
      if (!this.#isOver && this.#isAwayOnly(error)) this.#lookSoon();
      return;
    }
    this.#isLooking = false;
    try {
      this.#looked(look, changes);
    } finally {
      look.release();
    }
  }

  #looked({ body, next }: Look, changes: number): void {
    if (this.#isOver) return;
    if (changes !== this.#changes || !this.#subscriber.ready()) {
      void this.#tick();
      return;
    }
    this.#awaySince = null;
    this.#isToldOfAway = false;
    const digest = digestOf(textOf({ body }));
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
    if (next.when === 'answered')
      this.#endWait = this.#waits.add(next.id, { over: () => void this.#tick(), failed: (error) => this.#couldNotWait(error) });
  }

  #lookSoon(): void {
    this.#forgetWait();
    this.#timer = setTimeout(() => void this.#tick(), INTERVAL_MS);
  }

  #forgetWait(): void {
    clearTimeout(this.#timer);
    this.#endWait();
    this.#endWait = () => undefined;
  }

  #couldNotWait(thrown: unknown): void {
    if (!this.#isAwayOnly(thrown)) return;
    // Whoever was told is to be told when it is over.
    if (this.#isToldOfAway) this.#lookSoon();
    else this.#wait();
  }

  /** Tells what is to be told of a failure. @returns whether that is not the end */
  #isAwayOnly(thrown: unknown): boolean {
    if (!(thrown instanceof SvcError)) this.#listener.onFault(thrown);
    const error = toSvcError(thrown);
    if (!isAway(error)) {
      this.close();
      this.#subscriber.failed([error], true);
      return false;
    }
    const now = performance.now();
    this.#awaySince ??= now;
    if (!this.#isToldOfAway && now - this.#awaySince >= PATIENCE_MS) {
      this.#isToldOfAway = true;
      // What follows is news to whoever was told of an error.
      this.#last = null;
      this.#subscriber.failed([error], false);
    }
    return true;
  }
}
