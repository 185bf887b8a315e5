/** Spans: units of work of a trace. */
import { newSpanId, type TraceId } from './ids.ts';

export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type Attribute = string | number | boolean | readonly string[];

/** Finished span. Times are in epoch milliseconds. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** `null` for the first span of a trace. */
  readonly parentId: string | null;
  readonly state: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: number;
  readonly end: number;
  readonly attributes: ReadonlyMap<string, Attribute>;
  /** Estimated memory in bytes. */
  readonly size: number;
  readonly isError: boolean;
}

export interface SpanSink {
  /** Adds the SQL to spans of statements. */
  readonly showsSql: boolean;
  /** Never throws. */
  take(span: EndedSpan): void;
}

/** Trace that a span belongs to. */
export interface TraceParent {
  /** Text of 32 hexadecimal digits, or an id whose text is not needed yet. */
  readonly traceId: string | TraceId;
  /** Span of the caller, if there is one. */
  readonly parentId: string | null;
  /** Header `tracestate`, which is passed on. */
  readonly state: string | null;
}

/** Offset from `performance.now()`, which is monotonic, to the time of day. */
let clockOffset = performance.timeOrigin;
/** Maximum difference to the system clock, in ms. Less is its resolution; more means that it was set, or that the machine slept. */
const DRIFT_MS = 2;

/**
 * Current time for spans, in epoch milliseconds with a higher resolution than the system clock. It follows the system clock when that is
 * set; durations of spans do not.
 */
export function spanTime(): number {
  const now = performance.now();
  const clock = Date.now();
  if (Math.abs(now + clockOffset - clock) > DRIFT_MS) clockOffset = clock - now;
  return now + clockOffset;
}

/** Maximum length of a string attribute, in characters; longer ones are cut. */
const MAX_STRING_LENGTH = 32_768;
/** Estimated memory of a span and of an attribute without their texts, in bytes. */
const SPAN_BYTES = 400;
const ATTRIBUTE_BYTES = 60;

const NO_ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map();

/** Span, sampled if it has a sink. An unsampled span records nothing, but has ids, so that the decision reaches called services. */
export class Span {
  readonly #trace: string | TraceId;
  readonly parentId: string | null;
  readonly state: string | null;
  readonly kind: SpanKind;
  name: string;
  readonly #sink: SpanSink | null;
  readonly #start: number;
  /** Start by `performance.now()`. */
  readonly #began: number;
  #size = SPAN_BYTES;
  #spanId: string | null = null;
  #attributes: Map<string, Attribute> | null = null;
  #isError = false;
  #hasEnded = false;

  /** @param start as from `spanTime`. Defaults to now. */
  constructor({ traceId, parentId, state }: TraceParent, name: string, kind: SpanKind, sink: SpanSink | null, start?: number) {
    this.#trace = traceId;
    this.parentId = parentId;
    this.state = state;
    this.name = name;
    this.kind = kind;
    this.#sink = sink;
    this.#start = 0;
    this.#began = 0;
    if (sink === null) return;
    const now = spanTime();
    this.#start = start ?? now;
    this.#began = performance.now() - (now - this.#start);
  }

  get traceId(): string {
    return typeof this.#trace === 'string' ? this.#trace : this.#trace.text;
  }

  get isSampled(): boolean {
    return this.#sink !== null;
  }

  get showsSql(): boolean {
    return this.#sink?.showsSql === true;
  }

  get spanId(): string {
    this.#spanId ??= newSpanId();
    return this.#spanId;
  }

  /** Starts a child span; returns this span if it is not sampled. */
  child(name: string, kind: SpanKind = 'internal', start?: number): Span {
    if (this.#sink === null) return this;
    return new Span({ traceId: this.#trace, parentId: this.spanId, state: this.state }, name, kind, this.#sink, start);
  }

  set(name: string, value: Attribute | null | undefined): this {
    if (this.#sink === null || value === null || value === undefined) return this;
    this.#attributes ??= new Map();
    const cut = typeof value === 'string' && value.length > MAX_STRING_LENGTH ? `${value.slice(0, MAX_STRING_LENGTH)}…` : value;
    this.#attributes.set(name, cut);
    this.#size += ATTRIBUTE_BYTES + sizeOf(cut);
    return this;
  }

  /** Marks the span as failed, for errors that the client has not caused. */
  fail(type: string): this {
    this.#isError = true;
    return this.set('error.type', type);
  }

  /** Ends the span; further calls have no effect. */
  end(): void {
    if (this.#sink === null || this.#hasEnded) return;
    this.#hasEnded = true;
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
      end: this.#start + performance.now() - this.#began,
      attributes,
      size: this.#size + name.length,
      isError: this.#isError,
    });
  }
}

function sizeOf(value: Attribute): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' ? value.reduce((sum, item) => sum + item.length, 0) : 0;
}
