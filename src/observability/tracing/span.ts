/** A piece of work of a trace, from its beginning to its end. */
import { newSpanId } from './ids.ts';

export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type Attribute = string | number | boolean | readonly string[];

/** What a span becomes when it has ended. Times are milliseconds since the epoch. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** null: it is the first of its trace. */
  readonly parentId: string | null;
  readonly state: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: number;
  readonly end: number;
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly isError: boolean;
}

/** Where ended spans go. */
export interface SpanSink {
  /** Whether spans of statements have their SQL. */
  readonly showsSql: boolean;
  /** Never throws. */
  take(span: EndedSpan): void;
}

/** What ties calls to a trace, as it came or begins here. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Of whoever called; null: nobody has. */
  readonly parentId: string | null;
  /** The header `tracestate`, to be passed on. */
  readonly state: string | null;
}

/** Now, in the time of spans. */
export function spanTime(): number {
  return performance.timeOrigin + performance.now();
}

const NO_ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map();

/** A span that is sampled, or with no sink one that is not: it has ids, so that others learn of the decision, and notes nothing. */
export class Span {
  readonly traceId: string;
  readonly parentId: string | null;
  readonly state: string | null;
  readonly kind: SpanKind;
  name: string;
  readonly #sink: SpanSink | null;
  readonly #start: number;
  #spanId: string | null = null;
  #attributes: Map<string, Attribute> | null = null;
  #isError = false;
  #isOver = false;

  /** @param start in the time of spans; absent: now */
  constructor({ traceId, parentId, state }: TraceParent, name: string, kind: SpanKind, sink: SpanSink | null, start?: number) {
    this.traceId = traceId;
    this.parentId = parentId;
    this.state = state;
    this.name = name;
    this.kind = kind;
    this.#sink = sink;
    this.#start = sink === null ? 0 : (start ?? spanTime());
  }

  get isSampled(): boolean {
    return this.#sink !== null;
  }

  /** Whether the SQL of statements is to be told. */
  get showsSql(): boolean {
    return this.#sink?.showsSql === true;
  }

  get spanId(): string {
    this.#spanId ??= newSpanId();
    return this.#spanId;
  }

  /** A part of this one; the same object where nothing is sampled. */
  child(name: string, kind: SpanKind = 'internal', start?: number): Span {
    if (this.#sink === null) return this;
    return new Span({ traceId: this.traceId, parentId: this.spanId, state: this.state }, name, kind, this.#sink, start);
  }

  set(name: string, value: Attribute | null | undefined): this {
    if (this.#sink === null || value === null || value === undefined) return this;
    this.#attributes ??= new Map();
    this.#attributes.set(name, value);
    return this;
  }

  /** It failed through a fault that is not the client's. */
  fail(type: string): this {
    this.#isError = true;
    return this.set('error.type', type);
  }

  /** Notes that it is over; only the first time counts. */
  end(): void {
    if (this.#sink === null || this.#isOver) return;
    this.#isOver = true;
    const { traceId, spanId, parentId, state, name, kind } = this;
    const attributes = this.#attributes ?? NO_ATTRIBUTES;
    this.#sink.take({
      traceId,
      spanId,
      parentId,
      state,
      name,
      kind,
      start: this.#start,
      end: spanTime(),
      attributes,
      isError: this.#isError,
    });
  }
}
