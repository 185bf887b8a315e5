import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Collector, type CollectedSpan, startCollector } from '../support/collector.ts';
import { DEEP } from '../support/deep.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const ENABLED = { status: 'enabled', data_types: ['traces'] };
const THERE = { otlp_traces_endpoint: 'http://127.0.0.1:9/v1/traces' };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
let collector: Collector;
let handler: HandlerServer;
let service: TestService;

beforeAll(async () => {
  collector = await startCollector();
  handler = await startHandlerServer();
  service = await startTestService(
    { ENABLED_APIS: 'graphql,metadata,metrics', ENABLE_QUERY_TRACING: 'true' },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      COLLECTOR: collector.url,
      ON: 'enabled',
      HANDLER: `${handler.url}/hidden`,
    },
  );
  await service.sql('create schema shop; create table shop.note (id int primary key, text text)');
  await service.metadata('pg_track_table', { table: { schema: 'shop', name: 'note' } });
  await service.metadata('set_custom_types', { objects: [{ name: 'Said', fields: [{ name: 'text', type: 'String!' }] }] });
  await service.metadata('create_action', {
    name: 'say',
    definition: { kind: 'synchronous', type: 'query', handler: handler.url, output_type: 'Said' },
  });
  handler.answer = () => ({ body: { text: 'hello' } });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([collector.close(), handler.close()]);
});
beforeEach(() => {
  handler.requests.length = 0;
});

/** Resolves when all spans of the trace have arrived: the root ends last. */
async function spansOf(traceId: string, root: string): Promise<readonly CollectedSpan[]> {
  const found = (): CollectedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  await vi.waitFor(() => expect(found().map(({ name }) => name)).toContain(root), WAIT);
  return found();
}

let traces = 0;
/** Headers of a new trace for each request. */
function newTrace(): string {
  traces += 1;
  return TRACE.slice(0, 24) + String(traces).padStart(8, '0');
}

