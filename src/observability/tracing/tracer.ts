/** Decides which requests are traced, and collects their spans until somebody takes them. */
import { newTraceId } from './ids.ts';
import { type EndedSpan, Span, type SpanKind, type SpanSink, type TraceParent } from './span.ts';

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
  readonly maxBatch: number;
}

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
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#sink = { showsSql: options.showsSql, take: (span) => this.#take(span) };
  }

  /** The first span here of a request. @param start in the time of spans; absent: now */
  begin(name: string, kind: SpanKind, incoming: IncomingTrace | null, start?: number): Span {
    const parent: TraceParent =
      incoming === null
        ? { traceId: newTraceId(), parentId: null, state: null }
        : { traceId: incoming.traceId, parentId: incoming.spanId, state: incoming.state };
    return new Span(parent, name, kind, this.#decides(parent.traceId, incoming) ? this.#sink : null, start);
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
  }

  #decides(traceId: string, incoming: IncomingTrace | null): boolean {
    const { followsParent, ratio } = this.#options.sampling;
    if (followsParent && incoming !== null && incoming.isSampled !== null) return incoming.isSampled;
    // Of the trace, so that all services of one decide alike.
    return ratio >= 1 || Number.parseInt(traceId.slice(-14), 16) / 2 ** 56 < ratio;
  }

  #take(span: EndedSpan): void {
    const { maxQueue, maxBatch, counts, delay } = this.#options;
    if (this.#queue.length >= maxQueue) {
      counts.full += 1;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= maxBatch) this.#start();
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
    const { maxBatch, send, counts } = this.#options;
    do {
      const batch = this.#queue.splice(0, maxBatch);
      if (batch.length === 0) return;
      if (await send(batch)) counts.sent += batch.length;
      else counts.failed += batch.length;
    } while (this.#queue.length >= maxBatch);
    if (this.#queue.length > 0) {
      this.#timer ??= setTimeout(() => this.#start(), this.#options.delay).unref();
    }
  }
}
