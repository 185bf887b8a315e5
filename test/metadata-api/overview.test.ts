import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SECRET = 'open sesame';
let service: TestService;

type Row = readonly Json[];
interface Overview extends JsonObject {
  tag: string;
  roles: string[];
  sources: ({ name: string; schemas: string[]; tables: Row[]; functions: Row[] } & JsonObject)[];
}
const overview = async (args: Json = {}): Promise<Overview> => (await service.metadata('get_overview', args)) as Overview;
const sourceOf = ({ sources }: Overview, name = 'default') => sources.find((source) => source.name === name) as Overview['sources'][number];
const tableOf = (of: Overview, table: string): Row => sourceOf(of).tables.find(([, name]) => name === table) as Row;

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: SECRET });
  await service.sql(`
    create schema crm;
    create table artist (id int primary key, name text);
    create table crm.lead (id int primary key, artist_id int references artist, secret text);
    create table level (value text primary key, comment text);
    insert into level values ('high', null);
    create view loud as select id from artist;
    create function leads(wanted int) returns setof crm.lead language sql stable as 'select * from crm.lead where id = wanted'`);
  const permission = (role: string, more: JsonObject): Json => ({ role, permission: { filter: {}, columns: '*', ...more } });
  await service.metadata(
    'replace_metadata',
    {
      allow_inconsistent_metadata: true,
      metadata: {
        version: 3,
        sources: [
          {
            name: 'default',
            kind: 'pg',
            configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
            tables: [
              {
                table: 'artist',
                array_relationships: [
                  { name: 'leads', using: { foreign_key_constraint_on: { table: { schema: 'crm', name: 'lead' }, column: 'artist_id' } } },
                ],
                select_permissions: [permission('b', {}), permission('c', { filter: { id: { _eq: 1 } } })],
                insert_permissions: [{ role: 'b', permission: { check: {}, columns: ['id'] } }],
                update_permissions: [permission('b', { check: null })],
                delete_permissions: [{ role: 'c', permission: { filter: {} } }],
              },
              {
                table: { schema: 'crm', name: 'lead' },
                object_relationships: [{ name: 'artist', using: { foreign_key_constraint_on: 'artist_id' } }],
                event_triggers: [
                  {
                    name: 'led',
                    definition: { enable_manual: true, insert: { columns: '*' } },
                    webhook: 'http://localhost:9',
                    retry_conf: { num_retries: 1, interval_sec: 1, timeout_sec: 1 },
                  },
                ],
                select_permissions: [permission('c', { columns: ['id'] }), permission('d', { columns: ['gone'] })],
              },
              { table: 'level', is_enum: true },
              { table: 'loud' },
              { table: 'missing', select_permissions: [permission('d', {})] },
            ],
            functions: [{ function: 'leads', permissions: [{ role: 'c' }] }],
          },
          {
            name: 'away',
            kind: 'pg',
            configuration: { connection_info: { database_url: 'postgres://nobody@127.0.0.1:1/nothing' } },
            tables: [{ table: 'far', select_permissions: [permission('b', {})] }],
          },
        ],
        inherited_roles: [{ role_name: 'both', role_set: ['b', 'c'] }],
        actions: [
          {
            name: 'ping',
            definition: { kind: 'synchronous', type: 'query', handler: 'http://localhost:9', output_type: 'String', arguments: [] },
            permissions: [{ role: 'd' }],
          },
        ],
        cron_triggers: [{ name: 'nightly', webhook: 'http://localhost:9', schedule: '0 3 * * *', include_in_metadata: true }],
      },
    },
    { version: 2 },
  );
});
afterAll(() => service.stop());