async function post(query: string, headers: Record<string, string>, variables = {}) {
  return service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`${name} is not among ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

describe('a traced request', () => {
  it("is a tree of spans below the caller's span", async () => {
    const trace = newTrace();
    await post(
      'query Notes($secret: String) { shop_note(where: {text: {_eq: $secret}}) { id } }',
      { traceparent: `00-${trace}-${CALLER}-01`, tracestate: 'vendor=1', 'x-request-id': 'mine' },
      { secret: 'do-not-tell' },
    );
    const spans = await spansOf(trace, 'POST /v1/graphql');
    const server = named(spans, 'POST /v1/graphql');
    expect(server).toMatchObject({
      parentId: CALLER,
      kind: 2,
      state: 'vendor=1',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/graphql',
        'http.response.status_code': 200,
        'svc.request_id': 'mine',
        'user.roles': ['admin'],
      },
    });
    const operation = named(spans, 'query');
    expect(operation).toMatchObject({
      parentId: server.spanId,
      kind: 1,
      attributes: { 'graphql.operation.type': 'query', 'graphql.operation.name': 'Notes' },
    });
    expect(named(spans, 'graphql.parse').parentId).toBe(operation.spanId);
    expect(named(spans, 'graphql.plan').parentId).toBe(operation.spanId);
    const statement = named(spans, 'SELECT shop.note');
    expect(statement).toMatchObject({
      parentId: operation.spanId,
      kind: 3,
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': 'SELECT',
        'db.collection.name': 'shop.note',
        'svc.source': 'default',
        'db.query.text': expect.stringContaining('"note"'),
      },
    });
    expect(statement.attributes['server.port']).toEqual(expect.any(Number));
    for (const { start, end } of spans) {
      expect(start >= server.start - 1_000_000n && end <= server.end + 1_000_000n).toBe(true);
    }
    expect(JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('do-not-tell');
    expect(collector.resource).toMatchObject({
      'service.name': 'shop',
      'deployment.environment.name': 'test',
      'service.instance.id': expect.any(String),
    });
    expect(collector.headers).toMatchObject({ 'x-key': 'a b', 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' });
  });

  it('has no spans for parsing and planning the second time', async () => {
    const trace = newTrace();
    await post(
      'query Notes($secret: String) { shop_note(where: {text: {_eq: $secret}}) { id } }',
      {
        'x-b3-traceid': trace,
        'x-b3-spanid': CALLER,
        'x-b3-sampled': '1',
      },
      { secret: 'x' },
    );
    const spans = await spansOf(trace, 'POST /v1/graphql');
    expect(spans.map(({ name }) => name).sort()).toEqual(['POST /v1/graphql', 'SELECT shop.note', 'query']);
  });

  it('propagates its trace to the handler of an action, in both formats', async () => {
    const trace = newTrace();
    await post('{ say { text } }', { traceparent: `00-${trace}-${CALLER}-01`, tracestate: 'vendor=1' });
    const spans = await spansOf(trace, 'POST /v1/graphql');
    const call = named(spans, 'POST');
    expect(call).toMatchObject({
      kind: 3,
      parentId: named(spans, 'query').spanId,
      attributes: { 'http.response.status_code': 200, 'svc.call': 'action' },
    });
    expect(handler.requests[0]?.headers).toMatchObject({
      traceparent: `00-${trace}-${call.spanId}-01`,
      tracestate: 'vendor=1',
      'x-b3-traceid': trace,
      'x-b3-spanid': call.spanId,
      'x-b3-sampled': '1',
    });
  });

  it('omits parts of URL paths from the environment', async () => {
    const definition = { kind: 'synchronous', type: 'query', handler: '{{HANDLER}}/known', output_type: 'Said' };
    await service.metadata('create_action', { name: 'ask', definition });
    const trace = newTrace();
    await post('{ ask { text } }', { traceparent: `00-${trace}-${CALLER}-01` });
    const call = named(await spansOf(trace, 'POST /v1/graphql'), 'POST');
    expect(call.attributes['url.full']).toBe(`${handler.url.replace(/\/$/, '')}/***/known`);
    expect(handler.requests.length).toBe(1);
  });

  it('propagates the decision not to sample', async () => {
    const before = collector.spans.length;
    const trace = newTrace();
    await post('{ say { text } }', { traceparent: `00-${trace}-${CALLER}-00` });
    expect(handler.requests[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
    const other = newTrace();
    await post('{ shop_note { id } }', { traceparent: `00-${other}-${CALLER}-01` });
    await spansOf(other, 'POST /v1/graphql');
    expect(collector.spans.slice(before).filter(({ traceId }) => traceId === trace)).toEqual([]);
  });

  it('has error status for faults of the service and of databases, but not of the client', async () => {
    await service.sql(`create function shop.broken() returns setof shop.note language sql stable as 'select 1 / 0, null'`);
    await service.metadata('pg_track_function', { function: { schema: 'shop', name: 'broken' } });
    const [wrong, failing] = [newTrace(), newTrace()];
    await post('{ nothing }', { traceparent: `00-${wrong}-${CALLER}-01` });
    await post('mutation { insert_shop_note_one(object: {id: 1}) { id } again: insert_shop_note_one(object: {id: 1}) { id } }', {
      traceparent: `00-${failing}-${CALLER}-01`,
    });
    const spans = await spansOf(wrong, 'POST /v1/graphql');
    expect(spans.map(({ isError }) => isError)).not.toContain(true);
    expect(named(spans, 'query').attributes).toMatchObject({ 'svc.error.code': 'validation-failed' });
    const statement = (await spansOf(failing, 'POST /v1/graphql')).find(({ kind }) => kind === 3);
    expect(statement).toMatchObject({
      isError: true,
      attributes: { 'error.type': '23505', 'db.response.status_code': '23505', 'db.operation.batch.size': 2 },
    });
  });

  it('has its trace id in the log', async () => {
    const trace = newTrace();
    await post('{ shop_note { id } }', { traceparent: `00-${trace}-${CALLER}-01` });
    const logged = service.observations.filter(({ kind }) => kind === 'http').at(-1);
    expect(logged).toMatchObject({ trace: { traceId: trace, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) } });
  });

  it.each(['/healthz', '/livez', '/v1/metrics'])('is not sampled for %s', async (path) => {
    const [trace, other] = [newTrace(), newTrace()];
    await service.send(path, { headers: { traceparent: `00-${trace}-${CALLER}-01` } });
    await post('{ shop_note { id } }', { traceparent: `00-${other}-${CALLER}-01` });
    await spansOf(other, 'POST /v1/graphql');
    expect(collector.spans.some(({ traceId }) => traceId === trace)).toBe(false);
  });

  it('of the metadata API has the name of its operation', async () => {
    const trace = newTrace();
    await service.send('/v1/metadata', {
      method: 'POST',
      headers: { traceparent: `00-${trace}-${CALLER}-01` },
      body: JSON.stringify({ type: 'export_metadata', args: {} }),
    });
    const spans = await spansOf(trace, 'POST /v1/metadata');
    expect(named(spans, 'metadata export_metadata').parentId).toBe(named(spans, 'POST /v1/metadata').spanId);
  });
});

it('propagates the trace of a change to the webhook of its event', async () => {
  await service.metadata('pg_create_event_trigger', {
    name: 'on_note',
    table: { schema: 'shop', name: 'note' },
    webhook: handler.url,
    insert: { columns: '*' },
  });
  const trace = newTrace();
  await post('mutation { insert_shop_note_one(object: {id: 77}) { id } }', { traceparent: `00-${trace}-${CALLER}-01` });
  const spans = await spansOf(trace, 'process on_note');
  const insert = named(spans, 'INSERT shop.note');
  const process = named(spans, 'process on_note');
  expect(process).toMatchObject({ kind: 5, parentId: named(spans, 'mutation').spanId });
  expect(process.attributes).toMatchObject({ 'messaging.system': 'svc', 'messaging.destination.name': 'on_note', 'svc.tries': 0 });
  expect(insert.parentId).toBe(named(spans, 'mutation').spanId);
  expect(handler.requests.at(-1)?.headers['traceparent']).toContain(`00-${trace}-`);
});

it('traces each operation over a websocket separately', async () => {
  const trace = newTrace();
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/graphql`, 'graphql-transport-ws');
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { headers: { traceparent: `00-${trace}-${CALLER}-01` } } }));
  await new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ shop_note { id } }' } }));
  const spans = await spansOf(trace, 'websocket operation');
  expect(named(spans, 'query').parentId).toBe(named(spans, 'websocket operation').spanId);
  socket.close();
});

