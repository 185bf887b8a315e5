/** Behaviour specific to MariaDB: values of its types, keys of all kinds, silent conversions and truncation, and locks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { hasMariadb } from '../support/mariadb.ts';
import type { GraphqlOptions } from '../support/service.ts';
import { openShop, type Shop } from './shop.ts';

const TABLES = `use shop;
create table latin (code varchar(10) character set latin1 collate latin1_bin primary key, n int);
create table two (id int primary key, strict varchar(10) character set latin1 collate latin1_bin, loose varchar(10) collate utf8mb4_general_ci);
insert into two values (1, 'a', 'a'), (2, 'a', 'A');
create table loose (code varchar(10) collate utf8mb4_general_ci primary key, n int);
create table bytes_key (k varbinary(8), day datetime(6), amount decimal(20,4), kind enum('b','a','1'), flag tinyint(1), bits bit(3), u bigint unsigned, id uuid,
  n int, primary key (k, day, amount, kind, flag, bits, u, id));
create table floating (f double primary key, n int);
create table years (id int primary key auto_increment, made year, size set('s','m','1'));
create table myisam_table (id int primary key, n int) engine=MyISAM;
create table hub (id int primary key, n int);
create table part (id int primary key, hub_id int, body mediumtext);
create table counter (id int primary key, n int not null);
create table audit (line varchar(200));
create function writer() returns varchar(200) deterministic return json_value(@\`svc.user\`, '$."x-svc-user-id"');
create view own as select id, writer() as writer from counter;
insert into counter values (1, 0), (2, 0), (3, 0);
create trigger counted after insert on counter for each row insert into audit values (concat(new.id, ' ', coalesce(json_value(@\`svc.user\`, '$."x-svc-user-id"'), '-')));
insert into latin values ('A', 1), ('a', 2), ('ä', 3); insert into loose values ('A', 1), ('ß', 2);
insert into hub values (1, 0), (2, 0); 
insert into part select seq, 1, repeat('x', 40000) from seq_1_to_40;
insert into part select 100 + seq, 2, 'y' from seq_1_to_2;
`;

describe.skipIf(!hasMariadb())('mutations of MariaDB', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
    await shop.database.run(TABLES);
    await shop.service.metadata('reload_metadata', { reload_sources: true });
    const tables = ['latin', 'two', 'loose', 'bytes_key', 'floating', 'years', 'myisam_table', 'hub', 'part', 'counter', 'audit', 'own'];
    for (const table of tables) await shop.service.metadata('dbb_track_table', { source: 'shop', table });
    await shop.service.metadata('dbb_create_array_relationship', {
      source: 'shop',
      table: 'hub',
      name: 'parts',
      using: { manual_configuration: { remote_table: 'part', column_mapping: { id: 'hub_id' } } },
    });
  });
  afterAll(() => shop?.stop());

  /** Returns the data as text with all digits of its numbers, or code and message of the error. */
  async function ask(query: string, options: GraphqlOptions = {}): Promise<string> {
    const { data, errors } = await shop.service.graphql(query, options);
    if (errors === undefined) return printJson(data as Json);
    const [error] = errors as unknown as { message: string; extensions: { code: string; path: string } }[];
    return `${error?.extensions.code} ${error?.extensions.path}: ${error?.message}`;
  }

  it('writes values of all types', async () => {
    const columns = 'id name active rating born seen made at_time facts total mark code score small kind photo tag place';
    const row: JsonObject = {
      id: '9007199254740995',
      name: 'Zoë',
      active: true,
      rating: '12345678901234567890123456789012345.12345',
      born: '2024-02-29',
      seen: '2024-01-02T03:04:05.123456+02:00',
      made: '2024-01-02T03:04:05.123',
      at_time: '13:00:00.25',
      facts: { a: [1, null, { b: 'ü' }] },
      total: '18446744073709551615',
      mark: 21,
      code: 42,
      score: 1e-7,
      small: 0.5,
      kind: 'y',
      photo: 'AP8Q',
      tag: 'café',
      place: { type: 'Point', coordinates: [3, 4] },
    };
    const insert = `mutation($row: author_insert_input!) { insert_author_one(object: $row) { ${columns} twice } }`;
    const expected =
      '"name":"Zoë","active":true,"rating":12345678901234567890123456789012345.12345,"born":"2024-02-29","seen":"2024-01-02T01:04:05.123456+00:00",' +
      '"made":"2024-01-02T03:04:05.123","at_time":"13:00:00.25","facts":{"a":[1,null,{"b":"ü"}]},"total":18446744073709551615,"mark":21,"code":42,' +
      '"score":0.0000001,"small":0.5,"kind":"y","photo":"AP8Q","tag":"café","place":{"type":"Point","coordinates":[3,4]}';
    expect(await ask(insert, { variables: { row } })).toBe(`{"insert_author_one":{"id":9007199254740995,${expected},"twice":8}}`);
    const rows = [1, 2, 3].map((i) => ({ ...row, id: 100 + i, active: i === 2 }));
    const many = `mutation($rows: [author_insert_input!]!) { insert_author(objects: $rows) { affected_rows returning { id active mark photo } } }`;
    expect(await ask(many, { variables: { rows } })).toBe(
      '{"insert_author":{"affected_rows":3,"returning":[{"id":101,"active":false,"mark":21,"photo":"AP8Q"},{"id":102,"active":true,"mark":21,"photo":"AP8Q"},{"id":103,"active":false,"mark":21,"photo":"AP8Q"}]}}',
    );
    const { id: _, ...set } = row;
    const update = `mutation($set: author_set_input!) { update_author(where: {id: {_in: [101, 2]}}, _set: $set) { affected_rows } update_author_by_pk(pk_columns: {id: "9007199254740995"}, _inc: {total: -5, rating: "0.00001", score: 1}) { total rating score } author_by_pk: update_author_by_pk(pk_columns: {id: 2}, _set: {born: null}) { ${columns} } }`;
    expect(await ask(update, { variables: { set } })).toBe(
      `{"update_author":{"affected_rows":2},"update_author_by_pk":{"total":18446744073709551610,"rating":12345678901234567890123456789012345.12346,"score":1.0000001},"author_by_pk":{"id":2,${expected.replace('"2024-02-29"', 'null')}}}`,
    );
  });

  it('refuses values that MariaDB would convert to others', async () => {
    for (const [query, message] of [
      [
        'mutation { insert_years_one(object: {made: 24}) { id } }',
        'data-exception $.selectionSet.insert_years_one.args.object: invalid value for type year: "24"',
      ],
      [
        'mutation { insert_years_one(object: {made: 1900}) { id } }',
        'data-exception $.selectionSet.insert_years_one.args.object: invalid value for type year: "1900"',
      ],
      [
        'mutation { insert_author_one(object: {id: 7, name: "x", active: true, kind: "1"}) { id } }',
        'data-exception $.selectionSet.insert_author_one.args.object: invalid value for type enum: "1"',
      ],
      [
        'mutation { insert_author_one(object: {id: 7, name: "x", active: true, kind: "z"}) { id } }',
        "data-exception $.selectionSet.insert_author_one.args.object: Data truncated for column 'kind' at row 1",
      ],
      [
        'mutation { insert_years_one(object: {size: "3"}) { id } }',
        'data-exception $.selectionSet.insert_years_one.args.object: invalid value for type set: "3"',
      ],
      [
        'mutation { insert_author_one(object: {id: 7, name: "x", active: true, mark: 32}) { id } }',
        "data-exception $.selectionSet.insert_author_one.args.object: Data too long for column 'mark' at row 1",
      ],
      [
        'mutation { insert_author_one(object: {id: 7, name: "x", active: true, tag: "☃"}) { id } }',
        "data-exception $.selectionSet.insert_author_one.args.object: Incorrect string value: '\\xE2\\x98\\x83' for column `author`.`tag` at row 1",
      ],
      ['mutation { insert_author_one(object: {id: 7, name: "x", active: true, seen: "2500-01-01"}) { id } }', 'data-exception'],
      [
        'mutation { update_author(where: {id: {_eq: 3}}, _set: {born: "2001-02-30"}) { affected_rows } }',
        'data-exception $: invalid value for type date: "2001-02-30"',
      ],
      [
        'mutation { insert_author_one(object: {id: 7, name: "x", active: true, place: {type: "Pt"}}) { id } }',
        'parse-failed $.selectionSet.insert_author_one.args.object.place: unexpected geometry type: Pt',
      ],
    ]) {
      expect(await ask(query as string)).toMatch(new RegExp(`^${(message as string).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`));
    }
    // Zero is a value, not the next one; numeric members are members.
    expect(
      await ask(
        'mutation { insert_years(objects: [{id: 0, made: 2024, size: "1"}, {made: 0, size: "s,m"}]) { returning { id made size } } }',
      ),
    ).toBe('{"insert_years":{"returning":[{"id":0,"made":2024,"size":"1"},{"id":1,"made":0,"size":"s,m"}]}}');
  });

  it('does not join values that are equal only after conversion', async () => {
    const relate = (column: string, remote: string): Promise<unknown> =>
      shop.service.metadata('dbb_create_array_relationship', {
        source: 'shop',
        table: 'years',
        name: `by_${column}`,
        using: { manual_configuration: { remote_table: 'author', column_mapping: { [column]: remote } } },
      });
    for (const [column, remote] of [
      ['id', 'name'],
      ['size', 'total'],
      ['size', 'born'],
      ['made', 'seen'],
    ] as const) {
      await expect(relate(column, remote), column).rejects.toThrow('incompatible column types');
    }
    await relate('size', 'kind');
    await relate('id', 'score');
  });

  it('reveals nothing of excluded rows, not even their number', async () => {
    const most = '(where: {n: {_gte: 0}}, _inc: {n: 2147483647}) { affected_rows }';
    const answer = await ask(`mutation { a: update_hub${most} b: update_hub${most} }`);
    expect(answer).toMatch(/^data-exception .*Out of range value for column 'n'$/);
  });

  it('removes nothing at an empty path', async () => {
    expect(await ask('mutation { update_author_by_pk(pk_columns: {id: 3}, _delete_at_path: {facts: []}) { facts } }')).toBe(
      '{"update_author_by_pk":{"facts":[1,2]}}',
    );
  });

  it('finds texts in a list by the collation of their column, in any character set', async () => {
    expect(
      await ask('{ one: latin(where: {code: {_in: ["a", "😀"]}}) { code } none: latin(where: {code: {_in: ["Ä", "?"]}}) { code } }'),
    ).toBe('{"one":[{"code":"a"}],"none":[]}');
    const permission = { columns: ['id'], filter: { strict: { _ceq: 'loose' } } };
    await shop.service.metadata('dbb_create_select_permission', { source: 'shop', table: 'two', role: 'strict', permission });
    expect(await ask('{ two { id } }', { role: 'strict' })).toBe('{"two":[{"id":1}]}');
    expect(await ask('{ latin(where: {code: {_nin: ["a", "😀"]}}, order_by: {n: asc}) { code } }')).toBe(
      '{"latin":[{"code":"A"},{"code":"ä"}]}',
    );
  });

  it('finds rows by keys of all types', async () => {
    // In any other collation, the first two would be the same row.
    expect(
      await ask(
        'mutation { update_latin(where: {n: {_in: [1, 3]}}, _inc: {n: 10}) { affected_rows returning { code n } } latin: update_latin(where: {n: {_eq: 2}}, _set: {n: 5}) { returning { code n } } }',
      ),
    ).toBe(
      '{"update_latin":{"affected_rows":2,"returning":[{"code":"A","n":11},{"code":"ä","n":13}]},"latin":{"returning":[{"code":"a","n":5}]}}',
    );
    expect(
      await ask(
        'mutation { update_loose_by_pk(pk_columns: {code: "a"}, _set: {n: 5}) { code n } update_loose(where: {n: {_eq: 2}}, _set: {code: "ss"}) { returning { code } } }',
      ),
    ).toBe('{"update_loose_by_pk":{"code":"A","n":5},"update_loose":{"returning":[{"code":"ss"}]}}');
    const rows = [
      {
        k: 'AAE=',
        day: '2024-01-02T03:04:05.123456',
        amount: '1234567890123456.0001',
        kind: 'b',
        flag: true,
        bits: 5,
        u: '18446744073709551615',
        id: '123e4567-e89b-12d3-a456-426614174000',
        n: 1,
      },
      {
        k: '',
        day: '0001-01-01T00:00:00',
        amount: -1,
        kind: '1',
        flag: false,
        bits: 0,
        u: 0,
        id: '00000000-0000-0000-0000-000000000001',
        n: 2,
      },
    ];
    const relations = { remote_table: 'bytes_key', column_mapping: { u: 'u' } };
    await shop.service.metadata('dbb_create_array_relationship', {
      source: 'shop',
      table: 'bytes_key',
      name: 'same',
      using: { manual_configuration: relations },
    });
    expect(
      await ask(
        'mutation($rows: [bytes_key_insert_input!]!) { insert_bytes_key(objects: $rows) { returning { n same { n } } } update_bytes_key(where: {n: {_gt: 0}}, _inc: {n: 1}) { affected_rows returning { n } } delete_bytes_key(where: {n: {_eq: 2}}) { affected_rows returning { n same { n } } } }',
        { variables: { rows } },
      ),
    ).toBe(
      '{"insert_bytes_key":{"returning":[{"n":1,"same":[{"n":1}]},{"n":2,"same":[{"n":2}]}]},"update_bytes_key":{"affected_rows":2,"returning":[{"n":3},{"n":2}]},"delete_bytes_key":{"affected_rows":1,"returning":[{"n":2,"same":[{"n":2}]}]}}',
    );
  });

  it('refuses what it can neither check nor return', async () => {
    expect(
      await ask(
        'mutation { insert_floating(objects: [{f: 0.1, n: 1}]) { affected_rows returning { f } } update_floating(where: {}, _set: {n: 2}) { affected_rows } }',
      ),
    ).toContain('"affected_rows":1');
    expect(await ask('mutation { update_floating(where: {}, _set: {n: 2}) { returning { f } } }')).toContain(
      'not-supported $: rows of "floating" cannot be updated with a check or returned fields',
    );
    expect(await ask('mutation { delete_floating(where: {}) { affected_rows returning { n } } }')).toBe(
      '{"delete_floating":{"affected_rows":1,"returning":[{"n":2}]}}',
    );
    // Engines without transactions cannot roll back.
    expect(await ask('mutation { insert_myisam_table(objects: [{id: 1}]) { affected_rows } }')).toContain(
      "field 'insert_myisam_table' not found",
    );
    expect(await ask('mutation { delete_famous(where: {}) { affected_rows } }')).toContain("field 'delete_famous' not found");
  });

  it('rolls back if the answer would be truncated', async () => {
    const update = (id: number): string =>
      `mutation { update_hub(where: {id: {_eq: ${id}}}, _inc: {n: 1}) { returning { n parts { body } } } }`;
    expect(await ask(update(1))).toContain('bad-request $: the answer is larger than the database can produce');
    expect(await ask(update(2))).toBe('{"update_hub":{"returning":[{"n":1,"parts":[{"body":"y"},{"body":"y"}]}]}}');
    expect(await ask('mutation { delete_part(where: {hub_id: {_eq: 1}, id: {_lt: 3}}) { returning { id body } } }')).toMatch(
      /^\{"delete_part":\{"returning":\[\{"id":1,"body":"x{40000}"/,
    );
    expect(await ask('{ hub(order_by: {id: asc}) { n } }')).toBe('{"hub":[{"n":0},{"n":1}]}');
  });

  it('passes the session to triggers', async () => {
    for (const id of ['7', '8']) {
      await ask(`mutation { insert_counter_one(object: {id: 1${id}, n: 0}) { id } }`, { session: { 'user-id': id } });
    }
    expect(await ask('{ audit(order_by: {line: asc}) { line } }')).toBe('{"audit":[{"line":"17 7"},{"line":"18 8"}]}');
    // The next reader is another user.
    await ask('mutation { delete_counter_by_pk(id: 18) { id } }', { session: { 'user-id': '8' } });
    expect(await ask('{ own(limit: 1) { writer } }')).toBe('{"own":[{"writer":null}]}');
  });

  it('writes the same rows concurrently', async () => {
    const upsert = (i: number): Promise<string> =>
      ask(
        `mutation { insert_counter(objects: [{id: ${50 + (i % 3)}, n: ${i}}], on_conflict: {constraint: PRIMARY, update_columns: [n]}) { affected_rows } }`,
      );
    const done = await Promise.all(Array.from({ length: 24 }, (_, i) => upsert(i)));
    expect(done).toEqual(Array.from({ length: 24 }, () => '{"insert_counter":{"affected_rows":1}}'));
    // One of two deadlocked transactions is repeated.
    const [a, b] = [
      'update_counter_by_pk(pk_columns: {id: 1}, _inc: {n: 1}) { id }',
      'update_counter_by_pk(pk_columns: {id: 2}, _inc: {n: 1}) { id }',
    ];
    const crossed = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(`mutation { x: ${i % 2 === 0 ? a : b} y: ${i % 2 === 0 ? b : a} }`)),
    );
    const refused = crossed.filter((text) => !text.startsWith('{'));
    for (const text of refused) expect(text).toContain('concurrent-update');
    const changed = crossed.length - refused.length;
    expect(await ask('{ counter(where: {id: {_in: [1, 2]}}) { n } }')).toBe(`{"counter":[{"n":${changed}},{"n":${changed}}]}`);
  });

  it('writes nothing after the client has disconnected', async () => {
    const { createConnection } = await import('mysql2/promise');
    const holder = await createConnection({ uri: shop.database.url('shop').replace('mariadb:', 'mysql:') });
    try {
      await holder.query('start transaction');
      await holder.query('update counter set n = n where id = 3');
      const controller = new AbortController();
      const query =
        'mutation { insert_counter_one(object: {id: 99, n: 0}) { id } update_counter_by_pk(pk_columns: {id: 3}, _inc: {n: 1}) { id } }';
      const answer = fetch(`${shop.service.url}/v1/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
        signal: controller.signal,
      }).catch(() => 'gone');
      const waits = async (): Promise<boolean> => {
        const [rows] = await holder.query("select count(*) as n from information_schema.processlist where info like 'update `counter`%'");
        return (rows as unknown as { n: number }[])[0]?.n === 1;
      };
      while (!(await waits())) await new Promise((resolve) => setTimeout(resolve, 10));
      controller.abort();
      expect(await answer).toBe('gone');
      while (await waits()) await new Promise((resolve) => setTimeout(resolve, 10));
    } finally {
      await holder.end();
    }
    expect(await ask('{ counter(where: {id: {_in: [3, 99]}}) { id n } }')).toBe('{"counter":[{"id":3,"n":0}]}');
  });

  it('repeats a single statement that deadlocks', async () => {
    const { createConnection } = await import('mysql2/promise');
    const holder = await createConnection({ uri: shop.database.url('shop').replace('mariadb:', 'mysql:') });
    try {
      await holder.query('create table crossed (id int primary key, n int not null)');
      await holder.query('insert into crossed values (1, 0), (2, 0)');
      await shop.service.metadata('reload_metadata', { reload_sources: true });
      await shop.service.metadata('dbb_track_table', { source: 'shop', table: 'crossed' });
      await holder.query('start transaction');
      // Of two deadlocked transactions, the server aborts the one that has written less.
      await holder.query("insert into audit select 'x' from seq_1_to_100");
      await holder.query('update crossed set n = n where id = 2');
      const answer = ask('mutation { update_crossed(where: {}, _inc: {n: 1}) { affected_rows } }');
      const waits = async (): Promise<boolean> => {
        const [rows] = await holder.query("select count(*) as n from information_schema.processlist where info like 'update `crossed`%'");
        return (rows as unknown as { n: number }[])[0]?.n === 1;
      };
      while (!(await waits())) await new Promise((resolve) => setTimeout(resolve, 10));
      await holder.query('update crossed set n = n where id = 1');
      await holder.query('rollback');
      expect(await answer).toBe('{"update_crossed":{"affected_rows":2}}');
    } finally {
      await holder.end();
    }
    expect(await ask('{ crossed { n } }')).toBe('{"crossed":[{"n":1},{"n":1}]}');
  });
});
