/** Reads, mutations and waits for a free session end with their request. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, printJson } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';

const TABLES = `create database shop; use shop;
create table item (id int primary key, n int not null);
create table loose (n int);
insert into item values (1, 0), (2, 0);
create function pause(n int) returns int not deterministic no sql return sleep(20) + n;
create view slow as select id, pause(n) as n from item;`;

describe.skipIf(!hasMariadb())('requests to MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  /** Holds a lock on the row with the id 2. */
  let holder: Connection;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run(TABLES);
    service = await startTestService({ REQUEST_TIMEOUT: '2' }, { SHOP: server.url('shop') });
    await service.metadata('dbb_add_source', {
      name: 'shop',
      configuration: { connection_info: { connection_string: { from_env: 'SHOP' }, pool_settings: { max_connections: 3 } } },
    });
    for (const table of ['item', 'loose', 'slow']) await service.metadata('dbb_track_table', { source: 'shop', table });
    holder = await createConnection({ uri: server.url('shop').replace('mariadb:', 'mysql:') });
    await holder.query('start transaction');
    await holder.query('update item set n = n where id = 2');
  });
  afterAll(async () => {
    await holder?.end();
    await service?.stop();
    await server?.stop();
  });

  const ask = async (query: string): Promise<string> => {
    const { data, errors } = await service.graphql(query);
    if (errors === undefined) return printJson(data as Json);
    return String((errors as unknown as { extensions: { code: string } }[])[0]?.extensions.code);
  };
  /** Returns the number of running or blocked statements of the service. */
  async function working(): Promise<number> {
    const [rows] = await holder.query<RowDataPacket[]>(
      "select count(*) as n from information_schema.processlist where command <> 'Sleep' and info is not null and id <> connection_id()",
    );
    return Number(rows[0]?.['n']);
  }
  async function until(count: number): Promise<void> {
    while ((await working()) !== count) await sleep(10);
  }
  const unchanged = async (): Promise<void> => {
    await until(0);
    expect(await ask('{ item(order_by: {id: asc}) { n } loose { n } }')).toBe('{"item":[{"n":0},{"n":0}],"loose":[]}');
  };

  const LOCKED = 'update_item(where: {}, _inc: {n: 1}) { affected_rows }';
  const WAITING = {
    'a query': '{ slow { n } }',
    'an aggregate': '{ slow_aggregate { aggregate { sum { n } } } }',
    'a statement alone': `mutation { ${LOCKED} }`,
    'a transaction of several': `mutation { insert_loose(objects: [{n: 1}]) { affected_rows } ${LOCKED} }`,
    'rows that are read back': 'mutation { update_item(where: {n: {_eq: 0}}, _inc: {n: 1}) { returning { id n } } }',
    'an upsert':
      'mutation { insert_item(objects: [{id: 1, n: 9}, {id: 2, n: 9}], on_conflict: {constraint: PRIMARY, update_columns: [n]}) { affected_rows } }',
    'a delete': 'mutation { insert_loose_one(object: {n: 1}) { n } delete_item(where: {}) { returning { id } } }',
  };

  it('end at the deadline and roll back', async () => {
    // More than there are sessions, so that some wait for one.
    const answers = await Promise.all(Object.values(WAITING).map(ask));
    expect(answers).toEqual(Object.keys(WAITING).map(() => 'timeout'));
    await unchanged();
  });

  it.each(['a query', 'a transaction of several'] as const)('end when the client disconnects: %s', async (what) => {
    const controller = new AbortController();
    const answer = fetch(`${service.url}/v1/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: printJson({ query: WAITING[what] }),
      signal: controller.signal,
    }).catch(() => 'gone');
    await until(1);
    controller.abort();
    expect(await answer).toBe('gone');
    await unchanged();
  });

  it('return their sessions', async () => {
    await holder.query('rollback');
    expect(
      await Promise.all(Array.from({ length: 6 }, () => ask('mutation { update_item(where: {}, _inc: {n: 1}) { affected_rows } }'))),
    ).toEqual(Array.from({ length: 6 }, () => '{"update_item":{"affected_rows":2}}'));
  });
});
