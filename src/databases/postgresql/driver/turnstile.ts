import { Gate } from '../../../util/gate.ts';

/** At least so many at once. */
const FEWEST = 5;
/** As many at once as it takes to finish so many in a millisecond. */
const PER_MS = 4;
/** Nobody waits longer: those inside may be waiting for a lock. */
const PATIENCE_MS = 5;
/** The weight of the newest duration in the average. */
const WEIGHT = 1 / 32;

/**
 * Lets short transactions go to work a few at a time. More at once would not get more done, since the server
 * has so many processes to switch between; where they take long, because the server is far away or its
 * disk is slow, more at once do get more done and more are let in.
 */
export class Turnstile {
  /** ms, a moving average */
  #duration = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Tickets are the times at which the work came. */
  readonly #gate = new Gate<number>((_, running) => running < Math.max(FEWEST, Math.ceil(this.#duration * PER_MS)));

  /** null: go on; else when the promise is kept. Each must `leave`. */
  enter(): Promise<void> | null {
    const wait = this.#gate.enter(performance.now());
    if (wait !== null) this.#timer ??= setTimeout(() => this.#hurry(), PATIENCE_MS);
    return wait;
  }

  /** @param duration ms that the work took, null when it was not done */
  leave(duration: number | null): void {
    if (duration !== null) this.#duration += (duration - this.#duration) * WEIGHT;
    this.#gate.leave();
  }

  #hurry(): void {
    this.#timer = null;
    const now = performance.now();
    for (let since = this.#gate.next; since !== undefined; since = this.#gate.next) {
      const left = since + PATIENCE_MS - now;
      if (left > 0) {
        this.#timer = setTimeout(() => this.#hurry(), left);
        return;
      }
      this.#gate.admit();
    }
  }
}
