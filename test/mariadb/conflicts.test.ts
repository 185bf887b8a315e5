/** Upserts of MariaDB with columns that convert their values, and with concurrent writers of the same rows. */
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';

const TABLES = `create database shop; use shop;
create table price (amount decimal(5,2) primary key, n int);
create table moment (at datetime(3) primary key, n int);
create table span (t time(1), unsigned_amount decimal(6,1) unsigned, n int, primary key (t, unsigned_amount));
create table slot (id int primary key auto_increment, code varchar(20) not null, hits int not null default 0, constraint slot_code unique (code));
create table visit (id int primary key auto_increment, slot_id int not null, n int, foreign key (slot_id) references slot (id));
insert into price values (1.01, 1), (2.00, 2); insert into moment values ('2024-01-01 00:00:00.123', 1); insert into span values ('01:00:00.5', 7.3, 1);`;

describe.skipIf(!hasMariadb())('conflicts in MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  let other: Connection;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run(TABLES);
    service = await startTestService({}, { SHOP: server.url('shop') });
    await service.metadata('dbb_add_source', {
      name: 'shop',
      configuration: { connection_info: { connection_string: { from_env: 'SHOP' }, pool_settings: { max_connections: 6 } } },
    });
    for (const table of ['price', 'moment', 'span', 'slot', 'visit']) await service.metadata('dbb_track_table', { source: 'shop', table });
    await service.metadata('dbb_create_object_relationship', {
      source: 'shop',
      table: 'visit',
      name: 'slot',
      using: { foreign_key_constraint_on: 'slot_id' },
    });
    await service.metadata('dbb_create_array_relationship', {
      source: 'shop',
      table: 'slot',
      name: 'visits',
      using: { foreign_key_constraint_on: { table: 'visit', column: 'slot_id' } },
    });
    other = await createConnection({ uri: server.url('shop').replace('mariadb:', 'mysql:') });
  });
  afterAll(async () => {
    await other?.end();
    await service?.stop();
    await server?.stop();
  });

  const ask = async (query: string, variables: JsonObject = {}): Promise<string> => {
    const { data, errors } = await service.graphql(query, { variables });
    if (errors === undefined) return printJson(data as Json);
    const [error] = errors as unknown as { message: string; extensions: { code: string } }[];
    return `${error?.extensions.code}: ${error?.message}`;
  };

  it('finds rows by the converted value of a column', async () => {
    const upsert = (table: string, object: string): Promise<string> =>
      ask(
        `mutation { insert_${table}_one(object: ${object}, on_conflict: {constraint: PRIMARY, update_columns: [n]}) { n } insert_${table}(objects: [${object}], on_conflict: {constraint: PRIMARY}) { affected_rows } }`,
      );
    const done = (table: string): string => `{"insert_${table}_one":{"n":5},"insert_${table}":{"affected_rows":0}}`;
    for (const amount of ['1.005', '1.0149', '"1.01"']) expect(await upsert('price', `{amount: ${amount}, n: 5}`)).toBe(done('price'));
    expect(await ask('{ price(order_by: {amount: asc}) { amount n } }')).toBe('{"price":[{"amount":1.01,"n":5},{"amount":2.00,"n":2}]}');
    expect(await upsert('price', '{amount: -0.004, n: 5}')).toBe(done('price'));
    expect(await upsert('moment', '{at: "2024-01-01T00:00:00.123999", n: 5}')).toBe(done('moment'));
    expect(await upsert('span', '{t: "01:00:00.59", unsigned_amount: 7.25, n: 5}')).toBe(done('span'));
    expect(await ask('{ price_aggregate { aggregate { count } } moment { at n } span { t unsigned_amount n } }')).toBe(
      '{"price_aggregate":{"aggregate":{"count":3}},"moment":[{"at":"2024-01-01T00:00:00.123","n":5}],"span":[{"t":"01:00:00.5","unsigned_amount":7.3,"n":5}]}',
    );
    await ask('mutation { delete_price_by_pk(amount: 0) { n } }');
  });

  it('finds rows again under a key that the column has converted', async () => {
    expect(await ask('mutation { update_price(where: {n: {_eq: 2}}, _set: {amount: 3.005}) { returning { amount n } } }')).toBe(
      '{"update_price":{"returning":[{"amount":3.01,"n":2}]}}',
    );
    expect(await ask('mutation { update_price(where: {n: {_eq: 2}}, _inc: {amount: 0.006}) { returning { amount } } }')).toBe(
      '{"update_price":{"returning":[{"amount":3.02}]}}',
    );
    expect(
      await ask('mutation { update_moment(where: {}, _set: {at: "2025-05-05T05:05:05.9876"}) { affected_rows returning { at } } }'),
    ).toBe('{"update_moment":{"affected_rows":1,"returning":[{"at":"2025-05-05T05:05:05.987"}]}}');
    expect(
      await ask(
        'mutation { update_span(where: {}, _set: {t: "02:00:00.99"}, _inc: {unsigned_amount: 3.66}) { returning { t unsigned_amount } } }',
      ),
    ).toBe('{"update_span":{"returning":[{"t":"02:00:00.9","unsigned_amount":11.0}]}}');
  });

  it('handles rows that concurrent upserts insert in between', async () => {
    const query = `mutation($code: String!) {
      insert_slot(objects: [{code: $code, hits: 1}], on_conflict: {constraint: slot_code, update_columns: [hits]}) { affected_rows returning { code } } }`;
    const nested = `mutation($code: String!) {
      insert_visit_one(object: {n: 1, slot: {data: {code: $code}, on_conflict: {constraint: slot_code, update_columns: [code]}}}) { slot { code } } }`;
    const ignoring =
      'mutation($code: String!) { insert_slot(objects: [{code: $code}], on_conflict: {constraint: slot_code}) { affected_rows } }';
    const [codes, each] = [['a', 'b', 'c'], 6];
    const texts = await Promise.all(
      codes.flatMap((code) => Array.from({ length: each }, (_, i) => ask([query, nested, ignoring][i % 3] as string, { code }))),
    );
    expect(texts.filter((text) => !text.startsWith('{'))).toEqual([]);
    expect(await ask('{ slot(order_by: {code: asc}) { code visits_aggregate { aggregate { count } } } }')).toBe(
      `{"slot":[${codes.map((code) => `{"code":"${code}","visits_aggregate":{"aggregate":{"count":${each / 3}}}}`).join(',')}]}`,
    );
  });

  /** Runs an upsert while another session has changed the row without committing. */
  async function meanwhile(query: string, theirs: string, end: 'commit' | 'rollback'): Promise<string> {
    await other.query('start transaction');
    await other.query(theirs);
    const answer = ask(query);
    // A statement that is seen twice is waiting.
    for (let seen = 0; seen < 2; ) {
      const [rows] = await other.query<RowDataPacket[]>(
        "select count(*) as n from information_schema.processlist where command = 'Execute' and info like '%`slot`%'",
      );
      seen = Number(rows[0]?.['n']) > 0 ? seen + 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await other.query(end);
    return answer;
  }

  it('handles rows that appear or disappear during the search', async () => {
    const upsert =
      'mutation { insert_slot(objects: [{code: "late", hits: 7}], on_conflict: {constraint: slot_code, update_columns: [hits]}) { affected_rows returning { code hits } } }';
    const seven = '{"insert_slot":{"affected_rows":1,"returning":[{"code":"late","hits":7}]}}';
    expect(await meanwhile(upsert, "insert into slot (code, hits) values ('late', 1)", 'commit')).toBe(seven);
    expect(await meanwhile(upsert, "delete from slot where code = 'late'", 'commit')).toBe(seven);
    expect(await meanwhile(upsert, "delete from slot where code = 'late'", 'rollback')).toBe(seven);
    await other.query("delete from slot where code = 'late'");
    expect(await meanwhile(upsert, "insert into slot (code) values ('late')", 'rollback')).toBe(seven);
    expect(
      await meanwhile(
        'mutation { insert_slot(objects: [{code: "new"}], on_conflict: {constraint: slot_code}) { affected_rows } }',
        "insert into slot (code) values ('new')",
        'commit',
      ),
    ).toBe('{"insert_slot":{"affected_rows":0}}');
    expect(await ask('{ slot(where: {code: {_in: ["late", "new"]}}, order_by: {code: asc}) { code hits } }')).toBe(
      '{"slot":[{"code":"late","hits":7},{"code":"new","hits":0}]}',
    );
  });
});
