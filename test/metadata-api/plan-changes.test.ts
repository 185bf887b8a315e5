/** Dry runs of whole documents: what they compare, what they omit, and that they end. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let server: GraphqlServer;
let elsewhere: GraphqlServer;

beforeAll(async () => {
  [service, server, elsewhere] = await Promise.all([
    startTestService({}, { OTHER_URL: 'postgres://nobody@127.0.0.1:1/nothing' }),
    startGraphqlServer('type Query { hello: String }', { hello: 'hi' }),
    startGraphqlServer('type Query { other: String }', { other: 'ho' }),
  ]);
  await service.sql('create table author (id int primary key, name text); create table article (id int primary key)');
  await service.metadata('bulk', [
    { type: 'pg_track_table', args: 'author' },
    { type: 'pg_create_select_permission', args: { table: 'author', role: 'user', permission: { columns: ['id'], filter: {} } } },
    { type: 'pg_create_select_permission', args: { table: 'author', role: 'guest', permission: { columns: ['id'], filter: {} } } },
    { type: 'add_remote_schema', args: { name: 'known', definition: { url: server.url } } },
    { type: 'add_remote_schema', args: { name: 'moved', definition: { url: server.url, customization: { root_fields_namespace: 'm' } } } },
  ]);
});
afterAll(() => Promise.all([service.stop(), server.close(), elsewhere.close()]));

const plan = async (args: JsonObject): Promise<JsonObject> => (await service.metadata('plan_changes', args)) as JsonObject;
const current = async (): Promise<JsonObject> => (await service.metadata('export_metadata', {})) as JsonObject;
/** The current document with another value at a path. */
function changed(json: Json, path: readonly (string | number)[], value: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(json)) return json.map((item, i) => (i === first ? changed(item as Json, rest, value) : (item as Json)));
  const object = json as JsonObject;
  return { ...object, [first]: changed(object[first] ?? null, rest, value) };
}
const place = async (section: string, name: string): Promise<readonly (string | number)[]> => {
  const list = (await current())[section] as JsonObject[];
  return [section, list.findIndex((each) => each['name'] === name)];
};

it('compares only the schemas of roles that a document affects', async () => {
  const same = await plan({ metadata: await current() });
  expect(same).toEqual({
    migrations: [],
    inconsistencies: { before: [], after: [] },
    untried_sources: [],
    untried_remote_schemas: [],
    schemas: [],
    roles_not_compared: [],
  });
  const [sources, i] = await place('sources', 'default');
  const columns = [sources ?? '', i ?? 0, 'tables', 0, 'select_permissions', 1, 'permission', 'columns'];
  const { schemas } = await plan({ metadata: changed(await current(), columns, ['id', 'name']) });
  expect((schemas as JsonObject[]).map(({ role }) => role)).toEqual(['user']);
  expect((schemas as JsonObject[])[0]).toMatchObject({
    before: expect.not.stringContaining('name: String\n'),
    after: expect.stringContaining('name: String\n'),
  });
});

it('finds new tables of the database that a document tracks, and tables that a migration creates', async () => {
  const [sources, i] = await place('sources', 'default');
  const tables = ((await current())['sources'] as JsonObject[])[i as number]?.['tables'] as Json[];
  const metadata = (...names: readonly string[]): Promise<Json> =>
    current().then((document) =>
      changed(document, [sources ?? '', i ?? 0, 'tables'], [...tables, ...names.map((name) => ({ table: { schema: 'public', name } }))]),
    );
  expect(await plan({ metadata: await metadata('article') })).toMatchObject({
    inconsistencies: { after: [] },
    schemas: [{ role: 'admin', after: expect.stringContaining('type article ') }],
  });
  const migrations = [{ source: 'default', version: '1', sql: 'create table tag (id int primary key)' }];
  expect(await plan({ metadata: await metadata('tag') })).toMatchObject({ inconsistencies: { after: [{ type: 'table' }] } });
  expect(await plan({ metadata: await metadata('tag'), migrations })).toMatchObject({
    inconsistencies: { after: [] },
    schemas: [{ role: 'admin', after: expect.stringContaining('type tag ') }],
  });
});

