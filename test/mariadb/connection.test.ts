/** Connections to MariaDB: settings, refusals, hostile session settings and restarts. */
import { createServer } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Source, Writes } from '../../src/backend/backend.ts';
import { configuration } from '../../src/databases/mariadb/configuration.ts';
import { connect } from '../../src/databases/mariadb/connect.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { ROOT } from '../../src/util/path.ts';
import { DEEP } from '../support/deep.ts';
import { hasMariadb, startOwnMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { WAIT } from '../support/wait.ts';
import type { RunOptions, Statement } from '../../src/backend/connection.ts';

/** Settings that an administrator may have chosen for other applications, and that would break reads. */
const HOSTILE = [
  '--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION',
  '--default-time-zone=+09:00',
  '--group-concat-max-len=1024',
  '--transaction-isolation=SERIALIZABLE',
  '--collation-server=latin1_swedish_ci',
  '--character-set-server=latin1',
  '--max-error-count=0',
  '--lc-time-names=de_DE',
  '--autocommit=0',
  '--div-precision-increment=0',
  '--skip-character-set-client-handshake',
];

describe.skipIf(!hasMariadb())('connections to MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  const open = (
    connectionInfo: JsonObject,
    environment: Readonly<Record<string, string>> = {},
    more: JsonObject = {},
  ): Promise<Source & Writes> =>
    connect(configuration.decode({ connection_info: connectionInfo }, ROOT), {
      sourceName: 's',
      environment,
      usePreparedStatements: true,
      maxConnections: 3,
      ...more,
    });
  const statement = (text: string): Statement => ({ text, parameters: [], repeatable: true, columns: 1 });
  const add = (name: string, info: JsonObject): Promise<unknown> =>
    service.metadata('dbb_add_source', { name, configuration: { connection_info: info } });

  beforeAll(async () => {
    server = await startOwnMariadb(HOSTILE);
    await server.run(`set autocommit = 1; create database shop;
      create table shop.item (id int primary key, name varchar(50) character set utf8mb4, at timestamp(3) null, fixed char(5), less int unsigned);
      insert into shop.item values (1, 'a\\"''b', from_unixtime(1704164645.5), 'x', 1), (2, null, null, null, 2), (3, 'c', null, null, 3);
      create table shop.wide (id int primary key, item_id int, body text character set utf8mb4);
      insert into shop.wide select seq, 1, repeat('y', 3000) from shop.item, (select 1 as seq union select 2 union select 3) s where id = 1; set global sql_select_limit = 2`);
    service = await startTestService({}, { SHOP: server.url('shop'), NAME: 'shop' });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  it('counts sessions and waiting callers', async () => {
    const source = await open({ connection_string: server.url('shop') }, {}, { maxConnections: 1, waitTimeoutMs: 1000 });
    const deadline = (): number => Date.now() + 800;
    await source.query('select 1', []);
    const [first] = source.measures?.() ?? [];
    expect(first).toMatchObject({ family: 'mariadb', role: 'primary', used: 0, idle: 1, maxConnections: 1, pending: 0 });
    // Keeps the only connection busy until everything has been observed.
    const holder = await createConnection({ uri: server.url('shop').replace('mariadb:', 'mysql:') });
    await holder.query("select get_lock('held', 0)");
    const slow = source.query("select get_lock('held', 60)", []);
    const failures = Promise.allSettled([source.query('select 1', []), source.query('select 1', [], { deadline: deadline() })]);
    // In each turn of the event loop: a check between timers could come after those of both waiting callers.
    while (source.measures?.()[0]?.pending !== 2) await new Promise(setImmediate);
    expect(source.measures?.()[0]).toMatchObject({ used: 1, idle: 0, pending: 2 });
    expect((await failures).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await holder.end();
    await slow;
    const counts = source.measures?.()[0]?.counts;
    expect(counts).toMatchObject({ timeouts: 1, timedOut: 1, cancelled: 0, errors: 0 });
    expect([counts?.initTime.count, counts?.waitTime.count, counts?.queryTime.count]).toEqual([1, 2, 2]);
    await source.close();
  });

  it('detects DDL, but not changes of rows', async () => {
    const source = await open({ connection_string: server.url('shop') });
    let known = (await source.catalogFingerprint?.(null)) ?? null;
    const changes = async (sql: string): Promise<boolean> => {
      await server.run(`use shop; ${sql}`);
      const before = known;
      known = (await source.catalogFingerprint?.(before)) ?? null;
      return known?.definitions !== before?.definitions;
    };
    for (const sql of [
      'create table marked (id int primary key, name varchar(9))',
      'alter table marked add at timestamp null',
      "alter table marked modify name varchar(9) default 'x' comment 'said'",
      'alter table marked add unique own (name)',
      'alter table marked add check (id > 0)',
      'alter table marked rename column name to called',
      "alter table marked comment 'told'",
      'rename table marked to renamed',
      'create view marked as select id from renamed',
      'drop view marked',
    ])
      expect([sql, await changes(sql)]).toEqual([sql, true]);
    expect(await changes("insert into renamed (id) values (1); update renamed set called = 'y'")).toBe(false);
    expect(await changes('create temporary table passing (id int)')).toBe(false);
    expect(await changes('drop table renamed')).toBe(true);
    await source.close();
  });

  it('tags statements with their operation if configured', async () => {
    const source = await open({ connection_string: server.url('shop') });
    const tags = { before: '', after: " /*operation_name='Mine'*/", labels: new Map(), isUnique: true };
    const own = 'select info from information_schema.processlist where id = connection_id()';
    const seen = async (how: RunOptions): Promise<string> => (await source.runJson(statement(own), [], how))[0]?.join('') ?? '';
    expect(await seen({})).not.toContain('operation_name');
    expect(await seen({ tags })).toMatch(/operation_name='Mine'\*\/$/);
    const write = { statement: statement(`insert into wide (id, body) ${own.replace('info', '99, info')}`), values: [] };
    await source.runMutation([write], { settings: [], tags });
    expect((await source.query('select body from wide where id = 99', [])).rows[0]?.[0]).toContain("operation_name='Mine'");
    await source.query('delete from wide where id = 99', []);
    await source.close();
  });

  it('accepts a URL, also from the environment or with parts of it', async () => {
    const url = server.url('{{NAME}}');
    for (const info of [{ connection_string: url }, { connection_string: { from_env: 'URL' } }]) {
      const source = await open(info, { NAME: 'shop', URL: server.url('shop') });
      expect((await source.query('select database()', [])).rows).toEqual([['shop']]);
      await source.close();
    }
    const refusals: readonly (readonly [string | JsonObject, string, string])[] = [
      [{ from_env: 'NONE' }, 'not-found', "environment variable 'NONE' not set"],
      ['mariadb://x/{{NONE}}', 'not-found', 'NONE'],
      ['nonsense', 'database-error', 'it is not a URL'],
      ['postgres://root@127.0.0.1/shop', 'database-error', 'mariadb:// or mysql://'],
      ['mariadb://root@127.0.0.1', 'database-error', 'it has no database'],
      ['mariadb://root@127.0.0.1/shop?flags=1', 'database-error', 'unknown parameter'],
      ['mariadb://root@127.0.0.1/%zz', 'database-error', 'percent escape'],
      [server.url('shop').replace('root', 'nobody'), 'database-error', 'Access denied'],
      [server.url('nothing'), 'database-error', 'Unknown database'],
      ['mariadb://root@127.0.0.1:1/shop', 'database-error', 'ECONNREFUSED'],
    ];
    for (const [connection_string, code, text] of refusals) {
      const refused: unknown = await open({ connection_string }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code });
      expect(`${String(refused)} ${JSON.stringify(refused)}`, text).toContain(text);
    }
    expect(() =>
      configuration.decode({ connection_info: { connection_string: 'x', pool_settings: { max_connections: 0 } } }, ROOT),
    ).toThrow('max_connections must be at least 1');
    expect(() => configuration.decode({ connection_info: { connection_string: 'x', pool_settings: { retries: 1 } } }, ROOT)).toThrow(
      'retries',
    );
  });

  it.each([
    ['8.4.3', 'the server has version 8.4.3, but MariaDB 10.6 or later is required'],
    ['5.5.5-10.5.27-MariaDB-log', 'the server has version 5.5.5-10.5.27-MariaDB-log'],
    ['11.0.1-TiDB', 'the server has version 11.0.1-TiDB'],
  ])('refuses a server of version %s', async (version, reason) => {
    const played = createServer((connection) => {
      connection.serverHandshake({
        protocolVersion: 10,
        serverVersion: version,
        connectionId: 1,
        statusFlags: 2,
        characterSet: 8,
        capabilityFlags: 0xffffff & ~0x800,
      });
      connection.on('query', () =>
        connection.writeTextResult([{ version }], [
          {
            catalog: 'def',
            schema: '',
            table: '',
            orgTable: '',
            name: 'version',
            orgName: '',
            characterSet: 33,
            columnLength: 80,
            columnType: 253,
            flags: 0,
            decimals: 0,
          },
        ] as never),
      );
      connection.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => {
      played.listen(0);
      (played as unknown as { _server: import('node:net').Server })._server.once('listening', () => resolve());
    });
    const { port } = (played as unknown as { _server: import('node:net').Server })._server.address() as AddressInfo;
    try {
      const answer = await service.send('/v1/metadata', {
        method: 'POST',
        body: JSON.stringify({
          type: 'dbb_add_source',
          args: { name: 'other', configuration: { connection_info: { connection_string: `mysql://u:p@127.0.0.1:${port}/d` } } },
        }),
      });
      expect(answer.text).toContain(reason);
    } finally {
      await new Promise<void>((resolve) => played.close(() => resolve()));
    }
  });

  it.runIf(DEEP)('lends sessions in turn and limits the waiting time', async () => {
    const source = await open({
      connection_string: server.url('shop'),
      pool_settings: { max_connections: 2, idle_timeout: 1, pool_timeout: 1 },
    });
    const sleep = (seconds: number): Promise<unknown> => source.runJson(statement(`select cast(sleep(${seconds}) as char)`), [], {});
    const threads = async (): Promise<number> => {
      const other = await open({ connection_string: server.url('shop') });
      const { rows } = await other.query(
        "select count(*) from information_schema.processlist where db = 'shop' and id <> connection_id()",
        [],
      );
      await other.close();
      return Number(rows[0]?.[0]);
    };
    try {
      await Promise.all(Array.from({ length: 6 }, () => sleep(0.05)));
      expect(await threads()).toBe(2);
      const long = [sleep(1.6), sleep(1.6)];
      await expect(sleep(0)).rejects.toMatchObject({
        code: 'database-error',
        status: 503,
        message: expect.stringContaining('max connections reached'),
      });
      await Promise.all(long);
      await expect(sleep(0)).resolves.toBeDefined();
      // A session is not reused after a timeout, and is killed in the database after a cancellation.
      await expect(source.runJson(statement('select cast(sleep(300) as char)'), [], { deadline: Date.now() + 100 })).rejects.toMatchObject({
        code: 'timeout',
      });
      await vi.waitFor(async () => {
        const { rows } = await source.query(
          "select count(*) from information_schema.processlist where info like '%sleep(300)%' and info not like '%count%'",
          [],
        );
        expect(rows).toEqual([['0']]);
      }, WAIT);
      await vi.waitFor(async () => expect(await threads()).toBe(0), WAIT);
    } finally {
      await source.close();
    }
  });

  it('applies its own session settings, whatever those of the server are', async () => {
    await add('shop', { connection_string: { from_env: 'SHOP' }, pool_settings: { max_connections: 3 } });
    for (const table of ['item', 'wide']) await service.metadata('dbb_track_table', { source: 'shop', table });
    await service.metadata('dbb_create_array_relationship', {
      source: 'shop',
      table: 'item',
      name: 'wides',
      using: { manual_configuration: { remote_table: 'wide', column_mapping: { id: 'item_id' } } },
    });
    const { data, errors } = await service.graphql(
      `{ item(order_by: {id: asc}, where: {_or: [{name: {_eq: "a\\\\\\"'b"}}, {id: {_gt: 1}}]}) { id name at fixed wides(order_by: {id: asc}) { id body } }
         item_aggregate { aggregate { count avg { id } } } found: item(where: {at: {_eq: "2024-01-02T03:04:05.5Z"}}) { id } }`,
    );
    expect(errors).toBeUndefined();
    const { item, item_aggregate: all, found } = data as { item: readonly JsonObject[]; item_aggregate: JsonObject; found: unknown };
    expect(item).toHaveLength(3);
    expect(item[0]).toMatchObject({ id: 1, name: `a\\"'b`, at: '2024-01-02T03:04:05.500+00:00', fixed: 'x' });
    // More than the server's limit for `group_concat`.
    const wides = item[0]?.['wides'] as readonly { body: string }[];
    expect(wides.map(({ body }) => body.length)).toEqual([3000, 3000, 3000]);
    expect([all, found]).toEqual([{ aggregate: { count: 3, avg: { id: 2 } } }, [{ id: 1 }]]);
    const settings = await service.send('/v2/query', {
      method: 'POST',
      body: JSON.stringify({
        type: 'dbb_run_sql',
        args: {
          source: 'shop',
          sql: `select @@time_zone, @@sql_mode, @@group_concat_max_len, @@tx_isolation, @@autocommit, @@character_set_client,
            @@character_set_results, @@max_error_count, @@sql_select_limit > 1000000`,
        },
      }),
    });
    expect((settings.json as { result: readonly (readonly string[])[] }).result[1]).toEqual([
      '+00:00',
      expect.stringMatching(/^(?!.*(?:QUOTES|BACKSLASH|PIPES|PAD)).*STRICT_TRANS_TABLES.*SIMULTANEOUS_ASSIGNMENT$/),
      '1073741824',
      'READ-COMMITTED',
      '1',
      'utf8mb4',
      'utf8mb4',
      '1024',
      '1',
    ]);
  });

  it('limits the bytes of SQL results', async () => {
    const source = await open({ connection_string: server.url('shop') }, {}, { maxConnections: 1 });
    const most = { maxBytes: 1000 };
    for (const sql of [
      'select * from shop.wide',
      "select repeat('x', 500000)",
      // Fewer characters than bytes.
      "select repeat('ü', 600)",
      'with recursive n as (select 1 as i union all select i + 1 from n where i < 900) select * from n',
    ]) {
      const failed = await source.runSql(`set sql_select_limit = 1000000; ${sql}`, most).catch((error: unknown) => error);
      expect(failed).toMatchObject({
        code: 'bad-request',
        message: 'the rows are larger than 1000 bytes in total: request fewer rows, or set max_rows',
      });
      expect((await source.runSql('select 1', most)).rows).toEqual([['1']]);
    }
    await source.close();
  });

  it('refuses answers that the server has truncated', async () => {
    // An array, an object in it, and the list of a join.
    await server.run(`set autocommit = 1; create table shop.long_text (id int primary key, body mediumtext character set utf8mb4);
      insert into shop.long_text values (1, repeat('z', 700000)), (2, repeat('z', 700000))`);
    await service.metadata('dbb_track_table', { source: 'shop', table: 'long_text' });
    await service.sql('create table pointer (id int primary key, target int); insert into pointer values (1, 1), (2, 2)');
    await service.metadata('pg_track_table', { table: 'pointer' });
    await service.metadata('pg_create_remote_relationship', {
      table: 'pointer',
      name: 'text',
      definition: { to_source: { source: 'shop', table: 'long_text', relationship_type: 'object', field_mapping: { target: 'id' } } },
    });
    const refused = /the answer is larger than the database can produce/;
    for (const query of [
      '{ long_text { id body } }',
      '{ long_text_aggregate { nodes { body } } }',
      '{ pointer(order_by: {id: asc}) { id text { body } } }',
    ]) {
      const answer = await service.graphql(query);
      expect(JSON.stringify(answer['errors'] ?? null), query).toMatch(refused);
    }
    const fits = (await service.graphql('{ long_text_by_pk(id: 1) { body } }')) as { data: { long_text_by_pk: { body: string } } };
    expect(fits.data.long_text_by_pk.body).toHaveLength(700_000);
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    try {
      socket.start('a', 'subscription { long_text { body } }');
      expect(JSON.stringify(await socket.next())).toMatch(refused);
    } finally {
      socket.close();
    }
  });

  it('survives restarts of the server, in pools and subscriptions', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    const ask = async (): Promise<string> => JSON.stringify(await service.graphql('{ item_aggregate { aggregate { count } } }'));
    try {
      socket.start('n', 'subscription { item_aggregate { aggregate { count } } }');
      expect(JSON.stringify(await socket.next())).toContain('"count":3');
      await Promise.all([ask(), ask(), ask()]);
      await server.kill();
      expect(await ask()).toContain('connection error');
      const health = await service.send('/healthz/sources');
      expect(health.status).toBeLessThan(600);
      await server.start();
      await vi.waitFor(async () => expect(await ask()).toContain('"count":3'), WAIT);
      await server.run('set autocommit = 1; insert into shop.item (id) values (4)');
      let received = '';
      while (!received.includes('"count":4')) received = JSON.stringify(await socket.next());
    } finally {
      socket.close();
    }
  });
});
