/** Event triggers of MariaDB over HTTP: capture, changes of tables and metadata, delivery. */
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** An address without a listener. */
const HOOK = 'http://127.0.0.1:9/';

describe.skipIf(!hasMariadb())('event triggers of MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  let receiver: FakeServer;
  /** A session of another application. */
  let database: Connection;

  beforeAll(async () => {
    server = await startMariadb();
    await server.run('create database shop');
    receiver = await startFakeServer();
    service = await startTestService({}, { SHOP: server.url('shop'), HOOKS: receiver.url });
    database = await createConnection({
      uri: server.url('shop'),
      multipleStatements: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
    });
  });
  afterAll(async () => {
    await database?.end();
    await service?.stop();
    await receiver?.close();
    await server?.stop();
  });

  beforeEach(async () => {
    await service.metadata('clear_metadata', {});
    await database.query(`drop database shop; create database shop; use shop;
      create table author (id int primary key, name varchar(40), doc json, score decimal(30,10), big bigint unsigned);
      create table article (id int primary key, author_id int, title text,
        foreign key (author_id) references author (id) on delete cascade)`);
    await service.metadata('dbb_add_source', {
      name: 'shop',
      configuration: { connection_info: { connection_string: { from_env: 'SHOP' } } },
    });
    for (const table of ['author', 'article']) await service.metadata('dbb_track_table', { source: 'shop', table });
  });

  const create = (args: JsonObject): Promise<Json> =>
    service.metadata('dbb_create_event_trigger', { source: 'shop', name: 'trg', table: 'author', webhook: HOOK, ...args });
  const operate = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbb_${type}`, { source: 'shop', ...args });
  const refused = async (type: string, args: JsonObject): Promise<Json> =>
    (await service.send('/v1/metadata', { method: 'POST', body: printJson({ type: `dbb_${type}`, args: { source: 'shop', ...args } }) }))
      .json;
  const runSql = (sql: string, args: JsonObject = {}): Promise<Answer> =>
    service.send('/v2/query', { method: 'POST', body: printJson({ type: 'dbb_run_sql', args: { source: 'shop', sql, ...args } }) });

  async function rows(sql: string): Promise<readonly RowDataPacket[]> {
    return (await database.query<RowDataPacket[]>(sql))[0];
  }
  async function payloads(): Promise<readonly JsonObject[]> {
    const found = await rows('select payload from svc_catalog.event_log order by place');
    return found.map((row) => parseJson(String(row['payload'])) as JsonObject);
  }
  /** Returns changes with all digits of their numbers. */
  async function changes(): Promise<readonly string[]> {
    return (await payloads()).map(({ op, data }) => {
      const { old, new: now } = data as JsonObject;
      return `${String(op)} ${printJson(old ?? null)} ${printJson(now ?? null)}`;
    });
  }
  const installed = async (): Promise<readonly string[]> =>
    (
      await rows(
        `select trigger_name as t, event_object_table as o from information_schema.triggers where trigger_name like 'notify%' order by 1`,
      )
    ).map((row) => `${String(row['t'])} on ${String(row['o'])}`);

  it('captures the old and the new row of each operation, and manual events', async () => {
    await create({
      enable_manual: true,
      insert: { columns: '*', payload: ['id', 'name'] },
      update: { columns: ['name', 'doc'] },
      delete: { columns: '*' },
    });
    await database.query(`insert into author values (1, 'é"\\\\', '{"a": 1.10}', 12345678901234567890.0123456789, 18446744073709551615);
      update author set score = 1; update author set name = 'É"\\\\'; update author set doc = null; update author set doc = null; delete from author`);
    const { event_id: id } = (await operate('invoke_event_trigger', { name: 'trg', payload: { n: 1 } })) as { event_id: string };
    expect(await changes()).toEqual([
      'INSERT null {"id":1,"name":"é\\"\\\\"}',
      'UPDATE {"id":1,"name":"é\\"\\\\","doc":{"a":1.10},"score":1.0000000000,"big":18446744073709551615} ' +
        '{"id":1,"name":"É\\"\\\\","doc":{"a":1.10},"score":1.0000000000,"big":18446744073709551615}',
      'UPDATE {"id":1,"name":"É\\"\\\\","doc":{"a":1.10},"score":1.0000000000,"big":18446744073709551615} ' +
        '{"id":1,"name":"É\\"\\\\","doc":null,"score":1.0000000000,"big":18446744073709551615}',
      'DELETE {"id":1,"name":"É\\"\\\\","doc":null,"score":1.0000000000,"big":18446744073709551615} null',
      'MANUAL null {"n":1}',
    ]);
    expect(await operate('get_event_by_id', { event_id: id })).toMatchObject({ event: { id, schema_name: 'shop', table_name: 'author' } });
    expect(await operate('get_event_logs', { name: 'trg', limit: 2 })).toHaveLength(2);
    expect(await refused('redeliver_event', { event_id: 'nothing' })).toMatchObject({ code: 'not-exists' });
    expect(await refused('get_event_by_id', { event_id: 'nothing' })).toMatchObject({ code: 'not-exists' });
    expect(await refused('invoke_event_trigger', { name: 'other', payload: {} })).toMatchObject({ code: 'not-exists' });
  });

  it('captures the values that queries return, in any time zone of the writer', async () => {
    await database.query(`create table every (id int primary key, yes boolean, some bit(5), seen timestamp(3) null, made datetime(1), day date, at time(2),
      photo varbinary(9), latin varchar(9) character set latin1, kind enum('x','y'), zeros int(5) zerofill, x double, f float, place point, u uuid,
      net inet6, counted int generated always as (id * 2), kept int generated always as (id * 3) stored, y year)`);
    await operate('track_table', { table: 'every' });
    await create({ table: 'every', insert: { columns: '*' }, update: { columns: ['seen', 'photo', 'place', 'u', 'counted'] } });
    await database.query(`set time_zone = '-07:30'`);
    try {
      await database.query(`insert into every values (1, 2, b'10101', '2024-01-02 03:04:05.123', '2024-01-02 03:04:05.1', '2024-02-29', '-12:00:00.5',
        x'00ff', 'é', 'y', 42, 0.1, 0.1, point(1, 2), '6ccd780c-baba-1026-9564-5b8c656024db', '::1', default, default, 2024), (2, null, null, null, null,
        null, null, null, null, null, null, null, null, null, null, null, default, default, null)`);
      await database.query('update every set y = 2000, latin = null; update every set photo = null where id = 1');
    } finally {
      await database.query(`set time_zone = '+00:00'`);
    }
    const captured = (await payloads()).map(({ data }) => (data as JsonObject)['new'] as JsonObject);
    expect(captured).toHaveLength(3);
    const columns = 'id yes some seen made day at photo latin kind zeros x f place u net counted kept y';
    const text = JSON.stringify(captured[0]);
    expect(text).toContain('"seen":"2024-01-02T10:34:05.123+00:00"');
    await database.query(`update every set latin = 'é', y = 2024, photo = x'00ff' where id = 1; update every set y = null where id = 2`);
    const { data } = await service.graphql(`{ every(order_by: {id: asc}) { ${columns} } }`);
    expect(captured.slice(0, 2)).toEqual((data as JsonObject)['every']);
  });

  it('captures nothing of a rollback, and records the session', async () => {
    await create({ insert: { columns: '*' } });
    const trace = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331', sampling_state: '1' };
    const body = (sql: string): string => printJson({ type: 'dbb_run_sql', args: { source: 'shop', sql } });
    await service.send('/v2/query', {
      method: 'POST',
      headers: { traceparent: `00-${trace.trace_id}-${trace.span_id}-01` },
      body: body('insert into author (id) values (1)'),
    });
    await runSql('insert into author (id) values (2)', { no_transaction: true });
    await operate('create_insert_permission', { table: 'author', role: 'user', permission: { check: {}, columns: '*' } });
    const session = { 'user-id': "7'\\" };
    await service.graphql('mutation { insert_author(objects: {id: 5}) { affected_rows } }', { role: 'user', session });
    await service.graphql('mutation { insert_author_one(object: {id: 6}) { __typename } }');
    await database.query('start transaction; insert into author (id) values (3); rollback');
    await database.query("set @`svc.user` = 'no JSON'; insert into author (id) values (4); set @`svc.user` = null");
    expect((await payloads()).map(({ session_variables: who, trace_context: of }) => [who, of])).toEqual([
      [{ 'x-svc-role': 'admin' }, trace],
      [{ 'x-svc-role': 'admin' }, null],
      [{ 'x-svc-role': 'user', 'x-svc-user-id': "7'\\" }, null],
      [{ 'x-svc-role': 'admin' }, null],
      [null, null],
    ]);
  });

  it('requires no privileges of writers, and fails a change that is too large for an event', async () => {
    await create({ insert: { columns: '*' } });
    await database.query("create or replace user teller@'%'; grant insert on shop.author to teller@'%'");
    const teller = await createConnection({ host: '127.0.0.1', port: server.port, user: 'teller', database: 'shop' });
    try {
      await teller.query('insert into author (id) values (1)');
      await expect(teller.query('select * from svc_catalog.event_log')).rejects.toThrow(/denied/);
    } finally {
      await teller.end();
    }
    await database.query('alter table author add body longtext');
    await service.metadata('reload_metadata', { reload_sources: true });
    await expect(database.query("insert into author (id, body) values (2, repeat('\\n', 700000))")).rejects.toThrow(/max_allowed_packet/);
    expect(await rows('select id from author')).toEqual([{ id: 1 }]);
    expect(await changes()).toHaveLength(1);
  });

  it('does not capture cascades of foreign keys or truncates', async () => {
    await create({ table: 'article', delete: { columns: '*' } });
    await database.query(
      'insert into author (id) values (1); insert into article values (1, 1, null); delete from author; truncate article',
    );
    expect(await changes()).toEqual([]);
  });

  it('follows DDL, which commits even if the metadata does not allow it', async () => {
    await create({ insert: { columns: '*' }, update: { columns: ['score'] } });
    await runSql('alter table author add extra int default 5; alter table author drop column doc');
    await database.query('insert into author (id) values (1)');
    expect(await changes()).toEqual(['INSERT null {"id":1,"name":null,"score":null,"big":null,"extra":5}']);
    const answer = await runSql('alter table author drop column score');
    expect(answer.json).toMatchObject({ code: 'dependency-error' });
    expect(answer.text).toContain('event-trigger author.trg in source \\"shop\\"');
    // It is checked beforehand.
    await database.query('update author set score = 1');
    expect(await changes()).toHaveLength(2);
    await runSql('alter table author drop column score', { cascade: true });
    expect(await installed()).toEqual([]);
    await database.query('update author set extra = 1; insert into author (id) values (2)');
    expect(await rows('select distinct archived from svc_catalog.event_log')).toEqual([{ archived: 1 }]);
  });

  it('removes triggers with their tables and sources, and restores dropped ones', async () => {
    await create({ insert: { columns: '*' }, delete: { columns: '*' } });
    await create({ name: 'other', table: 'article', insert: { columns: '*' } });
    expect(await installed()).toEqual([
      'notify_svc_other_INSERT on article',
      'notify_svc_trg_DELETE on author',
      'notify_svc_trg_INSERT on author',
    ]);
    await create({ replace: true, update: { columns: '*' } });
    expect(await installed()).toEqual(['notify_svc_other_INSERT on article', 'notify_svc_trg_UPDATE on author']);
    await database.query('drop trigger notify_svc_trg_UPDATE; drop table svc_catalog.event_invocation_logs');
    await service.metadata('reload_metadata', { recreate_event_triggers: true });
    expect(await installed()).toHaveLength(2);
    expect(await operate('get_event_invocation_logs', { name: 'trg' })).toEqual([]);
    await operate('delete_event_trigger', { name: 'trg' });
    await service.metadata('rename_source', { name: 'shop', new_name: 'store' });
    expect(await installed()).toEqual(['notify_svc_other_INSERT on article']);
    await service.metadata('dbb_untrack_table', { source: 'store', table: 'article', cascade: true });
    expect(await installed()).toEqual([]);
    await service.metadata('dbb_drop_source', { name: 'store' });
    expect(await rows(`select 1 from information_schema.schemata where schema_name = 'svc_catalog'`)).toEqual([]);
  });

  it('leaves nothing behind if a later part of the bulk fails', async () => {
    const trigger = { source: 'shop', name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' } };
    const args: Json = [
      { type: 'dbb_create_event_trigger', args: trigger },
      { type: 'dbb_track_table', args: { source: 'shop', table: 'nothing' } },
    ];
    const { status } = await service.send('/v1/metadata', { method: 'POST', body: printJson({ type: 'bulk', args }) });
    expect(status).toBe(400);
    expect(await installed()).toEqual([]);
  });

  it('refuses triggers by name, table and columns, and shows refusals of the database', async () => {
    await database.query('create view v as select * from author');
    await operate('track_table', { table: 'v' });
    const attempt = (args: JsonObject): Promise<Json> =>
      refused('create_event_trigger', { name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' }, ...args });
    expect(await attempt({ name: 'a b' })).toMatchObject({ code: 'parse-failed' });
    expect(await attempt({ table: 'v' })).toMatchObject({ code: 'not-supported', error: expect.stringContaining('"v" is a view') });
    expect(await attempt({ update: { columns: ['none'] } })).toMatchObject({ code: 'not-exists' });
    expect(await attempt({ replace: true })).toMatchObject({ code: 'not-exists' });
    expect(await refused('delete_event_trigger', { name: 'trg' })).toMatchObject({ code: 'not-exists' });
    await database.query("create or replace user reader@'%'; grant select on shop.* to reader@'%'");
    await service.metadata('dbb_add_source', {
      name: 'poor',
      configuration: { connection_info: { connection_string: server.url('shop').replace('root@', 'reader@') } },
      customization: { root_fields: { prefix: 'poor_' }, type_names: { prefix: 'poor_' } },
    });
    await service.metadata('dbb_track_table', { source: 'poor', table: 'author' });
    expect(await attempt({ source: 'poor' })).toMatchObject({
      code: 'database-error',
      error: expect.stringMatching(/the event trigger cannot be installed: .*denied/),
    });
  });

  it('keeps the triggers of several services on one database apart', async () => {
    await create({ insert: { columns: '*' } });
    const [row] = await rows('select action_statement as body from information_schema.triggers');
    const mark = encodeURIComponent(JSON.stringify({ owner: 'another', trigger: 'trg', database: 'shop', made: 1 }));
    await operate('delete_event_trigger', { name: 'trg' });
    // If the table is in use, the trigger is removed after the answer.
    await vi.waitFor(async () => expect(await installed()).toEqual([]), WAIT);
    const theirs = String(row?.['body']).replace(/svc \S+/, `svc ${mark}`);
    await database.query(`create trigger notify_svc_trg_INSERT after insert on author for each row ${theirs}`);
    const again = await refused('create_event_trigger', { name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' } });
    expect(again).toMatchObject({ code: 'already-exists' });
    await create({ name: 'own', delete: { columns: '*' } });
    await service.metadata('clear_metadata', {});
    expect(await installed()).toEqual(['notify_svc_trg_INSERT on author']);
    await database.query('insert into author (id) values (1)');
    expect(await changes()).toHaveLength(1);
    await database.query('drop trigger notify_svc_trg_INSERT; drop database svc_catalog');
  });

  it('delivers events with retries, dead letters, redelivery and logs', async () => {
    let isWell = false;
    receiver.answer = ({ path }) => (path === '/fails' && !isWell ? { status: 503, body: 'no' } : { body: { ok: true } });
    const retry_conf = { num_retries: 1, interval_sec: 0, timeout_sec: 5 };
    await create({ webhook: '{{HOOKS}}/told', insert: { columns: '*' }, retry_conf, headers: [{ name: 'X-Key', value: 'k' }] });
    await create({ name: 'fails', webhook: '{{HOOKS}}/fails', insert: { columns: ['id'], payload: ['id'] }, retry_conf });
    await runSql("insert into author (id, score) values (7, '0.0000000001')");
    const deliveries = () => receiver.requests.filter(({ path }) => path === '/told');
    await vi.waitFor(() => expect(deliveries()).toHaveLength(1), WAIT);
    const [call] = deliveries();
    expect(call?.headers['x-key']).toBe('k');
    expect(call?.body).toContain('"score": 0.0000000001');
    expect(parseJson(call?.body ?? '')).toMatchObject({
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
      trigger: { name: 'trg' },
      table: { schema: 'shop', name: 'author' },
      event: { op: 'INSERT', data: { old: null, new: { id: 7 } }, session_variables: { 'x-svc-role': 'admin' } },
      delivery_info: { current_retry: 0, max_retries: 1 },
    });
    const dead = async (): Promise<readonly JsonObject[]> =>
      (await operate('get_dead_events', { name: 'fails' })) as unknown as readonly JsonObject[];
    await vi.waitFor(async () => expect(JSON.stringify(await dead())).toContain('"tries":2'), WAIT);
    expect(await operate('get_event_invocation_logs', { name: 'fails' })).toMatchObject([
      { http_status: 503, trigger_name: 'fails', response: { data: { body: 'no' } } },
      { http_status: 503 },
    ]);
    isWell = true;
    await operate('redeliver_events', { name: 'fails', status: 'error' });
    const failing = async (): Promise<Json> => operate('get_event_logs', { name: 'fails' });
    await vi.waitFor(async () => expect(await failing()).toMatchObject([{ delivered: true, error: false }]), WAIT);
    expect(
      await service.metadata('cleanup_event_trigger_logs', {
        event_trigger_name: 'fails',
        source: 'shop',
        clear_older_than: 0,
        clean_invocation_logs: true,
      }),
    ).toMatchObject({ message: 'success' });
    expect(await failing()).toEqual([]);
  });
});