it('reads the rows of enum tables that the migrations write', async () => {
  const [sources, i] = await place('sources', 'default');
  const document = await current();
  const tables = (document['sources'] as JsonObject[])[i as number]?.['tables'] as Json[];
  const added: readonly Json[] = [
    { table: { schema: 'public', name: 'state' }, is_enum: true },
    { table: { schema: 'public', name: 'task' } },
  ];
  const metadata = changed(document, [sources ?? '', i ?? 0, 'tables'], [...tables, ...added]);
  const sql = 'create table state (value text primary key); create table task (id int primary key, state text references state)';
  const create = { source: 'default', version: '1', sql };
  const insert = { source: 'default', version: '2', sql: "insert into state values ('open'), ('closed')" };
  expect(await plan({ metadata, migrations: [create, insert] })).toMatchObject({
    inconsistencies: { after: [] },
    schemas: [{ role: 'admin', after: expect.stringMatching(/enum state_enum \{\s+closed\s+open\s+\}/) }],
  });
  expect(await plan({ metadata, migrations: [create] })).toMatchObject({
    inconsistencies: { after: [{ reason: expect.stringContaining('at least one row') }] },
  });

  // An enum table that is tracked already gets another value.
  await service.sql(`
    create table size (value text primary key); insert into size values ('small');
    create table shirt (id int primary key, size text references size)`);
  await service.metadata('pg_track_table', { table: 'size', is_enum: true });
  await service.metadata('pg_track_table', { table: 'shirt' });
  try {
    const large = { source: 'default', version: '1', sql: "insert into size values ('large')" };
    expect(await plan({ migrations: [large] })).toMatchObject({
      schemas: [{ role: 'admin', before: expect.not.stringContaining('large'), after: expect.stringContaining('large') }],
    });
    // Nothing of the trial stays.
    expect(await plan({ migrations: [] })).toMatchObject({ schemas: [] });
  } finally {
    await service.metadata('pg_untrack_table', { table: 'shirt' });
    await service.metadata('pg_untrack_table', { table: 'size' });
    await service.sql('drop table shirt, size');
  }
});

it('calls no server and opens no database, and lists what it could not check', async () => {
  const asked = elsewhere.requests.length;
  const document = await current();
  const remotes = document['remote_schemas'] as JsonObject[];
  const [, i] = await place('remote_schemas', 'moved');
  const moved = changed(document, ['remote_schemas', i ?? 0, 'definition', 'url'], elsewhere.url) as JsonObject;
  const metadata = {
    ...moved,
    remote_schemas: [...(moved['remote_schemas'] as Json[]), { name: 'added', definition: { url: elsewhere.url } }],
    sources: [
      ...(moved['sources'] as Json[]),
      { name: 'far', kind: 'pg', tables: [], configuration: { connection_info: { database_url: { from_env: 'OTHER_URL' } } } },
    ],
  };
  expect(await plan({ metadata })).toMatchObject({
    inconsistencies: { before: [], after: [] },
    untried_sources: ['far'],
    untried_remote_schemas: ['moved', 'added'],
    schemas: [],
  });
  expect(elsewhere.requests.length).toBe(asked);

  // Another timeout does not make it a different server; another header may.
  const definition = ['remote_schemas', remotes.findIndex(({ name }) => name === 'known'), 'definition'];
  expect(await plan({ metadata: changed(document, [...definition, 'timeout_seconds'], 5) })).toMatchObject({ untried_remote_schemas: [] });
  expect(await plan({ metadata: changed(document, [...definition, 'headers'], [{ name: 'k', value: 'v' }]) })).toMatchObject({
    untried_remote_schemas: ['known'],
  });
  const [sources, k] = await place('sources', 'default');
  const isolation = [sources ?? '', k ?? 0, 'configuration', 'connection_info', 'isolation_level'];
  expect(await plan({ metadata: changed(document, isolation, 'serializable') })).toMatchObject({ untried_sources: ['default'] });
});

