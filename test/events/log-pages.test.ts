/** The event log for tools: stable pages, filters by state and time, and counts. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const configuration: Json = { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } };
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

beforeAll(async () => {
  service = await startTestService({ EVENTS_FETCH_INTERVAL: '3600000' });
  await service.sql('create table item (id int primary key)');
  // Paused manually: pending events are due in a year.
  await service.metadata('bulk', [
    { type: 'pg_track_table', args: 'item' },
    { type: 'pg_create_event_trigger', args: { table: 'item', name: 'itemed', webhook: 'http://localhost:9', insert: { columns: '*' } } },
    { type: 'pg_create_event_trigger', args: { table: 'item', name: 'quiet', webhook: 'http://localhost:9', update: { columns: '*' } } },
  ]);
  // Two in each minute, so that times alone do not distinguish them.
  await service.sql(`
    insert into svc_catalog.event_log (id, schema_name, table_name, trigger_name, payload, delivered, error, created_at, next_retry_at)
    select '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'public', 'item', 'itemed', '{"op": "INSERT"}', n % 3 = 0, n % 3 = 1,
      timestamp '2024-05-01' + n / 2 * interval '1 minute', timestamp '2999-01-01'
    from generate_series(1, 30) n;
    insert into svc_catalog.event_invocation_logs (id, trigger_name, event_id, status, created_at)
    select '10000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'itemed', '${id(1)}', 500, timestamp '2024-05-01' + n / 2 * interval '1 minute'
    from generate_series(1, 7) n`);
});
afterAll(() => service.stop());

const ids = (rows: Json): string[] => (rows as JsonObject[]).map((row) => String(row['id']));
const logs = async (args: JsonObject): Promise<string[]> => ids(await service.metadata('pg_get_event_logs', { name: 'itemed', ...args }));
const attempts = async (args: JsonObject): Promise<string[]> =>
  ids(await service.metadata('pg_get_event_invocation_logs', { name: 'itemed', ...args }));

async function paged(read: (args: JsonObject) => Promise<string[]>, more: JsonObject = {}): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await read({ limit: 4, ...more, ...(last === undefined ? {} : { after: last }) });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

it('continues after a row, whatever arrives meanwhile', async () => {
  const whole = await logs({ limit: 100 });
  expect(whole).toHaveLength(30);
  expect(await paged(logs)).toEqual(whole);
  expect(await paged(attempts)).toEqual(await attempts({ limit: 100 }));
  const first = await logs({ limit: 4 });
  await service.sql(`insert into svc_catalog.event_log (id, schema_name, table_name, trigger_name, payload, delivered)
    values ('${id(99)}', 'public', 'item', 'itemed', '{}', true)`);
  expect(await logs({ limit: 4, after: first.at(-1) ?? '' })).toEqual(whole.slice(4, 8));
  await service.sql(`delete from svc_catalog.event_log where id = '${id(99)}'`);
});

it.each([
  ['delivered', 0],
  ['error', 1],
  ['pending', 2],
])('lists only %s events, in pages too', async (status, rest) => {
  const expected = Array.from({ length: 30 }, (_, i) => 30 - i)
    .filter((n) => n % 3 === rest)
    .map(id);
  expect((await logs({ status, limit: 100 })).sort()).toEqual([...expected].sort());
  expect((await paged(logs, { status })).sort()).toEqual([...expected].sort());
});

it('lists events created in a time range', async () => {
  expect((await logs({ since: '2024-05-01T00:10:00Z', until: '2024-05-01T00:11:00Z' })).sort()).toEqual([id(20), id(21)]);
  expect(await logs({ since: '2024-05-01T02:10:00+02:00', until: '2024-05-01T02:10:30+02:00', status: 'error' })).toEqual([]);
});

it('counts events by state', async () => {
  const counts = async (args: JsonObject): Promise<Json> =>
    ((await service.metadata('get_event_summary', args)) as JsonObject)['event_triggers'] ?? null;
  const quiet = {
    name: 'quiet',
    source: 'default',
    table: { schema: 'public', name: 'item' },
    delivered: 0,
    failed: 0,
    pending: 0,
    oldest_pending: null,
  };
  const itemed = { ...quiet, name: 'itemed', pending: 10, oldest_pending: '2024-05-01T00:01:00.000000Z' };
  expect(await counts({ since: '2024-05-01T00:00:00Z' })).toEqual([{ ...itemed, delivered: 10, failed: 10 }, quiet]);
  expect(await counts({ since: '2024-05-01T00:14:00Z' })).toEqual([{ ...itemed, delivered: 1, failed: 1 }, quiet]);
  expect(await counts({})).toEqual([itemed, quiet]);
});

it('reports unavailable sources along with the others', async () => {
  const away = { connection_info: { database_url: 'postgres://nobody@127.0.0.1:1/nothing' } };
  const exported = (await service.metadata('export_metadata', {})) as { sources: JsonObject[] };
  const definition = {
    name: 'far',
    webhook: 'http://localhost:9',
    definition: { enable_manual: true },
    retry_conf: { num_retries: 0, interval_sec: 1, timeout_sec: 1 },
  };
  await service.metadata(
    'replace_metadata',
    {
      allow_inconsistent_metadata: true,
      metadata: {
        ...exported,
        sources: [
          ...exported.sources,
          { name: 'away', kind: 'pg', configuration: away, tables: [{ table: 'gone', event_triggers: [definition] }] },
        ],
      } as Json,
    },
    { version: 2 },
  );
  const { event_triggers: all } = (await service.metadata('get_event_summary', {})) as { event_triggers: JsonObject[] };
  expect(all.find(({ name }) => name === 'far')).toMatchObject({ source: 'away', error: expect.stringContaining('away') });
  expect(all.find(({ name }) => name === 'itemed')).toMatchObject({ pending: 10 });
});

it.each([
  ['pg_get_event_logs', { name: 'itemed', after: 'nothing' }, 'not-exists'],
  ['pg_get_event_invocation_logs', { name: 'itemed', after: id(1) }, 'not-exists'],
  ['pg_get_event_logs', { name: 'itemed', since: 'never' }, 'data-exception'],
  ['pg_get_event_logs', { name: 'itemed', status: 'dead' }, 'parse-failed'],
  ['get_event_summary', { since: 'yesterday' }, 'parse-failed'],
])('%s rejects %j', async (type, args, code) => {
  await expect(service.metadata(type, args)).rejects.toThrow(`"code":"${code}"`);
});

it('can be restricted to a source', async () => {
  await service.metadata('pg_add_source', {
    name: 'second',
    configuration,
    customization: { root_fields: { prefix: 'second_' }, type_names: { prefix: 's_' } },
  });
  expect(await service.metadata('pg_get_event_logs', { source: 'second', name: 'nothing' })).toEqual([]);
});
