/** Decides which requests are traced, and collects their spans until somebody takes them. */
import { lotOf, TraceId } from './ids.ts';
import { type EndedSpan, Span, type SpanKind, type SpanSink } from './span.ts';

/** A trace that a request is part of. */
export interface IncomingTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** null: whoever called has not decided. */
  readonly isSampled: boolean | null;
  readonly state: string | null;
}

export interface Sampling {
  /** Whether the decision of whoever called counts. */
  readonly followsParent: boolean;
  /** Of the others, this part is traced: 0 none, 1 all. */
  readonly ratio: number;
}

export interface QueueSettings {
  /** Spans that wait to be sent; what would be more is dropped. */
  readonly maxQueue: number;
  /** Bytes of them, estimated. */
  readonly maxQueueBytes: number;
  readonly maxBatch: number;
}

/** Of one request to the collector, estimated: collectors take some megabytes. */
const BATCH_BYTES = 1_048_576;

/** Sends what it is given. Never throws. @returns whether it was taken */
export type SendSpans = (spans: readonly EndedSpan[]) => Promise<boolean>;

export interface TracerOptions extends QueueSettings {
  readonly sampling: Sampling;
  /** ms between sends where there is little */
  readonly delay: number;
  readonly send: SendSpans;
  readonly counts: SpanCounts;
  /** Whether spans of statements have their SQL. */
  readonly showsSql: boolean;
}

/** Since the start; plain fields, whoever asks reads them. */
export class SpanCounts {
  sent = 0;
  full = 0;
  failed = 0;
}

export class Tracer {
  readonly #options: TracerOptions;
  readonly #sink: SpanSink;
  #queue: EndedSpan[] = [];
  #queueBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#sink = { showsSql: options.showsSql, take: (span) => this.#take(span) };
  }

  /** The first span here of a request. @param start in the time of spans; absent: now */
  begin(name: string, kind: SpanKind, incoming: IncomingTrace | null, start?: number): Span {
    if (incoming === null) {
      const traceId = new TraceId();
      return new Span({ traceId, parentId: null, state: null }, name, kind, this.#takes(traceId.lot) ? this.#sink : null, start);
    }
    const { traceId, spanId: parentId, state } = incoming;
    return new Span({ traceId, parentId, state }, name, kind, this.#decides(incoming) ? this.#sink : null, start);
  }

  /** Sends what waits, as far as that can be done in so many ms. */
  async flush(limit: number): Promise<void> {
    clearTimeout(this.#timer);
    const end = performance.now() + limit;
    while ((this.#queue.length > 0 || this.#sending !== null) && performance.now() < end) {
      this.#start();
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.max(0, end - performance.now()));
      });
      await Promise.race([this.#sending, over]);
      clearTimeout(timer);
    }
    this.#options.counts.failed += this.#queue.length;
    this.#queue = [];
    this.#queueBytes = 0;
  }

  #decides({ traceId, isSampled }: IncomingTrace): boolean {
    return this.#options.sampling.followsParent && isSampled !== null ? isSampled : this.#takes(lotOf(traceId));
  }

  #takes(lot: number): boolean {
    const { ratio } = this.#options.sampling;
    return ratio >= 1 || lot < ratio;
  }

  #take(span: EndedSpan): void {
    const { maxQueue, maxQueueBytes, counts, delay } = this.#options;
    if (this.#queue.length >= maxQueue || this.#queueBytes + span.size > maxQueueBytes) {
      counts.full += 1;
      return;
    }
    this.#queue.push(span);
    this.#queueBytes += span.size;
    if (this.#isBatch()) this.#start();
    else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#start(), delay);
      this.#timer.unref();
    }
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

  /** One span at least, where there are any. */
  #nextBatch(): readonly EndedSpan[] {
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
