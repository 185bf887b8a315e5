/** At least so many at once. */
const FEWEST = 5;
/** As many at once as it takes to finish so many in a millisecond. */
const PER_MS = 4;
/** Nobody waits longer: those inside may be waiting for a lock. */
const PATIENCE_MS = 5;
/** The weight of the newest duration in the average. */
const WEIGHT = 1 / 32;

interface Waiting {
  readonly since: number;
  readonly enter: () => void;
}

/**
 * Lets short transactions go to work a few at a time. More at once would not get more done, since the server
 * has so many processes to switch between; where they take long, because the server is far away or its
 * disk is slow, more at once do get more done and more are let in.
 */
export class Turnstile {
  private inside = 0;
  /** ms, a moving average */
  private duration = 0;
  private readonly waiting: Waiting[] = [];
  private timer: NodeJS.Timeout | null = null;

  /** null: go on; else when the promise is kept. Each must `leave`. */
  enter(): Promise<void> | null {
    if (this.inside < this.room && this.waiting.length === 0) {
      this.inside++;
      return null;
    }
    return new Promise((resolve) => {
      this.waiting.push({ since: performance.now(), enter: resolve });
      this.timer ??= setTimeout(() => this.hurry(), PATIENCE_MS);
    });
  }

  /** @param duration ms that the work took, null when it was not done */
  leave(duration: number | null): void {
    this.inside--;
    if (duration !== null) this.duration += (duration - this.duration) * WEIGHT;
    while (this.waiting.length > 0 && this.inside < this.room) this.admit();
  }

  private get room(): number {
    return Math.max(FEWEST, Math.ceil(this.duration * PER_MS));
  }

  private admit(): void {
    this.inside++;
    this.waiting.shift()?.enter();
  }

  private hurry(): void {
    this.timer = null;
    const now = performance.now();
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      const left = first.since + PATIENCE_MS - now;
      if (left > 0) {
        this.timer = setTimeout(() => this.hurry(), left);
        return;
      }
      this.admit();
    }
  }
}
