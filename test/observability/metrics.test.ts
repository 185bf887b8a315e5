import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ALL_METRICS } from '../../src/app/all-metrics.ts';
import { startHandlerServer, type HandlerServer } from '../support/handler-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { WAIT } from '../support/wait.ts';

const METRICS_SECRET = 'metrics-only';
let service: TestService;
let hook: HandlerServer;

beforeAll(async () => {
  hook = await startHandlerServer();
  service = await startTestService({
    ENABLED_APIS: 'graphql,metadata,metrics',
    ADMIN_SECRET: 'of-admins',
    METRICS_SECRET,
    METRICS_MAX_OPERATIONS: '3',
  });
  await service.sql('create table note (id int primary key, text text); insert into note values (1, $$one$$)');
  await service.metadata('pg_track_table', { table: 'note' });
});
afterAll(async () => {
  await service.stop();
  await hook.close();
});

function scrape(authorization = `Bearer ${METRICS_SECRET}`): ReturnType<TestService['send']> {
  return service.send('/v1/metrics', { headers: { authorization } });
}

/** The value of one line of the text; undefined if there is none. */
async function sample(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  const { text } = await scrape();
  const line = text
    .split('\n')
    .find(
      (each) => new RegExp(`^${name}[{ ]`).test(each) && Object.entries(labels).every(([key, value]) => each.includes(`${key}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

describe('the metrics endpoint', () => {
  it('requires its secret, and returns the Prometheus format', async () => {
    const answer = await scrape();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it.each(['', 'Bearer wrong', 'Bearer of-admins', `Basic ${METRICS_SECRET}`])('rejects %j', async (authorization) => {
    const answer = await scrape(authorization);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('exposes every metric of the table, with HELP and TYPE', async () => {
    const { text } = await scrape();
    for (const { name, type, help } of ALL_METRICS) {
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    }
  });

  it('exposes exactly the metrics of the reference page', async () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'metrics.md'), 'utf8');
    const listed = [...page.matchAll(/^(?:\| |- )`([a-z_0-9]+)`/gm)].map(([, name]) => name);
    const told = [...(await scrape()).text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    const missing = listed.filter((name) => !told.includes(name));
    expect(process.platform === 'linux' ? missing : missing.filter((name) => !name?.startsWith('process_'))).toEqual([]);
    expect(told.filter((name) => !listed.includes(name))).toEqual([]);
  });

  it('satisfies promtool, if it is installed', async (context) => {
    const { text } = await scrape();
    const done = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (done.error !== undefined) context.skip('promtool (the package prometheus) is not installed');
    expect([done.status, done.stdout + done.stderr]).toEqual([0, '']);
  });
});

describe('metrics', () => {
  it('count each operation by name and outcome', async () => {
    for (let i = 0; i < 3; i++) await service.graphql('query Counted { note { id } }');
    await service.graphql('query Counted { note { id } }', { role: 'stranger' });
    expect(await sample('svc_graphql_requests_total', { operation_name: 'Counted', response_status: 'success' })).toBe(3);
    expect(await sample('svc_graphql_requests_total', { operation_type: 'unknown', response_status: 'failed' })).toBe(0);
    expect(await sample('svc_graphql_errors_total', { code: 'validation-failed' })).toBe(1);
    expect(await sample('svc_graphql_execution_time_seconds_count', { operation_type: 'query' })).toBe(3);
    await service.graphql('{ broken');
    expect(await sample('svc_graphql_requests_total', { operation_type: 'unknown', response_status: 'failed' })).toBe(1);
  });

  it('name a limited number of operations, those of collections first', async () => {
    await service.metadata('create_query_collection', {
      name: 'kept',
      definition: { queries: [{ name: 'mine', query: 'query Collected { note { id } }' }] },
    });
    for (const name of ['A', 'B', 'C', 'D', 'E', 'Collected']) await service.graphql(`query ${name} { note { text } }`);
    const { text } = await scrape();
    const names = new Set([...text.matchAll(/svc_graphql_requests_total\{[^}]*operation_name="([^"]*)"/g)].map(([, name]) => name));
    expect(names.size).toBeLessThanOrEqual(3 + 3 + 2);
    expect(names).toContain('Collected');
    expect(names).not.toContain('E');
    expect(await sample('svc_graphql_requests_total', { operation_name: '_other', response_status: 'success' })).toBeGreaterThan(0);
  });

  it('count each request by its route, never by its path', async () => {
    await service.send('/api/rest/nothing/here?secret=1');
    await service.send('/nowhere/at/all');
    expect(await sample('svc_http_requests_total', { endpoint: '/v1/graphql', method: 'POST', status: '2xx' })).toBeGreaterThan(0);
    expect(await sample('svc_http_requests_total', { endpoint: '/api/rest/*' })).toBe(1);
    expect(await sample('svc_http_requests_total', { endpoint: 'unknown' })).toBe(1);
    const { text } = await scrape();
    expect(text).not.toContain('nowhere');
    expect(text).not.toContain('endpoint="/v1/metrics"');
  });

  it('describe the connection pool and the metadata', async () => {
    const source = { source_name: 'default', role: 'primary' };
    expect(await sample('svc_postgres_query_time_seconds_count', source)).toBeGreaterThan(3);
    expect(await sample('svc_postgres_pool_max_connections', source)).toBe(10);
    expect(await sample('svc_postgres_connection_init_time_seconds_count', source)).toBeGreaterThan(0);
    expect(await sample('svc_metadata_resource_version')).toBeGreaterThan(1);
    expect(await sample('svc_metadata_changes_total', { result: 'ok' })).toBeGreaterThan(1);
    await expect(service.metadata('pg_track_table', { table: 'missing' })).rejects.toThrow();
    expect(await sample('svc_metadata_changes_total', { result: 'refused' })).toBe(1);
    expect(await sample('svc_ready')).toBe(1);
    expect(await sample('svc_auth_requests_total', { place: 'header', result: 'accepted' })).toBeGreaterThan(0);
  });

  it('count reached limits', async () => {
    await service.metadata('pg_create_select_permission', { table: 'note', role: 'reader', permission: { columns: '*', filter: {} } });
    await service.metadata('set_api_limits', { disabled: false, depth_limit: { global: 1, per_role: {} } });
    await service.graphql('{ note { id } note_by_pk(id: 1) { id } }', { role: 'reader' });
    await service.metadata('remove_api_limits', {});
    expect(await sample('svc_limit_rejections_total', { limit: 'depth' })).toBe(1);
  });

  it('count deliveries of events and pending events', async () => {
    await service.metadata('pg_create_event_trigger', {
      name: 'on_note',
      table: 'note',
      webhook: hook.url,
      insert: { columns: '*' },
    });
    await service.graphql('mutation { insert_note_one(object: {id: 2}) { id } }');
    const labels = { trigger_name: 'on_note', source_name: 'default', status: 'success' };
    await vi.waitFor(async () => expect(await sample('svc_event_processed_total', labels)).toBe(1), WAIT);
    await vi.waitFor(
      async () => expect(await sample('svc_event_webhook_processing_time_seconds_count', { trigger_name: 'on_note' })).toBe(1),
      WAIT,
    );
    await vi.waitFor(async () => expect(await sample('svc_outbound_requests_total', { kind: 'event', status: '2xx' })).toBe(1), WAIT);
    await vi.waitFor(
      async () => expect(await sample('svc_event_processing_time_seconds_count', { trigger_name: 'on_note' })).toBe(1),
      WAIT,
    );
    await vi.waitFor(
      async () =>
        expect(await sample('svc_events_fetch_query_time_seconds_count', { status: 'success', source_name: 'default' })).toBeGreaterThan(0),
      WAIT,
    );
    await vi.waitFor(async () => expect(await sample('svc_event_trigger_request_bytes_total')).toBeGreaterThan(100), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_events_pending', { source_name: 'default' })).toBeDefined(), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_event_trigger_http_workers_max')).toBe(100), WAIT);
  });

  it('count events of schedules, their delay and their failure', async () => {
    const at = (secondsAgo: number): string => new Date(Date.now() - secondsAgo * 1000).toISOString();
    const hour = 3600;
    await service.metadata('create_scheduled_event', { webhook: hook.url, schedule_at: at(hour), payload: { some: 'thing' } });
    await service.metadata('create_scheduled_event', { webhook: hook.url, schedule_at: at(100 * hour), payload: {} });
    await vi.waitFor(async () => expect(await sample('svc_events_dead_total', { kind: 'oneoff' })).toBe(1), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_oneoff_events_processed_total', { status: 'success' })).toBe(1), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_scheduled_event_delay_seconds_count', { kind: 'oneoff' })).toBe(2), WAIT);
    await vi.waitFor(
      async () => expect(await sample('svc_scheduled_event_delay_seconds_sum', { kind: 'oneoff' })).toBeGreaterThan(100 * hour),
      WAIT,
    );
    await vi.waitFor(async () => expect(await sample('svc_scheduled_trigger_request_bytes_total')).toBeGreaterThan(20), WAIT);
  });

  it('count calls of actions, with bytes', async () => {
    hook.answer = () => ({ body: { text: 'x'.repeat(500) } });
    await service.metadata('set_custom_types', { objects: [{ name: 'Said', fields: [{ name: 'text', type: 'String!' }] }] });
    await service.metadata('create_action', { name: 'say', definition: { type: 'query', handler: hook.url, output_type: 'Said' } });
    await service.graphql('{ say { text } }');
    expect(await sample('svc_action_request_bytes_total')).toBeGreaterThan(20);
    expect(await sample('svc_action_response_bytes_total')).toBeGreaterThan(500);
  });

  it('count subscriptions by operation, and messages of sockets', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
    socket.send({ type: 'connection_init', payload: { headers: { 'x-svc-admin-secret': 'of-admins' } } });
    await socket.next();
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription Counted { note { id } }' } });
    await socket.next();
    const labels = { subscription_kind: 'live-query' };
    const { text } = await scrape();
    // There are more operations than names by now.
    expect(text).toMatch(/svc_active_subscriptions\{subscription_kind="live-query",operation_name="_other",[^}]*\} 1/);
    await vi.waitFor(async () => expect(await sample('svc_subscription_cohorts', labels)).toBe(1), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_subscription_polls_total', { ...labels, result: 'sent' })).toBe(1), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_subscription_polls_total', { ...labels, result: 'failed' })).toBe(0), WAIT);
    expect(text).toMatch(/svc_subscription_total_time_seconds_count\{subscription_kind="live-query",operation_name="_other"[^}]*\} 1/);
    await vi.waitFor(async () => expect(await sample('svc_websocket_message_write_time_seconds_count')).toBeGreaterThan(1), WAIT);
    await vi.waitFor(async () => expect(await sample('svc_websocket_message_queue_time_seconds_count')).toBeGreaterThan(1), WAIT);
    await vi.waitFor(
      async () => expect(await sample('svc_websocket_messages_sent_bytes_total', { operation_name: '_other' })).toBeGreaterThan(20),
      WAIT,
    );
    await vi.waitFor(
      async () => expect(await sample('svc_websocket_messages_sent_bytes_total', { operation_name: '' })).toBeGreaterThan(20),
      WAIT,
    );
    socket.websocket.close();
  });
});
