/** The documented grants are necessary and sufficient: they are read from the page and applied. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { hasMariadb, startMariadb, startOwnMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `create database shop; create database private; use shop;
create table item (id int primary key auto_increment, name varchar(20) not null, constraint item_name unique (name));
create table part (id int primary key auto_increment, item_id int not null, foreign key (item_id) references item (id));
create view named as select name from item;
create table private.secret (id int primary key);
insert into item values (1, 'bulb');`;

/** Statements of the page: for reads and writes, and for event triggers. */
const [FIRST = '', EVENTS = ''] = (/## Grants\s+```sql shown\n([^`]*)```/.exec(readFileSync('docs/mariadb.md', 'utf8'))?.[1] ?? '').split(
  '-- for event triggers',
);

describe.skipIf(!hasMariadb())('documented grants of MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  let hook: FakeServer;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run(TABLES);
    hook = await startFakeServer();
    const url = (user: string): string => server.url('shop').replace('root@', `${user}@`);
    service = await startTestService(
      { REQUEST_TIMEOUT: '2', EVENTS_FETCH_INTERVAL: '100' },
      { READER: url('reader'), WRITER: url('svc'), HOOK: hook.url },
    );
    expect(FIRST).toContain('create user svc');
    await server.run("create user reader@'%'; grant select on shop.* to reader@'%'");
    await server.run(FIRST.replace(/ identified by '[^']*'/, ''));
  });
  afterEach(() => service.metadata('clear_metadata', {}));
  afterAll(async () => {
    await service?.stop();
    await hook?.close();
    await server?.stop();
  });

  const ask = async (query: string): Promise<string> => {
    const { data, errors } = await service.graphql(query);
    return printJson((errors === undefined ? data : errors) as Json);
  };
  const metadata = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbb_${type}`, { source: 'shop', ...args });
  async function add(variable: string): Promise<void> {
    const connection_info = { connection_string: { from_env: variable } };
    await service.metadata('dbb_add_source', { name: 'shop', configuration: { connection_info } });
    for (const table of ['item', 'part', 'named']) await metadata('track_table', { table });
    await metadata('create_array_relationship', {
      table: 'item',
      name: 'parts',
      using: { foreign_key_constraint_on: { table: 'part', column: 'item_id' } },
    });
  }
  /** Locks the row for longer than the request, so that the service has to kill the statement. */
  async function endsInTime(query: string): Promise<void> {
    const { createConnection } = await import('mysql2/promise');
    const holder = await createConnection({ uri: server.url('shop').replace('mariadb:', 'mysql:') });
    try {
      await holder.query('start transaction');
      await holder.query('update item set id = id');
      expect(await ask(query)).toContain('"code":"timeout"');
      await vi.waitFor(async () => {
        const [rows] = await holder.query(
          "select count(*) as n from information_schema.processlist where user = 'svc' and command = 'Execute'",
        );
        expect(rows).toEqual([{ n: 0 }]);
      }, WAIT);
    } finally {
      await holder.end();
    }
  }

  it('allow reads with select alone', async () => {
    await add('READER');
    expect(await metadata('get_source_tables', {})).toEqual([{ name: 'item' }, { name: 'named' }, { name: 'part' }]);
    expect(
      await ask('{ item { name parts { id } parts_aggregate { aggregate { count } } } item_by_pk(id: 1) { name } named { name } }'),
    ).toBe(
      '{"item":[{"name":"bulb","parts":[],"parts_aggregate":{"aggregate":{"count":0}}}],"item_by_pk":{"name":"bulb"},"named":[{"name":"bulb"}]}',
    );
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    socket.start('one', 'subscription { item { name } }');
    expect(await socket.next()).toMatchObject({ payload: { data: { item: [{ name: 'bulb' }] } } });
    socket.close();
    const explained = await service.send('/v1/graphql/explain', {
      method: 'POST',
      body: printJson({ query: { query: '{ item { id } }' } }),
    });
    expect(explained.status).toBe(200);
    // Without privileges, the answer reveals nothing of the database.
    expect(await ask('mutation { insert_item(objects: [{name: "x"}]) { affected_rows } }')).toContain('database query error');
  });

  it('allow writes and the cancellation of slow statements', async () => {
    await add('WRITER');
    expect(
      await ask(
        'mutation { insert_item(objects: [{name: "lamp", parts: {data: [{}, {}]}}], on_conflict: {constraint: item_name, update_columns: [name]}) { returning { name parts { id } } } update_item(where: {name: {_eq: "lamp"}}, _set: {name: "light"}) { returning { name } } delete_part(where: {}) { affected_rows } }',
      ),
    ).toBe(
      '{"insert_item":{"returning":[{"name":"lamp","parts":[{"id":1},{"id":2}]}]},"update_item":{"returning":[{"name":"light"}]},"delete_part":{"affected_rows":2}}',
    );
    await endsInTime('mutation { update_item(where: {}, _set: {name: "none"}) { affected_rows } }');
    const trigger = { name: 'told', table: 'item', webhook: '{{HOOK}}', insert: { columns: '*' } };
    await expect(metadata('create_event_trigger', trigger)).rejects.toThrow('command denied');
  });

  it('allow event triggers and their removal', async () => {
    await server.run(EVENTS);
    await add('WRITER');
    const trigger = { name: 'told', table: 'item', webhook: '{{HOOK}}', insert: { columns: '*' } };
    await metadata('create_event_trigger', trigger);
    await ask('mutation { insert_item(objects: [{name: "bell"}]) { affected_rows } }');
    await vi.waitFor(() => expect(hook.requests).toHaveLength(1), WAIT);
    expect(hook.requests[0]?.body).toContain('"name": "bell"');
    expect(await metadata('get_event_logs', { name: 'told' })).toMatchObject([{ trigger_name: 'told' }]);
    await metadata('delete_event_trigger', { name: 'told' });
    await service.metadata('dbb_drop_source', { name: 'shop', cascade: true });
    const { createConnection } = await import('mysql2/promise');
    const root = await createConnection({ uri: server.url('shop').replace('mariadb:', 'mysql:') });
    try {
      const [left] = await root.query("select schema_name as n from information_schema.schemata where schema_name = 'svc_catalog'");
      const [triggers] = await root.query("select trigger_name from information_schema.triggers where trigger_schema = 'shop'");
      expect([left, triggers]).toEqual([[], []]);
    } finally {
      await root.end();
    }
  });
});

describe.runIf(DEEP && hasMariadb())('MariaDB with a binary log', () => {
  it('allows triggers for trusted users', async () => {
    const server = await startOwnMariadb(['--log-bin=binary', '--server-id=1']);
    const service = await startTestService({}, { SHOP: server.url('shop').replace('root@', 'svc@') });
    try {
      await server.run(`${TABLES} ${FIRST.replace(/ identified by '[^']*'/, '')} ${EVENTS}`);
      const connection_info = { connection_string: { from_env: 'SHOP' } };
      await service.metadata('dbb_add_source', { name: 'shop', configuration: { connection_info } });
      await service.metadata('dbb_track_table', { source: 'shop', table: 'item' });
      const create = (): Promise<Json> =>
        service.metadata('dbb_create_event_trigger', {
          source: 'shop',
          name: 'told',
          table: 'item',
          webhook: 'http://127.0.0.1:9/',
          insert: { columns: '*' },
        });
      await expect(create()).rejects.toThrow('log_bin_trust_function_creators');
      await server.run('set global log_bin_trust_function_creators = 1');
      await create();
    } finally {
      await service.stop();
      await server.stop();
    }
  });
});
