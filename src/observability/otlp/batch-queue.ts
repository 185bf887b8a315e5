/** What waits to be sent to a collector: bounded, and sent in batches, one at a time. */

/** About so many bytes of memory. */
export interface Sized {
  readonly size: number;
}

export interface QueueSettings {
  /** Items that wait to be sent; what would be more is dropped. */
  readonly maxQueue: number;
  readonly maxBatch: number;
  /** ms between sends where there is little */
  readonly delay: number;
}

/** Since the start; plain fields, whoever asks reads them. */
export class ExportCounts {
  sent = 0;
  full = 0;
  failed = 0;
}

export interface QueueOptions<T> extends QueueSettings {
  /** Bytes of what waits, estimated. */
  readonly maxQueueBytes: number;
  readonly counts: ExportCounts;
  /** Never throws. @returns whether they were taken */
  readonly send: (items: readonly T[]) => Promise<boolean>;
}

/** Of one request to the collector, estimated: collectors take some megabytes. */
const BATCH_BYTES = 1_048_576;

export class BatchQueue<T extends Sized> {
  readonly #options: QueueOptions<T>;
  #queue: T[] = [];
  #queueBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;

  constructor(options: QueueOptions<T>) {
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

  /** Sends what waits, as far as that can be done in so many ms. */
  async flush(limit: number): Promise<void> {
    clearTimeout(this.#timer);
    const end = performance.now() + limit;
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

  /** One at least, where there are any. */
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

/** Comes back when it is done, or after so many ms. */
export async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
