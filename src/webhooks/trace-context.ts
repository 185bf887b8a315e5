/** Trace context, which follows a client's request through several services: as received, as stored with events, and as sent. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Span } from '../observability/tracing/span.ts';
import type { IncomingTrace } from '../observability/tracing/tracer.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';

export interface TraceContext {
  /** 16 or 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;
const TRACE_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i;
const SPAN_ID = /^[0-9a-f]{16}$/i;
const SAMPLED = 1;

/** Reads W3C Trace Context or B3 headers, in the form that is stored with events; `null` if there are none. */
export function traceContextOf(headers: IncomingHttpHeaders): JsonObject | null {
  const { traceparent, b3 } = headers;
  const parent = typeof traceparent === 'string' ? TRACE_PARENT.exec(traceparent) : null;
  if (parent !== null) {
    const [, trace = '', span = '', flags = ''] = parent;
    return context(trace, span, (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED ? '1' : '0');
  }
  if (typeof b3 === 'string') {
    const [trace = '', span = '', sampled] = b3.split('-');
    return context(trace, span, samplingState(sampled));
  }
  const text = (name: string): string | undefined => (typeof headers[name] === 'string' ? headers[name] : undefined);
  const sampled = text('x-b3-flags') === '1' ? '1' : samplingState(text('x-b3-sampled'));
  return context(text('x-b3-traceid') ?? '', text('x-b3-spanid') ?? '', sampled);
}

/** `d` requests debugging, which implies sampling. `undefined` if sampling is undecided. */
function samplingState(sampled: string | undefined): '0' | '1' | undefined {
  if (sampled === '1' || sampled === 'd' || sampled === 'true') return '1';
  return sampled === '0' || sampled === 'false' ? '0' : undefined;
}

function context(trace: string, span: string, sampled: '0' | '1' | undefined): JsonObject | null {
  if (!TRACE_ID.test(trace) || !SPAN_ID.test(span)) return null;
  return { trace_id: trace.toLowerCase(), span_id: span.toLowerCase(), ...(sampled === undefined ? {} : { sampling_state: sampled }) };
}

/** Returns the trace that a request is part of, `null` if none. W3C Trace Context takes precedence over B3. */
export function incomingTrace(headers: IncomingHttpHeaders): IncomingTrace | null {
  const json = traceContextOf(headers);
  if (json === null) return null;
  const { trace_id: trace, span_id: spanId, sampling_state: sampling } = json;
  if (typeof trace !== 'string' || typeof spanId !== 'string' || /^0+$/.test(trace) || /^0+$/.test(spanId)) return null;
  const { traceparent, tracestate } = headers;
  const state = typeof traceparent === 'string' && typeof tracestate === 'string' && STATE.test(tracestate) ? tracestate : null;
  return { traceId: trace.padStart(32, '0'), spanId, isSampled: sampling === undefined ? null : sampling === '1', state };
}

/** A valid `tracestate` for forwarding: printable, and no longer than services must accept. */
const STATE = /^[\x20-\x7e]{1,512}$/;

/** Returns the span as stored with an event. */
export function storedSpan({ traceId, spanId, isSampled }: Span): JsonObject {
  return { trace_id: traceId, span_id: spanId, sampling_state: isSampled ? '1' : '0' };
}

/** Returns W3C Trace Context and B3 headers for a call that is part of a span. */
export function spanHeaders({ traceId, spanId, isSampled, state, parentId }: Span): Record<string, string> {
  return {
    traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
    ...(state === null ? {} : { tracestate: state }),
    'x-b3-traceid': traceId,
    'x-b3-spanid': spanId,
    ...(parentId === null ? {} : { 'x-b3-parentspanid': parentId }),
    'x-b3-sampled': isSampled ? '1' : '0',
  };
}

/** Reads the trace stored with an event; `undefined` if there is none. */
export function storedTrace(json: Json | undefined): TraceContext | undefined {
  if (!isJsonObject(json)) return undefined;
  const { trace_id: traceId, span_id: spanId, sampling_state: sampling } = json;
  if (typeof traceId !== 'string' || !TRACE_ID.test(traceId) || typeof spanId !== 'string' || !SPAN_ID.test(spanId)) return undefined;
  return { traceId: traceId.toLowerCase(), spanId: spanId.toLowerCase(), isSampled: sampling !== '0' };
}

/** Returns W3C Trace Context and B3 headers for a call that is part of the trace. */
export function traceHeaders({ traceId, spanId, isSampled }: TraceContext): Record<string, string> {
  const span = randomBytes(8).toString('hex');
  return {
    traceparent: `00-${traceId.padStart(32, '0')}-${span}-${isSampled ? '01' : '00'}`,
    'x-b3-traceid': traceId,
    'x-b3-spanid': span,
    'x-b3-parentspanid': spanId,
    'x-b3-sampled': isSampled ? '1' : '0',
  };
}