it('rolls back SQL that hides the end of its transaction', async () => {
  const make = 'create table hidden_end (id int)';
  for (const sql of [`create function begin() returns int language sql as 'select 1'; commit; ${make}`, `begin;${make};commit`])
    await expect(plan({ migrations: [{ source: 'default', version: '1', sql }] })).rejects.toThrow('is rolled back');
  const prelude = 'set standard_conforming_strings = off';
  const sql = `select '\\''; commit; ${make}; select '\\''`;
  const migrations = [
    { source: 'default', version: '1', sql: prelude },
    { source: 'default', version: '2', sql },
  ];
  expect(await plan({ prelude, migrations })).toMatchObject({ migrations: [{ ok: true }, { ok: false, code: '42601' }] });
  expect(await service.sql(`select to_regclass('hidden_end') as found`)).toMatchObject({ result: [['found'], ['NULL']] });
});

it.runIf(DEEP)('lists the roles that it does not compare', async () => {
  const [sources, i] = await place('sources', 'default');
  const roles = Array.from({ length: 102 }, (_, k) => `role_${k}`);
  const permissions = roles.map((role) => ({ role, permission: { columns: ['id'], filter: {} } }));
  const { schemas, roles_not_compared: left } = await plan({
    metadata: changed(await current(), [sources ?? '', i ?? 0, 'tables', 0, 'select_permissions'], permissions),
  });
  // Schemas of admin and of roles that lose everything differ too; the rest is reported in the order of names.
  const all = ['admin', 'guest', 'user', ...roles].sort();
  expect([...(schemas as JsonObject[]).map(({ role }) => role), ...(left as Json[])]).toEqual(all.filter((role) => role !== 'admin'));
  expect(left).toHaveLength(4);
});

describe('a dry run while the database catalog is locked', () => {
  let client: pg.Client;
  /** Statistics of other sessions are frozen within a transaction. */
  let observer: pg.Client;
  beforeAll(async () => {
    [client, observer] = [new pg.Client(service.databaseUrl), new pg.Client(service.databaseUrl)];
    await Promise.all([client.connect(), observer.connect()]);
    await client.query('begin; lock table pg_catalog.pg_inherits in access exclusive mode');
  });
  afterAll(async () => {
    await client.query('rollback');
    await Promise.all([client.end(), observer.end()]);
  });
  const waiting = async (): Promise<number> => {
    const { rows } = await observer.query<{ count: string }>(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`,
    );
    return Number(rows[0]?.count);
  };
  const until = async (count: number): Promise<void> => {
    for (const end = Date.now() + 30_000; (await waiting()) !== count; await sleep(10))
      if (Date.now() > end) throw new Error(`there are never ${count} statements that wait`);
  };
  const tracked = async (): Promise<Json> => {
    const [sources, i] = await place('sources', 'default');
    return changed(await current(), [sources ?? '', i ?? 0, 'tables', 1], { table: { schema: 'public', name: 'article' } });
  };

  it('ends at its timeout', async () => {
    await expect(plan({ metadata: await tracked(), timeout_seconds: 1 })).rejects.toThrow('"timeout"');
    await until(0);
  });

  it.each<[string, () => Promise<JsonObject>]>([
    ['plan_changes', async () => ({ metadata: await tracked() })],
    ['preview_changes', async () => ({ changes: [{ type: 'pg_track_table', args: 'none' }] })],
  ])('ends %s in the database too when the client goes', async (type, args) => {
    const gone = new AbortController();
    const body = printJson({ type, args: await args() });
    const answer = service.send('/v1/metadata', { method: 'POST', body, signal: gone.signal });
    await Promise.race([until(1), answer]);
    gone.abort();
    await expect(answer).rejects.toThrow();
    await until(0);
  });
});
