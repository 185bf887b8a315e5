/** Encodes spans as `ExportTraceServiceRequest`. */
import type { EndedSpan, SpanKind } from '../tracing/span.ts';
import { encodeRequest, type TelemetryResource, writeAttributes, type ProtobufWriter } from './wire.ts';

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 };
const STATUS_ERROR = 2;
/** Bit of `trace_flags`. */
const SAMPLED = 1;

export function encodeSpans(spans: readonly EndedSpan[], resource: TelemetryResource): Buffer {
  return encodeRequest(resource, (to) => {
    for (const span of spans) to.message(2, () => writeSpan(to, span));
  });
}

function writeSpan(to: ProtobufWriter, { traceId, spanId, parentId, state, name, kind, start, end, attributes, isError }: EndedSpan): void {
  to.hex(1, traceId);
  to.hex(2, spanId);
  if (state !== null) to.text(3, state);
  if (parentId !== null) to.hex(4, parentId);
  to.text(5, name);
  to.int(6, KINDS[kind]);
  to.time(7, start);
  to.time(8, end);
  writeAttributes(to, 9, attributes);
  if (isError) to.message(15, () => to.int(3, STATUS_ERROR));
  to.fixed32(16, SAMPLED);
}
