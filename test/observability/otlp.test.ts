import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLogger, type LogFormat, type Logger } from '../../src/observability/logger.ts';
import { ALL_METRICS } from '../../src/app/all-metrics.ts';
import { type CollectedLine, type CollectedMetric, type Collector, startCollector } from '../support/collector.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const LOG_TYPES = new Set(['startup', 'http-log', 'query-log', 'websocket-log', 'webhook-log']);

interface WrittenLog {
  readonly logger: Logger;
  /** The written log lines. */
  lines(): Promise<readonly string[]>;
  close(): void;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-otlp-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writtenLog(name: string, format: LogFormat): WrittenLog {
  const file = join(folder, name);
  const destination = openSync(file, 'w');
  const logger = createLogger({ level: 'info', enabledTypes: LOG_TYPES, format, destination });
  return {
    logger,
    async lines() {
      await logger.settle();
      return readFileSync(file, 'utf8').trimEnd().split('\n');
    },
    close: () => closeSync(destination),
  };
}

const post = (service: TestService, query: string, headers: Record<string, string> = {}) =>
  service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });

const droppedLines = async (service: TestService, reason: string): Promise<number> => {
  const { text } = await service.send('/v1/metrics');
  return Number(new RegExp(`svc_otel_dropped_logs_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1]);
};

describe('an OTLP export configured by the environment', () => {
  let collector: Collector;
  let service: TestService;
  let log: WrittenLog;
  beforeAll(async () => {
    collector = await startCollector();
    log = writtenLog('environment', 'json');
    service = await startTestService(
      { ENABLED_APIS: 'graphql,metadata,metrics', ENABLED_LOG_TYPES: [...LOG_TYPES].join(',') },
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-key=of%20logs',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_SERVICE_NAME: 'shop',
        OTEL_METRIC_EXPORT_INTERVAL: '100',
        OTEL_BLRP_SCHEDULE_DELAY: '10',
        OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: '16',
        OTEL_BLRP_MAX_QUEUE_SIZE: '64',
      },
      log.logger,
    );
    await service.sql('create table note (id int primary key)');
    await service.metadata('pg_track_table', { table: 'note' });
  });
  afterAll(async () => {
    await service.stop();
    log.close();
    await collector.close();
  });

  it('sends all metrics of the page, with its values', async () => {
    await post(service, '{ note { id } }');
    await post(service, 'query Named { note { id } }');
    await post(service, '{ nothing }');
    await vi.waitFor(async () => {
      const page = pageOf((await service.send('/v1/metrics')).text);
      const sent = new Map<string, string>();
      for (const [name, metric] of collector.metrics.at(-1) ?? []) for (const [key, value] of seriesOf(name, metric)) sent.set(key, value);
      expect([...sent.keys()].sort()).toEqual([...page.keys()].sort());
      const still = ([key]: readonly [string, string]): boolean => !isMoving(key);
      expect(new Map([...sent].filter(still))).toEqual(new Map([...page].filter(still)));
    }, WAIT);
    const last = collector.metrics.at(-1) as ReadonlyMap<string, CollectedMetric>;
    const counter = last.get('svc_graphql_requests_total') as CollectedMetric;
    expect(counter).toMatchObject({
      kind: 'sum',
      temporality: 2,
      isMonotonic: true,
      description: expect.stringContaining('GraphQL operations'),
    });
    const named = counter.points.find(({ attributes }) => attributes['operation_name'] === 'Named');
    expect(named).toMatchObject({ value: 1, attributes: { operation_type: 'query', response_status: 'success' } });
    expect(named?.start !== null && (named?.start ?? 0n) < (named?.time ?? 0n)).toBe(true);
    expect(last.get('svc_graphql_execution_time_seconds')).toMatchObject({ kind: 'histogram', temporality: 2, unit: 's' });
    expect(last.get('svc_http_request_bytes_total')).toMatchObject({ kind: 'sum', unit: 'By' });
    expect(last.get('svc_ready')).toMatchObject({ kind: 'gauge', isMonotonic: false, points: [{ start: null, value: 1, attributes: {} }] });
    for (const { name, type } of ALL_METRICS) {
      const found = last.get(name);
      if (found !== undefined) expect([name, found.kind]).toEqual([name, type === 'counter' ? 'sum' : type]);
    }
    expect([...last.keys()]).toEqual(expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_gc_duration_seconds']));
  });

  it('sends all log lines, those of the start included', async () => {
    await post(service, '{ note { id } }', { 'x-request-id': 'the-last', 'content-type': 'application/json' });
    await vi.waitFor(() => expect(requestsOf(collector.lines)).toContain('the-last'), WAIT);
    const written = (await log.lines()).map((line) => JSON.parse(line) as Record<string, unknown>);
    const told = collector.lines.map(({ level, attributes, body }) => ({ level, type: attributes['type'], detail: body }));
    const last = written.findLastIndex(({ type, detail }) => type === 'http-log' && (detail as any).request_id === 'the-last');
    expect(told.slice(0, last + 1)).toEqual(written.slice(0, last + 1).map(({ level, type, detail }) => ({ level, type, detail })));
    expect(told[0]).toMatchObject({ type: 'startup', detail: { kind: 'server_configuration' } });
    for (const [i, { time, severity, level }] of collector.lines.slice(0, last + 1).entries()) {
      expect(severity).toBe({ info: 9, warn: 13, error: 17 }[level as 'info']);
      const printed = Date.parse(String(written[i]?.['timestamp']).replace('+0000', 'Z'));
      expect(time).toBe(BigInt(printed) * 1_000_000n);
    }
    expect(collector.headersOf.get('/v1/logs')).toMatchObject({ 'x-key': 'of logs', 'content-encoding': 'gzip' });
    expect(collector.headersOf.get('/v1/metrics')).not.toHaveProperty('x-key');
    expect(collector.resource).toMatchObject({ 'service.name': 'shop' });
  });

  it.runIf(DEEP)('drops lines if the collector fails, reports it once, and does not export its own effects', async () => {
    const isOfLines = (event: string) =>
      service.observations.filter((o) => o.kind === 'telemetry' && o.data === 'log lines' && o.event === event);
    collector.status = 500;
    await vi.waitFor(async () => {
      expect((await post(service, '{ note { id } }')).status).toBe(200);
      expect(await droppedLines(service, 'send_failed')).toBeGreaterThan(20);
    }, WAIT);
    expect(isOfLines('unavailable')).toHaveLength(1);
    const known = collector.lines.length;
    collector.status = 200;
    // Content that the collector does not read is no reason for a retry.
    collector.body = 'x'.repeat(1_000_000);
    await vi.waitFor(async () => {
      await post(service, '{ note { id } }');
      expect(isOfLines('available')).toHaveLength(1);
    }, WAIT);
    await post(service, '{ note { id } }', { 'x-request-id': 'after-it' });
    await vi.waitFor(() => expect(requestsOf(collector.lines)).toContain('after-it'), WAIT);
    collector.body = '';
    expect(isOfLines('unavailable')).toHaveLength(1);
    expect(requestsOf(collector.lines).filter((id) => id === 'after-it')).toHaveLength(1);
    expect(collector.lines.slice(known).filter(({ attributes }) => attributes['type'] === 'opentelemetry')).toEqual([]);
    expect((await log.lines()).filter((line) => line.includes('"type":"opentelemetry"') && line.includes('log lines'))).toHaveLength(2);
  });

  it.runIf(DEEP)('drops lines beyond the buffer if the collector does not respond', async () => {
    collector.status = null;
    await vi.waitFor(async () => {
      await Promise.all(Array.from({ length: 20 }, () => post(service, '{ note { id } }')));
      expect(await droppedLines(service, 'buffer_full')).toBeGreaterThan(0);
    }, WAIT);
    collector.status = 200;
    collector.hangUp();
    await vi.waitFor(async () => {
      await post(service, '{ note { id } }', { 'x-request-id': 'taken-again' });
      expect(requestsOf(collector.lines)).toContain('taken-again');
    }, WAIT);
  });
});

describe('an OTLP export configured by the metadata', () => {
  let collector: Collector;
  let service: TestService;
  let log: WrittenLog;
  let isStopped = false;
  beforeAll(async () => {
    collector = await startCollector();
    log = writtenLog('metadata', 'text');
    // The timer does not fire before the end of the test.
    const never = '1000000000';
    service = await startTestService(
      { ENABLED_APIS: 'graphql,metadata', ENABLED_LOG_TYPES: [...LOG_TYPES].join(',') },
      { COLLECTOR: collector.url, OTEL_METRIC_EXPORT_INTERVAL: never, OTEL_BLRP_SCHEDULE_DELAY: never, OTEL_BSP_SCHEDULE_DELAY: never },
      log.logger,
    );
  });
  afterAll(async () => {
    if (!isStopped) await service.stop();
    log.close();
    await collector.close();
  });
  const config = {
    status: 'enabled',
    data_types: ['traces', 'metrics', 'logs'],
    exporter_otlp: {
      otlp_traces_endpoint: '{{COLLECTOR}}/v1/traces',
      otlp_metrics_endpoint: '{{COLLECTOR}}/v1/metrics',
      otlp_logs_endpoint: '{{COLLECTOR}}/v1/logs',
      headers: [{ name: 'x-key', value: 'a' }],
      resource_attributes: [{ name: 'team', value: 'b' }],
    },
  };
  const countOf = (metrics: ReadonlyMap<string, CollectedMetric> | undefined): number =>
    (metrics?.get('svc_graphql_requests_total')?.points ?? []).reduce((sum, { value }) => sum + Number(value), 0);

  it('begins to count and send when it is enabled, and stops when it is disabled', async () => {
    await post(service, '{ __typename }');
    await service.metadata('set_opentelemetry_config', config);
    expect(await service.metadata('export_metadata', {})).toMatchObject({ opentelemetry: config });
    await post(service, '{ __typename }', { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, 'x-request-id': 'traced' });
    await service.sql('select 1');
    expect(collector.requests).toBe(0);
    await service.metadata('set_opentelemetry_status', 'disabled');
    await vi.waitFor(
      () => expect([collector.spans.length > 0, collector.metrics.length, collector.lines.length > 0]).toEqual([true, 1, true]),
      WAIT,
    );
    // The first request was not counted, and a disabled export sends nothing.
    expect(countOf(collector.metrics[0])).toBe(1);
    const server = collector.spans.find(({ traceId, name }) => traceId === TRACE && name === 'POST /v1/graphql');
    const line = collector.lines.find(({ attributes, body }) => attributes['type'] === 'http-log' && (body as any).request_id === 'traced');
    expect(line).toMatchObject({ traceId: TRACE, spanId: server?.spanId });
    const query = collector.lines.find(({ attributes, traceId }) => attributes['type'] === 'query-log' && traceId === TRACE);
    expect(collector.spans.map(({ spanId }) => spanId)).toContain(query?.spanId);
    expect(collector.lines.filter(({ attributes, spanId }) => attributes['type'] === 'audit' && spanId !== '')).toHaveLength(1);
    expect([collector.headers['x-key'], collector.resource['team']]).toEqual(['a', 'b']);
    const before = collector.lines.length;
    await post(service, '{ __typename }', { 'x-request-id': 'unseen' });
    await service.metadata('set_opentelemetry_status', 'enabled');
    await post(service, '{ __typename }', { 'x-request-id': 'seen' });
    isStopped = true;
    await service.stop();
    const after = collector.lines.slice(before);
    expect(requestsOf(after)).toContain('seen');
    expect(requestsOf(after)).not.toContain('unseen');
    // The log is text, yet lines are exported with their structure, until the very end.
    expect(after.at(-1)).toMatchObject({ body: { kind: 'shutdown', info: 'finishing requests' }, attributes: { type: 'startup' } });
    expect(collector.metrics).toHaveLength(2);
    expect(countOf(collector.metrics[1])).toBe(2);
  });
});

function requestsOf(lines: readonly CollectedLine[]): readonly unknown[] {
  return lines.flatMap(({ attributes, body }) => (attributes['type'] === 'http-log' ? [(body as any).request_id] : []));
}

/** Metrics that change when idle, and those that exports and requests themselves change. */
function isMoving(key: string): boolean {
  return /^(process_|nodejs_|svc_(metadata_sync_lag|postgres_|otel_|http_connections|outbound_))/.test(key);
}

/** Lines of the page: name and labels, with the value. */
function pageOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const pairs = [...labels.matchAll(/([a-z_0-9]+)="((?:[^"\\]|\\.)*)"/gi)].map(([, label, text = '']) => [label, text] as const);
    found.set(keyOf(name, pairs), String(Number(value.replace(/^Nan$/, 'NaN'))));
  }
  return found;
}

function keyOf(name: string, labels: readonly (readonly [string | undefined, unknown])[]): string {
  return `${name} ${JSON.stringify([...labels].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)))}`;
}

/** Exported points in the form of these lines. */
function seriesOf(name: string, { points }: CollectedMetric): readonly (readonly [string, string])[] {
  return points.flatMap(({ attributes, value }) => {
    const labels = Object.entries(attributes).map(([label, text]) => [label, String(text)] as const);
    if (typeof value === 'number') return [[keyOf(name, labels), String(value)] as const];
    let sum = 0;
    const buckets = value.counts.map((count, i) => {
      sum += count;
      return [keyOf(`${name}_bucket`, [...labels, ['le', String(value.bounds[i] ?? '+Inf')]]), String(sum)] as const;
    });
    return [
      ...buckets,
      [keyOf(`${name}_sum`, labels), String(value.sum)] as const,
      [keyOf(`${name}_count`, labels), String(value.count)] as const,
    ];
  });
}
