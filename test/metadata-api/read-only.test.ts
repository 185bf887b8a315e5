import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, printJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let writer: TestService;
let service: TestService;

beforeAll(async () => {
  writer = await startTestService();
  await writer.sql('create table item (id int primary key, name text); create sequence drawn');
  await writer.metadata('pg_track_table', { table: 'item' });
  service = await startTestService({ DATABASE_URL: writer.databaseUrl, METADATA_READ_ONLY: 'true' });
});
afterAll(async () => {
  await service.stop();
  await writer.stop();
});

const post = (path: string, type: string, args: Json) => service.send(path, { method: 'POST', body: printJson({ type, args }) });
const count = async (): Promise<Json> => ((await writer.sql('select count(*) from item')) as { result: Json[][] }).result[1]?.[0] ?? null;

it.each([
  ['/v1/metadata', 'pg_untrack_table', { table: 'item' }, '$.args'],
  ['/v1/metadata', 'replace_metadata', { version: 3, sources: [] }, '$.args'],
  ['/v1/metadata', 'clear_metadata', {}, '$.args'],
  ['/v1/metadata', 'reload_metadata', { recreate_event_triggers: true }, '$.args'],
  ['/v1/metadata', 'drop_inconsistent_metadata', {}, '$.args'],
  [
    '/v1/metadata',
    'bulk',
    [
      { type: 'export_metadata', args: {} },
      { type: 'pg_untrack_table', args: { table: 'item' } },
    ],
    '$.args[1].args',
  ],
  ['/v1/metadata', 'bulk_keep_going', [{ type: 'pg_untrack_table', args: { table: 'item' } }], '$.args[0].args'],
  ['/v1/metadata', 'plan_changes', { migrations: [{ source: 'default', version: '1', sql: "select nextval('drawn')" }] }, '$.args'],
  ['/v1/query', 'untrack_table', { table: 'item' }, '$.args'],
  ['/v1/query', 'run_sql', { sql: 'insert into item values (1)' }, '$.args'],
  ['/v2/query', 'run_sql', { sql: 'select 1' }, '$.args'],
  ['/v2/query', 'bulk', [{ type: 'run_sql', args: { sql: 'drop table item', read_only: false } }], '$.args[0].args'],
] as const)('%s rejects %s', async (path, type, args, place) => {
  const { status, json } = await post(path, type, args as Json);
  expect({ status, json }).toMatchObject({ status: 403, json: { code: 'access-denied', path: place } });
  expect(((await post('/v1/metadata', 'export_metadata', {})).json as { sources: Json[] }).sources).toMatchObject([
    { tables: [{ table: { name: 'item' } }] },
  ]);
});

it.each([
  ['/v1/metadata', 'export_metadata', {}],
  ['/v1/metadata', 'reload_metadata', {}],
  ['/v1/metadata', 'plan_changes', {}],
  ['/v1/metadata', 'pg_get_table_info', { table: 'item' }],
  ['/v1/metadata', 'bulk', [{ type: 'get_inconsistent_metadata', args: {} }]],
  ['/v2/query', 'run_sql', { sql: 'select 1', read_only: true }],
] as const)('%s answers %s', async (path, type, args) => {
  expect(await post(path, type, args as Json)).toMatchObject({ status: 200 });
});

it.each([
  'insert into item values (1)',
  'commit; insert into item values (1)',
  'rollback; insert into item values (1); begin',
  'end; begin; insert into item values (1); commit',
  '/* out */ abort; insert into item values (1)',
  'set transaction read write; insert into item values (1)',
  'do $$ begin commit; insert into item values (1); end $$',
  'select 1; -- what PostgreSQL reads as two lines\rcommit; insert into item values (1)',
  "copy (select 1) to program 'true'",
  "do $$ begin copy (select 1) to program 'true'; end $$",
])('runs SQL read-only: %s', async (sql) => {
  expect((await post('/v2/query', 'run_sql', { sql, read_only: true })).status).not.toBe(200);
  expect(await count()).toBe('0');
});

const action = {
  name: 'told',
  definition: { kind: 'synchronous', arguments: [], output_type: 'String', handler: 'http://127.0.0.1:9/{{HOME}}' },
};

it.each([
  ['create_action', action],
  ['update_action', action],
  ['add_remote_schema', { name: 'other', definition: { url: 'http://127.0.0.1:9/{{HOME}}' } }],
  ['update_remote_schema', { name: 'other', definition: { url: 'http://127.0.0.1:9/' } }],
  ['pg_add_source', { name: 'other', configuration: { connection_info: { database_url: 'postgresql://127.0.0.1:9/x' } } }],
  ['pg_update_source', { name: 'default', configuration: { connection_info: { database_url: 'postgresql://127.0.0.1:9/x' } } }],
  ['replace_metadata', { version: 3, sources: [] }],
] as const)('calls no URL for a rejected %s', async (type, args) => {
  const permission = {
    type: 'pg_create_select_permission',
    args: { table: 'item', role: 'guest', permission: { columns: ['id'], filter: {} } },
  };
  for (const [changes, place] of [
    [[permission, { type, args }], '$.args.changes[1].args'],
    [[permission, { type: 'bulk', args: [{ type, args }] }], '$.args.changes[1].args[0].args'],
  ] as const) {
    const { status, json } = await post('/v1/metadata', 'preview_changes', { changes } as unknown as Json);
    expect({ status, json }).toMatchObject({ status: 403, json: { code: 'access-denied', path: place } });
  }
  expect(await post('/v1/metadata', 'preview_changes', { changes: [permission] })).toMatchObject({ status: 200 });
});

it('leaves GraphQL unchanged, and follows changes of other instances', async () => {
  expect(await service.graphql('mutation { insert_item_one(object: { id: 1 }) { id } delete_item(where: {}) { affected_rows } }')).toEqual({
    data: { insert_item_one: { id: 1 }, delete_item: { affected_rows: 1 } },
  });
});