describe('the trace collector', () => {
  it('loses spans without other effects if it is unreachable, and they are counted', async () => {
    collector.status = 400;
    try {
      expect((await post('{ shop_note { id } }', {})).status).toBe(200);
      await vi.waitFor(async () => {
        const { text } = await service.send('/v1/metrics');
        expect(Number(/svc_otel_dropped_spans_total\{reason="send_failed"\} (\d+)/.exec(text)?.[1])).toBeGreaterThan(0);
      }, WAIT);
      expect(service.observations.some((each) => each.kind === 'telemetry' && each.data === 'spans')).toBe(true);
    } finally {
      collector.status = 200;
    }
  });

  it('is the one of the metadata while that is enabled', async () => {
    const config = {
      status: 'enabled',
      data_types: ['traces'],
      exporter_otlp: { otlp_traces_endpoint: '{{COLLECTOR}}/of-metadata', resource_attributes: [{ name: 'team', value: 'a' }] },
    };
    await service.metadata('set_opentelemetry_config', config);
    expect(await service.metadata('export_metadata', {})).toMatchObject({ opentelemetry: config });
    const trace = newTrace();
    await post('{ shop_note { id } }', { traceparent: `00-${trace}-${CALLER}-01` });
    await vi.waitFor(() => expect(collector.spans.some(({ traceId }) => traceId === trace)).toBe(true), WAIT);
    expect(collector.resource).toMatchObject({ team: 'a', 'service.name': 'shop' });
    expect(collector.headers['x-key']).toBeUndefined();
    await service.metadata('set_opentelemetry_status', 'disabled');
    expect(await service.metadata('export_metadata', {})).toMatchObject({ opentelemetry: { ...config, status: 'disabled' } });
  });

  it.each([
    [{ status: 'enabled', data_types: ['traces'] }, 'Traces export is enabled but tracing endpoint missing'],
    [{ status: 'on' }, 'or a variable such as'],
    [{ batch_span_processor: { max_export_batch_size: 0 } }, 'max_export_batch_size must be a positive integer'],
    [{ exporter_otlp: { protocol: 'grpc' } }, 'http/protobuf'],
    [{ status: 'enabled', data_types: ['metrics'] }, 'Metrics export is enabled but metrics endpoint missing'],
    [
      { status: 'enabled', data_types: ['logs'], exporter_otlp: { otlp_logs_endpoint: '' } },
      'Logs export is enabled but logs endpoint missing',
    ],
    [{ status: 'enabled', data_types: ['traces', 'logs'], exporter_otlp: THERE }, 'Logs export is enabled but logs endpoint missing'],
    [{ ...ENABLED, exporter_otlp: { ...THERE, otlp_metrics_endpoint: 'ftp://a' } }, 'no http or https URL'],
    [{ data_types: ['traces'], endpoint: 'x' }, 'endpoint'],
    [{ exporter_otlp: { otlp_traces_endpoint: 'file:///etc/passwd' } }, 'no http or https URL'],
    [{ ...ENABLED, exporter_otlp: { otlp_traces_endpoint: '{{NOWHERE}}/v1' } }, 'not found: NOWHERE'],
    [{ ...ENABLED, exporter_otlp: { ...THERE, headers: [{ name: 'x-key', value_from_env: 'NO_KEY' }] } }, "'NO_KEY' not set"],
    [{ ...ENABLED, exporter_otlp: { ...THERE, headers: [{ name: 'a b', value: 'c' }] } }, 'cannot be the name of a header'],
    [{ status: '{{NO_STATUS}}' }, 'not found: NO_STATUS'],
  ])('cannot be %j', async (config, message) => {
    await expect(service.metadata('set_opentelemetry_config', config)).rejects.toThrow(message);
  });

  it.runIf(DEEP)('is named without its path if it is unreachable', async () => {
    const config = { ...ENABLED, exporter_otlp: { otlp_traces_endpoint: 'http://127.0.0.1:9/token-of-ours/v1/traces' } };
    await service.metadata('set_opentelemetry_config', config);
    const lost = (): readonly string[] =>
      service.observations.flatMap((each) => (each.kind === 'telemetry' && each.message.includes('127.0.0.1:9') ? [each.message] : []));
    await post('{ shop_note { id } }', { traceparent: `00-${newTrace()}-${CALLER}-01` });
    await vi.waitFor(() => expect(lost()).toHaveLength(1), WAIT);
    expect(lost()[0]).not.toContain('token-of-ours');
    await service.metadata('set_opentelemetry_status', 'disabled');
  });

  it.runIf(DEEP)('causes a warning if an import disables it while its status is a variable', async () => {
    const before = (await service.metadata('export_metadata', {})) as Record<string, never>;
    const metadata = { ...before, opentelemetry: { status: '{{ON}}', data_types: ['metrics'] } };
    const answer = await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata }, { version: 2 });
    expect(JSON.stringify(answer)).toContain('Metrics export is enabled but metrics endpoint missing');
    await service.metadata('drop_inconsistent_metadata', {});
  });

  it.runIf(DEEP)('causes a warning if an import names one that cannot be called', async () => {
    const before = (await service.metadata('export_metadata', {})) as Record<string, never>;
    const metadata = { ...before, opentelemetry: { ...ENABLED, exporter_otlp: { otlp_traces_endpoint: '{{NOWHERE}}' } } };
    await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata }, { version: 2 });
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({
      inconsistent_objects: [{ type: 'opentelemetry', reason: expect.stringContaining('NOWHERE') as string }],
    });
    await service.metadata('drop_inconsistent_metadata', {});
    expect(await service.metadata('export_metadata', {})).not.toHaveProperty('opentelemetry');
  });
});
