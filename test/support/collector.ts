/** A collector of OpenTelemetry: takes what is sent over HTTP and decodes it by the definition of the protocol, with another library. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** The messages of opentelemetry-proto 1 that traces need. */
const PROTOCOL = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; bytes bytes_value = 7; } }
message ArrayValue { repeated AnyValue values = 1; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  uint32 dropped_attributes_count = 10; Status status = 15; fixed32 flags = 16;
}
message Status { string message = 2; int32 code = 3; }
`;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** null: the first of its trace. */
  readonly parentId: string | null;
  readonly state: string;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Of the last request. */
  resource: Readonly<Record<string, unknown>>;
  headers: IncomingHttpHeaders;
  /** What it answers. */
  status: number;
  requests: number;
  close(): Promise<void>;
}

const type = protobuf.parse(PROTOCOL, { keepCase: true }).root.lookupType('ExportTraceServiceRequest');

interface Value {
  readonly string_value?: string;
  readonly bool_value?: boolean;
  readonly int_value?: string;
  readonly double_value?: number;
  readonly array_value?: { readonly values?: readonly Value[] };
}

function plainOf(value: Value): unknown {
  if (value.array_value !== undefined) return (value.array_value.values ?? []).map(plainOf);
  if (value.int_value !== undefined) return Number(value.int_value);
  return value.string_value ?? value.bool_value ?? value.double_value;
}

function attributesOf(list: readonly { readonly key: string; readonly value: Value }[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]));
}

/** @throws where the bytes are not of the protocol */
export function decodeSpans(bytes: Buffer): {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly CollectedSpan[];
} {
  const message = type.toObject(type.decode(bytes), { longs: String, bytes: Array }) as any;
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

export async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      collector.requests += 1;
      collector.headers = request.headers;
      if (collector.status === 200) {
        const body = Buffer.concat(chunks);
        const { resource, spans } = decodeSpans(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
        collector.resource = resource;
        collector.spans.push(...spans);
      }
      response.writeHead(collector.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    resource: {},
    headers: {},
    status: 200,
    requests: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}