describe('the metadata overview', () => {
  it('lists roles', async () => {
    expect(await overview()).toMatchObject({ roles: ['b', 'both', 'c', 'd'], inherited_roles: { both: ['b', 'c'] } });
  });

  // Digits for b, both, c, d.
  it.each([
    ['artist', ['public', 0, 0, 1, 0, '7f9', '5d8']],
    ['lead', ['crm', 16, 1, 0, 1, '011', '']],
    ['level', ['public', 2, 0, 0, 0, '', '']],
    ['loud', ['public', 1, 0, 0, 0, '', '']],
    ['missing', ['public', 24, 0, 0, 0, '0001', '']],
  ])('summarizes the table %s', async (name, expected) => {
    const all = await overview();
    const [schema, , ...rest] = tableOf(all, name);
    expect([sourceOf(all).schemas[schema as number], ...rest]).toEqual(expected);
  });

  it('lists functions, actions and triggers', async () => {
    const all = await overview();
    expect(sourceOf(all).functions).toEqual([[0, 'leads', 0, 'query', '011']]);
    expect(all).toMatchObject({
      actions: [['ping', 0, 'query', '0001']],
      remote_schemas: [],
      event_triggers: [['led', 0, 'default', 'crm', 'lead']],
      cron_triggers: ['nightly'],
      counts: { tables: 6, functions: 1, relationships: 2, permissions: 9 },
    });
  });

  it('includes a source that cannot be opened', async () => {
    const away = sourceOf(await overview(), 'away');
    expect(away['unavailable']).toContain('127.0.0.1');
    expect(away.tables).toEqual([[0, 'far', 8, 0, 0, 0, '11', '']]);
  });

  it('counts inconsistent objects', async () => {
    const { inconsistent_objects: records } = (await service.metadata('get_inconsistent_metadata', {})) as { inconsistent_objects: Json[] };
    expect((await overview())['inconsistent']).toBe(records.length);
    expect(records.length).toBeGreaterThan(2);
  });
});

it('is sent again only after a change', async () => {
  const first = await overview();
  expect(await overview({ if_not: first.tag })).toEqual({
    tag: first.tag,
    resource_version: first['resource_version'],
    unchanged: true,
  });
  await service.metadata('pg_create_select_permission', { table: 'loud', role: 'e', permission: { columns: '*', filter: {} } });
  const next = await overview({ if_not: first.tag });
  expect(next.tag).not.toBe(first.tag);
  expect(next.roles).toContain('e');
  expect(tableOf(next, 'loud').slice(-2)).toEqual(['00001', '00001']);
});

it('shows the effects of earlier operations of a bulk', async () => {
  const [, inner] = (await service.metadata('bulk', [
    { type: 'pg_untrack_table', args: { table: 'loud' } },
    { type: 'get_overview', args: {} },
  ])) as [Json, Overview];
  expect(tableOf(inner, 'loud')).toBeUndefined();
  expect(tableOf(await overview(), 'loud')).toBeUndefined();
});

it.each([
  ['no administrator', { 'x-svc-admin-secret': SECRET, 'x-svc-role': 'b' }, 400],
  ['a stranger', {}, 401],
])('is not available to %s', async (_who, headers, status) => {
  const body = printJson({ type: 'get_overview', args: {} });
  const answer = await service.send('/v1/metadata', { method: 'POST', body, headers: headers as Record<string, string> });
  expect(answer).toMatchObject({ status, json: { code: 'access-denied' } });
});

it('is small', async () => {
  const tables = Array.from({ length: 60 }, (_, i) => `t${String(i).padStart(4, '0')}`);
  const roles = Array.from({ length: 20 }, (_, i) => `role${i}`);
  await service.sql(tables.map((name) => `create table crm.${name} (id int primary key, owner int);`).join('\n'));
  const permission = (i: number): JsonObject => ({ columns: '*', filter: i === 0 ? {} : { owner: { _eq: i } } });
  const select_permissions: Json = roles.map((role, i): JsonObject => ({ role, permission: permission(i) }));
  const configuration: Json = { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } };
  const listed: Json = tables.map((name) => ({ table: { schema: 'crm', name }, select_permissions }));
  await service.metadata('replace_metadata', { version: 3, sources: [{ name: 'default', kind: 'pg', configuration, tables: listed }] });
  const answer = await overview();
  expect(sourceOf(answer).tables).toHaveLength(tables.length);
  // 75,000 bytes for 1,451 tables.
  expect(printJson(answer).length).toBeLessThan(1000 + (75_000 / 1451) * tables.length);
});
