/** Decides which requests are traced, and collects their spans until somebody takes them. */
import { BatchQueue, type QueueOptions } from '../otlp/batch-queue.ts';
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

export interface TracerOptions extends QueueOptions<EndedSpan> {
  readonly sampling: Sampling;
  /** Whether spans of statements have their SQL. */
  readonly showsSql: boolean;
}

export class Tracer {
  readonly #sampling: Sampling;
  readonly #queue: BatchQueue<EndedSpan>;
  readonly #sink: SpanSink;

  constructor(options: TracerOptions) {
    this.#sampling = options.sampling;
    const queue = new BatchQueue(options);
    this.#queue = queue;
    this.#sink = { showsSql: options.showsSql, take: (span) => queue.take(span) };
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
  flush(limit: number): Promise<void> {
    return this.#queue.flush(limit);
  }

  #decides({ traceId, isSampled }: IncomingTrace): boolean {
    return this.#sampling.followsParent && isSampled !== null ? isSampled : this.#takes(lotOf(traceId));
  }

  #takes(lot: number): boolean {
    const { ratio } = this.#sampling;
    return ratio >= 1 || lot < ratio;
  }
}
