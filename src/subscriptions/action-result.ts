/**
 * What came of a call of an asynchronous action, for one subscriber: looked up again and again until the handler has answered. Each
 * time the request is planned on the metadata of that moment, so nothing is told that the subscriber may not see any more.
 */
import { SvcError } from '../errors/svc-error.ts';
import { sizeOfBytes, type Bytes } from '../util/bytes.ts';
import type { Answer, Subscriber, Subscription } from './subscriptions.ts';

/** One look at the result. */
export interface Look {
  readonly body: readonly Bytes[];
  /** Nothing in it will change any more. */
  readonly isFinal: boolean;
}

const INTERVAL_MS = 1000;

export class ActionResultSubscription implements Subscription {
  readonly #look: () => Promise<Look>;
  readonly #subscriber: Subscriber;
  readonly #onClose: (closed: ActionResultSubscription) => void;
  #timer: NodeJS.Timeout | undefined;
  #last: string | null = null;
  /** What the client was not ready for; the newest. */
  #waiting: Look | null = null;
  #isOver = false;

  /** @param look @throws SvcError, which ends the subscription */
  constructor(look: () => Promise<Look>, subscriber: Subscriber, onClose: (closed: ActionResultSubscription) => void) {
    this.#look = look;
    this.#subscriber = subscriber;
    this.#onClose = onClose;
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

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#onClose(this);
  }

  async #tick(): Promise<void> {
    let look: Look;
    try {
      look = await this.#look();
    } catch (error) {
      if (this.#isOver) return;
      this.close();
      this.#subscriber.failed([error instanceof SvcError ? error : new SvcError('unexpected', 'internal error', { cause: error })], true);
      return;
    }
    if (this.#isOver) return;
    const text = sizeOfBytes(look.body) > 0 ? look.body.join('') : '';
    const isNew = text !== this.#last;
    this.#last = text;
    if (isNew || look.isFinal) {
      if (this.#subscriber.ready()) this.#give(look);
      else this.#waiting = look;
    }
    if (!this.#isOver && !look.isFinal) this.#timer = setTimeout(() => void this.#tick(), INTERVAL_MS);
  }

  #give({ body, isFinal }: Look): void {
    const answer: Answer = { body };
    this.#subscriber.next(answer);
    if (!isFinal) return;
    this.close();
    this.#subscriber.complete();
  }
}
