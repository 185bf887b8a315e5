/** By which a client's request is followed through several services. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../util/json.ts';

const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;
const TRACE_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i;
const SPAN_ID = /^[0-9a-f]{16}$/i;
const SAMPLED = 1;

/** What W3C Trace Context or B3 headers say, as it is kept with events; null when they say nothing. */
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

/** `d` asks for more than sampling, and for that too. Undefined: nobody has decided. */
function samplingState(sampled: string | undefined): '0' | '1' | undefined {
  if (sampled === '1' || sampled === 'd' || sampled === 'true') return '1';
  return sampled === '0' || sampled === 'false' ? '0' : undefined;
}

function context(trace: string, span: string, sampled: '0' | '1' | undefined): JsonObject | null {
  if (!TRACE_ID.test(trace) || !SPAN_ID.test(span)) return null;
  return { trace_id: trace.toLowerCase(), span_id: span.toLowerCase(), ...(sampled === undefined ? {} : { sampling_state: sampled }) };
}
