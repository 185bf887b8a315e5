/** A piece of work of a trace, from its beginning to its end. */
import { newSpanId, type TraceId } from './ids.ts';

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
  /** About so many bytes of memory. */
  readonly size: number;
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
  /** As text: 32 hexadecimal digits. */
  readonly traceId: string | TraceId;
  /** Of whoever called; null: nobody has. */
  readonly parentId: string | null;
  /** The header `tracestate`, to be passed on. */
  readonly state: string | null;
}

/** What is added to `performance.now()`, which nobody sets, to get the time of day. */
let toTimeOfDay = performance.timeOrigin;
/** Less is the grain of the clock, more is that somebody has set it, or that the machine slept. ms */
const DRIFT_MS = 2;

/**
 * Now, in the time of spans: milliseconds since the epoch, finer than the clock tells them. It follows the clock of the machine when that
 * is set; the duration of a span does not.
 */
export function spanTime(): number {
  const now = performance.now();
  const clock = Date.now();
  if (Math.abs(now + toTimeOfDay - clock) > DRIFT_MS) toTimeOfDay = clock - now;
  return now + toTimeOfDay;
}

/** Characters of a text in a span; of a longer one the beginning is told. */
const MOST_OF_TEXT = 32_768;
/** Bytes of a span beside its texts, and of an attribute beside its own; estimated. */
const SPAN_BYTES = 400;
const ATTRIBUTE_BYTES = 60;

const NO_ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map();

/** A span that is sampled, or with no sink one that is not: it has ids, so that others learn of the decision, and notes nothing. */
export class Span {
  readonly #trace: string | TraceId;
  readonly parentId: string | null;
  readonly state: string | null;
  readonly kind: SpanKind;
  name: string;
  readonly #sink: SpanSink | null;
  readonly #start: number;
  /** By `performance.now()`. */
  readonly #began: number;
  #size = SPAN_BYTES;
  #spanId: string | null = null;
  #attributes: Map<string, Attribute> | null = null;
  #isError = false;
  #isOver = false;

  /** @param start in the time of spans; absent: now */
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
    return new Span({ traceId: this.#trace, parentId: this.spanId, state: this.state }, name, kind, this.#sink, start);
  }

  set(name: string, value: Attribute | null | undefined): this {
    if (this.#sink === null || value === null || value === undefined) return this;
    this.#attributes ??= new Map();
    const told = typeof value === 'string' && value.length > MOST_OF_TEXT ? `${value.slice(0, MOST_OF_TEXT)}…` : value;
    this.#attributes.set(name, told);
    this.#size += ATTRIBUTE_BYTES + sizeOf(told);
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
