/** Bounded queue for an export to a collector, which sends one batch at a time. */

export interface Sized {
  /** Estimated memory in bytes. */
  readonly size: number;
}

export interface BatchQueueSettings {
  /** Maximum number of queued items; more are dropped. */
  readonly maxQueue: number;
  readonly maxBatch: number;
  /** Interval between batches that are not full, in ms. */
  readonly delay: number;
}

/** Counts since the start. */
export class ExportCounts {
  sent = 0;
  full = 0;
  failed = 0;
}

export interface BatchQueueOptions<T> extends BatchQueueSettings {
  /** Maximum estimated memory of queued items, in bytes. */
  readonly maxQueueBytes: number;
  readonly counts: ExportCounts;
  /** Never throws. @returns false if the items were lost */
  readonly send: (items: readonly T[]) => Promise<boolean>;
}

/** Maximum estimated size of a request; collectors accept a few megabytes. */
const BATCH_BYTES = 1_048_576;

export class BatchQueue<T extends Sized> {
  readonly #options: BatchQueueOptions<T>;
  #queue: T[] = [];
  #queueBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;

  constructor(options: BatchQueueOptions<T>) {
    this.#options = options;
  }

  take(item: T): void {
    const { maxQueue, maxQueueBytes, counts, delay } = this.#options;
    if (this.#queue.length >= maxQueue || this.#queueBytes + item.size > maxQueueBytes) {
      counts.full += 1;
      return;
    }
    this.#queue.push(item);
    this.#queueBytes += item.size;
    if (this.#isBatch()) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), delay).unref();
  }

  /** Sends queued items for at most `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const end = performance.now() + limitMs;
    while ((this.#queue.length > 0 || this.#sending !== null) && performance.now() < end) {
      this.#start();
      if (this.#sending !== null) await within(this.#sending, end - performance.now());
    }
    this.#options.counts.failed += this.#queue.length;
    this.#queue = [];
    this.#queueBytes = 0;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    const { send, counts } = this.#options;
    do {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      if (await send(batch)) counts.sent += batch.length;
      else counts.failed += batch.length;
    } while (this.#isBatch());
    if (this.#queue.length > 0) {
      this.#timer ??= setTimeout(() => this.#start(), this.#options.delay).unref();
    }
  }

  #isBatch(): boolean {
    return this.#queue.length >= this.#options.maxBatch || this.#queueBytes >= BATCH_BYTES;
  }

  /** Returns at least one item unless the queue is empty. */
  #nextBatch(): readonly T[] {
    let bytes = 0;
    let count = 0;
    for (const { size } of this.#queue) {
      if (count > 0 && (count >= this.#options.maxBatch || bytes + size > BATCH_BYTES)) break;
      bytes += size;
      count += 1;
    }
    this.#queueBytes -= bytes;
    return this.#queue.splice(0, count);
  }
}

/** Resolves when the work is done, or after `ms`. */
export async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
