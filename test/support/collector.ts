/** An OpenTelemetry collector: receives exports over HTTP and decodes them by the protocol definition, with a separate library. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** The messages of opentelemetry-proto 1 in use. */
const PROTOCOL = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  uint32 dropped_attributes_count = 10; Status status = 15; fixed32 flags = 16;
}
message Status { string message = 2; int32 code = 3; }
message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; string schema_url = 3; }
message ScopeMetrics { InstrumentationScope scope = 1; repeated Metric metrics = 2; string schema_url = 3; }
message Metric { string name = 1; string description = 2; string unit = 3; oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; } }
message Gauge { repeated NumberDataPoint data_points = 1; }
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message NumberDataPoint {
  repeated KeyValue attributes = 7; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; sfixed64 as_int = 6; } uint32 flags = 8;
}
message HistogramDataPoint {
  repeated KeyValue attributes = 9; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; fixed64 count = 4; optional double sum = 5;
  repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; uint32 flags = 10; optional double min = 11; optional double max = 12;
}
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; string schema_url = 3; }
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; string schema_url = 3; }
message LogRecord {
  fixed64 time_unix_nano = 1; fixed64 observed_time_unix_nano = 11; int32 severity_number = 2; string severity_text = 3; AnyValue body = 5;
  repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7; fixed32 flags = 8; bytes trace_id = 9; bytes span_id = 10;
}
`;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root span of a trace. */
  readonly parentId: string | null;
  readonly state: string;
  readonly name: string;
  readonly kind: number;
  /** In nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

export interface CollectedMetric {
  readonly description: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  /** 2 is cumulative. */
  readonly temporality: number | undefined;
  readonly isMonotonic: boolean;
  readonly points: readonly CollectedPoint[];
}

export interface CollectedPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** In nanoseconds; null for a gauge. */
  readonly start: bigint | null;
  readonly time: bigint;
  readonly value:
    | number
    | { readonly count: number; readonly sum: number; readonly counts: readonly number[]; readonly bounds: readonly number[] };
}

export interface CollectedLine {
  readonly time: bigint;
  readonly severity: number;
  readonly level: string;
  readonly body: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly traceId: string;
  readonly spanId: string;
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The metrics of each request, by name. */
  readonly metrics: ReadonlyMap<string, CollectedMetric>[];
  readonly lines: CollectedLine[];
  /** From the last request. */
  resource: Readonly<Record<string, unknown>>;
  headers: IncomingHttpHeaders;
  /** From the last request to a path. */
  readonly headersOf: Map<string, IncomingHttpHeaders>;
  /** Status and body of the response; null for no response at all. */
  status: number | null;
  body: string;
  requests: number;
  /** Ends pending requests without a response. */
  hangUp(): void;
  close(): Promise<void>;
}

const { root } = protobuf.parse(PROTOCOL, { keepCase: true });
const TRACES = root.lookupType('ExportTraceServiceRequest');
const METRICS = root.lookupType('ExportMetricsServiceRequest');
const LOGS = root.lookupType('ExportLogsServiceRequest');

interface Value {
  readonly string_value?: string;
  readonly bool_value?: boolean;
  readonly int_value?: string;
  readonly double_value?: number;
  readonly array_value?: { readonly values?: readonly Value[] };
  readonly kvlist_value?: { readonly values?: readonly { readonly key: string; readonly value: Value }[] };
}

function plainOf(value: Value): unknown {
  if (value.array_value !== undefined) return (value.array_value.values ?? []).map(plainOf);
  if (value.kvlist_value !== undefined) return attributesOf(value.kvlist_value.values);
  if (value.int_value !== undefined) return Number(value.int_value);
  return value.string_value ?? value.bool_value ?? value.double_value ?? null;
}

function attributesOf(list: readonly { readonly key: string; readonly value: Value }[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]));
}

/** @throws if the bytes do not follow the protocol */
export function decodeSpans(bytes: Buffer): {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly CollectedSpan[];
} {
  const message = TRACES.toObject(TRACES.decode(bytes), { longs: String, bytes: Array }) as any;
  const hex = (list: number[] | undefined): string => Buffer.from(list ?? []).toString('hex');
  const spans: CollectedSpan[] = [];
  for (const { scope_spans } of message.resource_spans) {
    for (const scope of scope_spans) {
      for (const span of scope.spans) {
        spans.push({
          traceId: hex(span.trace_id),
          spanId: hex(span.span_id),
          parentId: hex(span.parent_span_id) || null,
          state: span.trace_state ?? '',
          name: span.name,
          kind: span.kind,
          start: BigInt(span.start_time_unix_nano),
          end: BigInt(span.end_time_unix_nano),
          attributes: attributesOf(span.attributes),
          isError: span.status?.code === 2,
        });
      }
    }
  }
  return { resource: attributesOf(message.resource_spans[0].resource.attributes), spans };
}

/** @throws if the bytes do not follow the protocol */
export function decodeMetrics(bytes: Buffer): {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly metrics: ReadonlyMap<string, CollectedMetric>;
} {
  const message = METRICS.toObject(METRICS.decode(bytes), { longs: String, arrays: true }) as any;
  const metrics = new Map<string, CollectedMetric>();
  for (const { scope_metrics } of message.resource_metrics) {
    for (const metric of scope_metrics.flatMap((scope: any) => scope.metrics)) {
      const kind = (['gauge', 'sum', 'histogram'] as const).find((each) => metric[each] !== undefined);
      if (kind === undefined) throw new Error(`${metric.name} has no data`);
      const { data_points, aggregation_temporality: temporality, is_monotonic } = metric[kind];
      const points = data_points.map((point: any): CollectedPoint => {
        const { start_time_unix_nano: start, time_unix_nano: time, bucket_counts, explicit_bounds: bounds, sum, count } = point;
        const value = kind === 'histogram' ? { count: Number(count), sum, counts: bucket_counts.map(Number), bounds } : point.as_double;
        return { attributes: attributesOf(point.attributes), start: start === undefined ? null : BigInt(start), time: BigInt(time), value };
      });
      const { description = '', unit = '' } = metric;
      metrics.set(metric.name, { description, unit, kind, temporality, isMonotonic: is_monotonic === true, points });
    }
  }
  return { resource: attributesOf(message.resource_metrics[0].resource.attributes), metrics };
}

/** @throws if the bytes do not follow the protocol */
export function decodeLines(bytes: Buffer): {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly lines: readonly CollectedLine[];
} {
  const message = LOGS.toObject(LOGS.decode(bytes), { longs: String, bytes: Array, arrays: true }) as any;
  const hex = (list: number[] | undefined): string => Buffer.from(list ?? []).toString('hex');
  const records = message.resource_logs.flatMap((each: any) => each.scope_logs).flatMap((scope: any) => scope.log_records);
  const lines = records.map(
    (record: any): CollectedLine => ({
      time: BigInt(record.time_unix_nano),
      severity: record.severity_number,
      level: record.severity_text,
      body: plainOf(record.body),
      attributes: attributesOf(record.attributes),
      traceId: hex(record.trace_id),
      spanId: hex(record.span_id),
    }),
  );
  return { resource: attributesOf(message.resource_logs[0].resource.attributes), lines };
}

export async function startCollector(): Promise<Collector> {
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      collector.requests += 1;
      collector.headers = request.headers;
      collector.headersOf.set(request.url ?? '', request.headers);
      if (collector.status === null) {
        waiting.add(response);
        return;
      }
      if (collector.status === 200) {
        const sent = Buffer.concat(chunks);
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
        collector.resource = taken(collector, request.url ?? '', body);
      }
      response.writeHead(collector.status).end(collector.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    metrics: [],
    lines: [],
    resource: {},
    headers: {},
    headersOf: new Map(),
    status: 200,
    body: '',
    requests: 0,
    hangUp() {
      for (const response of waiting) response.destroy();
      waiting.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}

/** Decodes by the last segment of the path. @returns the resource */
function taken({ spans, metrics, lines }: Collector, url: string, body: Buffer): Readonly<Record<string, unknown>> {
  if (url.endsWith('/metrics')) {
    const found = decodeMetrics(body);
    metrics.push(found.metrics);
    return found.resource;
  }
  if (url.endsWith('/logs')) {
    const found = decodeLines(body);
    lines.push(...found.lines);
    return found.resource;
  }
  const found = decodeSpans(body);
  spans.push(...found.spans);
  return found.resource;
}
