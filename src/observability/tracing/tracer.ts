/** Decides which requests are sampled, and queues their spans for the export. */
import { BatchQueue, type BatchQueueOptions } from '../otlp/batch-queue.ts';
import { samplingValueOf, TraceId } from './ids.ts';
import { type EndedSpan, Span, type SpanKind, type SpanSink } from './span.ts';

/** Trace context of a request. */
export interface IncomingTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Decision of the caller, or `null`. */
  readonly isSampled: boolean | null;
  readonly state: string | null;
}

export interface Sampling {
  /** Follow the decision of the caller. */
  readonly followsParent: boolean;
  /** Fraction of the other traces that is sampled: 0 none, 1 all. */
  readonly ratio: number;
}

export interface TracerOptions extends BatchQueueOptions<EndedSpan> {
  readonly sampling: Sampling;
  /** Adds the SQL to spans of statements. */
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

  /** Starts the first span of a request. @param start as from `spanTime`. Defaults to now. */
  begin(name: string, kind: SpanKind, incoming: IncomingTrace | null, start?: number): Span {
    if (incoming === null) {
      const traceId = new TraceId();
      return new Span(
        { traceId, parentId: null, state: null },
        name,
        kind,
        this.#isSampled(traceId.samplingValue) ? this.#sink : null,
        start,
      );
    }
    const { traceId, spanId: parentId, state } = incoming;
    return new Span({ traceId, parentId, state }, name, kind, this.#decides(incoming) ? this.#sink : null, start);
  }

  /** Sends queued spans for at most `limitMs`. */
  flush(limitMs: number): Promise<void> {
    return this.#queue.flush(limitMs);
  }

  #decides({ traceId, isSampled }: IncomingTrace): boolean {
    return this.#sampling.followsParent && isSampled !== null ? isSampled : this.#isSampled(samplingValueOf(traceId));
  }

  #isSampled(value: number): boolean {
    const { ratio } = this.#sampling;
    return ratio >= 1 || value < ratio;
  }
}
