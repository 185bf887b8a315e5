/**
 * What came of a call of an asynchronous action, for one subscriber: looked up again and again until the handler has answered. Each
 * time the request is planned on the metadata of that moment, so nothing is told that the subscriber may not see any more.
 */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Bytes } from '../util/bytes.ts';
import { isAway, PATIENCE_MS } from './failures.ts';
import type { Answer, Subscriber, Subscription } from './subscriptions.ts';

/** One look at the result. */
export interface Look {
  readonly body: readonly Bytes[];
  /** Nothing in it will change any more. */
  readonly isFinal: boolean;
}

/** Who hears of a subscription. */
export interface ResultListener {
  /** Something was thrown that nobody foresaw. */
  onFault(error: unknown): void;
  onClose(closed: ActionResultSubscription): void;
}

const INTERVAL_MS = 1000;

export class ActionResultSubscription implements Subscription {
  readonly #look: () => Promise<Look>;
  readonly #subscriber: Subscriber;
  readonly #listener: ResultListener;
  #timer: NodeJS.Timeout | undefined;
  #last: string | null = null;
  /** What the client was not ready for; the newest. */
  #waiting: Look | null = null;
  /** `performance.now()` since when a database has been out of reach; null: none is. */
  #awaySince: number | null = null;
  #isToldOfAway = false;
  /** Of the metadata: how often they have changed. */
  #changes = 0;
  #isOver = false;

  /** @param look may throw: that a database is out of reach is told when it lasts, everything else ends the subscription */
  constructor(look: () => Promise<Look>, subscriber: Subscriber, listener: ResultListener) {
    this.#look = look;
    this.#subscriber = subscriber;
    this.#listener = listener;
  }

  start(): void {
    // Nothing is told before whoever opened it knows that it is open.
    this.#timer = setTimeout(() => void this.#tick(), 0);
  }

  drained(): void {
    const waiting = this.#waiting;
    if (waiting === null || this.#isOver || !this.#subscriber.ready()) return;
    this.#waiting = null;
    this.#give(waiting);
  }

  /** The metadata are others: what was looked up before may not be for this subscriber any more. */
  changed(): void {
    this.#changes += 1;
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    this.#last = null;
    if (waiting.isFinal) this.#lookAgain();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#listener.onClose(this);
  }

  async #tick(): Promise<void> {
    const changes = this.#changes;
    let look: Look;
    try {
      look = await this.#look();
    } catch (error) {
      if (!this.#isOver) this.#failed(error);
      return;
    }
    if (this.#isOver) return;
    if (changes !== this.#changes) {
      void this.#tick();
      return;
    }
    this.#awaySince = null;
    this.#isToldOfAway = false;
    const text = look.body.join('');
    const isNew = text !== this.#last;
    this.#last = text;
    if (isNew || look.isFinal) {
      if (this.#subscriber.ready()) this.#give(look);
      else this.#waiting = look;
    }
    if (!this.#isOver && !look.isFinal) this.#lookAgain();
  }

  #lookAgain(): void {
    this.#timer = setTimeout(() => void this.#tick(), INTERVAL_MS);
  }

  #failed(thrown: unknown): void {
    if (!(thrown instanceof SvcError)) this.#listener.onFault(thrown);
    const error = toSvcError(thrown);
    if (!isAway(error)) {
      this.close();
      this.#subscriber.failed([error], true);
      return;
    }
    const now = performance.now();
    this.#awaySince ??= now;
    if (!this.#isToldOfAway && now - this.#awaySince >= PATIENCE_MS) {
      this.#isToldOfAway = true;
      // What follows is news to whoever was told of an error.
      this.#last = null;
      this.#waiting = null;
      this.#subscriber.failed([error], false);
    }
    this.#lookAgain();
  }

  #give({ body, isFinal }: Look): void {
    const answer: Answer = { body };
    this.#subscriber.next(answer);
    if (!isFinal) return;
    this.close();
    this.#subscriber.complete();
  }
}
