import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/databases/mariadb/connect.ts';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import type { GraphqlOptions } from '../support/service.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { openShop, type Shop } from './shop.ts';

describe.skipIf(!hasMariadb())('MariaDB', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop.stop());

  /** Returns the data as text with all digits of its numbers. */
  async function ask(query: string, options: GraphqlOptions = {}): Promise<string> {
    const { data, errors } = await shop.service.graphql(query, options);
    return printJson(errors ?? (data as Json));
  }

  async function metadata(type: string, args: JsonObject): Promise<void> {
    await shop.service.metadata(type, { source: 'shop', ...args });
  }

  async function runSql(args: JsonObject): Promise<{ status: number; text: string }> {
    const body = printJson({ type: 'dbb_run_sql', args: { source: 'shop', ...args } });
    return shop.service.send('/v2/query', { method: 'POST', body });
  }

  it('prints values of all types', async () => {
    const columns = 'id name active rating born seen made at_time facts total mark code score small kind photo tag place twice';
    expect(await ask(`{ author(order_by: {id: desc}, limit: 1) { ${columns} __typename } }`)).toBe(
      '{"author":[{"id":9007199254740993,"name":"Ann","active":true,"rating":12345678901234567890123456789012345.12345,"born":"1980-02-29",' +
        '"seen":"2024-01-02T03:04:05.123456+00:00","made":"2024-01-02T03:04:05.123","at_time":"13:00:00.25","facts":{"a":1.10,"b":[1,{"c":null}]},' +
        '"total":18446744073709551615,"mark":21,"code":42,"score":0.1,"small":0.1,"kind":"x","photo":"AP8Q","tag":"café",' +
        '"place":{"type":"Point","coordinates":[1,2]},"twice":6,"__typename":"author"}]}',
    );
    expect(await ask('{ author_by_pk(id: 3) { active facts(path: "[1]") tag seen } none: author_by_pk(id: 1) { id } }')).toBe(
      '{"author_by_pk":{"active":true,"facts":2,"tag":"b","seen":null},"none":null}',
    );
    expect(await ask('{ article_by_pk(id: 5) { title author { id } } famous(order_by: {id: asc}) { name } other_note { text } }')).toBe(
      '{"article_by_pk":{"title":"a \\\\ \\"b\\" \'c\' \\n","author":null},"famous":[{"name":"Cid"},{"name":"Ann"}],"other_note":[{"text":"elsewhere"}]}',
    );
    expect(await ask('{ author { hidden } }')).toContain("field 'hidden' not found");
  });

  it('nests pages of related rows', async () => {
    const nested = `{ author(order_by: {articles_aggregate: {count: desc}, name: asc}) {
      name articles(order_by: {likes: desc_nulls_last}, limit: 2, offset: 1) { title tags(order_by: {label: asc}) { label } author { name } } } }`;
    expect(await ask(nested)).toBe(
      '{"author":[{"name":"Ann","articles":[{"title":"one","tags":[{"label":"a"},{"label":"b"}],"author":{"name":"Ann"}},' +
        '{"title":"three","tags":[],"author":{"name":"Ann"}}]},{"name":"Cid","articles":[]},{"name":"bob","articles":[]}]}',
    );
    const variables = { limit: 2, offset: 1 };
    expect(
      await ask(
        'query($limit: Int, $offset: Int) { author(limit: $limit, offset: $offset, order_by: {name: asc}) { name articles(offset: $offset, order_by: {id: asc}) { id } } }',
        {
          variables,
        },
      ),
    ).toBe('{"author":[{"name":"bob","articles":[]},{"name":"Cid","articles":[]}]}');
    expect(
      await ask('{ article(distinct_on: author_id, order_by: [{author_id: asc_nulls_first}, {likes: desc_nulls_last}]) { id } }'),
    ).toBe('{"article":[{"id":5},{"id":4},{"id":2}]}');
    expect(
      await ask(
        '{ author(order_by: {id: desc}, limit: 1) { articles(distinct_on: published, order_by: [{published: asc}, {id: desc}], limit: 3) { id } } }',
      ),
    ).toBe('{"author":[{"articles":[{"id":3},{"id":2}]}]}');
    expect(await ask('{ author(limit: 0) { id } article(offset: 4, order_by: {author: {name: asc}, id: desc}) { id } }')).toBe(
      '{"author":[],"article":[{"id":5}]}',
    );
  });

  it('aggregates exactly', async () => {
    expect(
      await ask(`{ author_aggregate(order_by: {id: asc}) { aggregate { count pairs: count(columns: [rating, kind], distinct: true)
        sum { total rating code } avg { code } max { id seen kind tag } min { total } stddev { code } } nodes { name } } }`),
    ).toBe(
      '{"author_aggregate":{"aggregate":{"count":3,"pairs":3,"sum":{"total":18446744073709551620,"rating":12345678901234567890123456789012346.62345,"code":42},' +
        '"avg":{"code":42},"max":{"id":9007199254740993,"seen":"2024-01-02T03:04:05.123456+00:00","kind":"y","tag":"café"},"min":{"total":5},' +
        '"stddev":{"code":null}},"nodes":[{"name":"bob"},{"name":"Cid"},{"name":"Ann"}]}}',
    );
    expect(
      await ask(`{ author(order_by: {id: asc}) { page: articles_aggregate(limit: 2, order_by: {id: asc}) { aggregate { count sum { likes } __typename } nodes { id } }
        articles_aggregate(where: {published: {_eq: true}}) { aggregate { count } } } }`),
    ).toBe(
      '{"author":[{"page":{"aggregate":{"count":0,"sum":{"likes":null},"__typename":"article_aggregate_fields"},"nodes":[]},"articles_aggregate":{"aggregate":{"count":0}}},' +
        '{"page":{"aggregate":{"count":1,"sum":{"likes":5},"__typename":"article_aggregate_fields"},"nodes":[{"id":4}]},"articles_aggregate":{"aggregate":{"count":1}}},' +
        '{"page":{"aggregate":{"count":2,"sum":{"likes":40},"__typename":"article_aggregate_fields"},"nodes":[{"id":1},{"id":2}]},"articles_aggregate":{"aggregate":{"count":2}}}]}',
    );
  });

  const conditions: readonly (readonly [where: string, names: string])[] = [
    ['{id: {_in: ["9007199254740993", 3]}}', 'Ann,Cid'],
    ['{id: {_nin: [2]}}', 'Ann,Cid'],
    ['{name: {_eq: "ann"}}', 'Ann'],
    ['{name: {_like: "_n%"}}', 'Ann'],
    ['{name: {_regex: "^[A-Z]i"}}', 'Cid'],
    ['{name: {_iregex: "^B"}}', 'bob'],
    ['{tag: {_eq: "café"}}', 'Ann'],
    ['{tag: {_in: ["café", "☃"]}}', 'Ann'],
    ['{tag: {_ilike: "CAF%"}}', 'Ann'],
    ['{rating: {_eq: "12345678901234567890123456789012345.12345"}}', 'Ann'],
    ['{rating: {_in: [1.5, 2]}}', 'Cid'],
    ['{total: {_eq: "18446744073709551615"}}', 'Ann'],
    ['{total: {_in: ["18446744073709551615"]}}', 'Ann'],
    ['{seen: {_eq: "2024-01-02T05:04:05.123456+02:00"}}', 'Ann'],
    ['{made: {_lte: "2024-01-02T03:04:05.123"}}', 'Ann'],
    ['{at_time: {_gt: "12:00"}}', 'Ann'],
    ['{born: {_in: ["2000-01-01"]}}', 'Cid'],
    ['{small: {_eq: 0.1}}', 'Ann'],
    ['{photo: {_in: ["AP8Q"]}}', 'Ann'],
    ['{mark: {_eq: 21}}', 'Ann'],
    ['{kind: {_in: ["x"]}}', 'Ann'],
    ['{active: {_eq: true}}', 'Ann,Cid'],
    ['{active: {_in: [false]}}', 'bob'],
    ['{facts: {_contains: {a: 1.1}}}', 'Ann'],
    ['{facts: {_has_key: "b"}}', 'Ann'],
    ['{facts: {_has_keys_any: ["z", "b"]}}', 'Ann'],
    ['{facts: {_has_keys_all: ["a", "z"]}}', ''],
    ['{rating: {_is_null: true}}', 'bob'],
    ['{articles: {published: {_eq: true}, likes: {_gt: 5}}}', 'Ann'],
    ['{_not: {articles: {}}}', 'bob'],
    ['{articles: {tags: {label: {_eq: "c"}}, author: {name: {_eq: "Ann"}}}}', 'Ann'],
    ['{articles_aggregate: {count: {predicate: {_gt: 1}}}}', 'Ann'],
    ['{articles_aggregate: {bool_and: {arguments: published, predicate: {_eq: true}}}}', 'Cid'],
    ['{_or: [{name: {_eq: "bob"}}, {_and: [{id: {_gt: 2}}, {id: {_lt: 4}}]}]}', 'Cid,bob'],
  ];
  it('finds rows by all operators', async () => {
    const roots = conditions.map(([where], i) => `c${i}: author(where: ${where}, order_by: {name: asc}) { name }`);
    const { data, errors } = await shop.service.graphql(`{ ${roots.join('\n')} }`);
    expect(errors).toBeUndefined();
    const found = Object.values(data as JsonObject).map((rows) => (rows as readonly { name: string }[]).map(({ name }) => name));
    const expected = conditions.map(([where, names]) => [
      where,
      names
        .split(',')
        .filter((name) => name !== '')
        .sort(),
    ]);
    expect(found.map((names, i) => [conditions[i]?.[0], [...names].sort()])).toEqual(expected);
  });

  it('refuses texts that do not fit a type and that the database would convert', async () => {
    for (const where of [
      '{id: {_eq: "abc"}}',
      '{id: {_in: ["1", "2x"]}}',
      '{born: {_eq: "2023-02-30"}}',
      '{name: {_regex: "("}}',
      '{active: {_eq: "maybe"}}',
    ]) {
      expect(await ask(`{ author(where: ${where}) { id } }`)).toContain('"code":"data-exception"');
    }
  });

  it('respects permissions', async () => {
    await metadata('dbb_create_select_permission', {
      table: 'article',
      role: 'reader',
      permission: { columns: ['id', 'title'], filter: { author_id: { _eq: 'X-Svc-User-Id' } }, limit: 2, allow_aggregations: true },
    });
    await metadata('dbb_create_select_permission', {
      table: 'author',
      role: 'reader',
      permission: { columns: ['name'], filter: { id: { _in: 'X-Svc-Authors' }, articles: { published: { _eq: true } } } },
    });
    const reader = { role: 'reader', session: { 'user-id': '9007199254740993', authors: '{9007199254740993,2}' } };
    expect(
      await ask(
        '{ article(order_by: {id: desc}) { id } article_aggregate(order_by: {id: asc}) { aggregate { count } nodes { id } } author { name } }',
        reader,
      ),
    ).toBe(
      '{"article":[{"id":3},{"id":2}],"article_aggregate":{"aggregate":{"count":3},"nodes":[{"id":1},{"id":2}]},"author":[{"name":"Ann"}]}',
    );
    expect(await ask('{ article { id } }', { ...reader, session: { 'user-id': '0 or 1=1', authors: '{}' } })).toContain('data-exception');
    expect(await ask('{ author { name } }', { ...reader, session: { 'user-id': '3', authors: '[]' } })).toBe('{"author":[]}');
    expect(await ask('{ article { likes } }', reader)).toContain("field 'likes' not found");
    // Whether a pattern is invalid does not depend on visible or hidden rows.
    for (const id of ['9007199254740993', '7']) {
      const someone = { role: 'reader', session: { 'user-id': id, authors: '{}' } };
      expect(await ask('{ article(where: {title: {_regex: "("}}) { id } }', someone)).toContain('data-exception');
    }
  });

  it('fails if the database aborts a pattern', async () => {
    const slow = '^(?:(([a-z])+.)+[A-Z]|a+!)$';
    await runSql({ sql: `insert into article values (20, 3, '${'a'.repeat(40)}!', 0, 0)` });
    try {
      for (const operator of ['_regex', '_nregex', '_iregex', '_niregex']) {
        expect(await ask(`{ article(where: {id: {_eq: 20}, title: {${operator}: "${slow}"}}) { id } }`)).toContain('match limit exceeded');
        const where = `where: {id: {_eq: 20}, title: {${operator}: "${slow}"}}`;
        expect(await ask(`mutation { update_article(${where}, _set: {likes: 1}) { affected_rows } }`)).toContain('match limit exceeded');
        expect(await ask(`mutation { delete_article(${where}) { affected_rows } }`)).toContain('match limit exceeded');
      }
      expect(await ask('{ article_by_pk(id: 20) { likes } }')).toBe('{"article_by_pk":{"likes":0}}');
    } finally {
      await runSql({ sql: 'delete from article where id = 20' });
    }
  });

  it('fails if the answer would be truncated', async () => {
    expect(await ask('{ big { id body } }')).toContain('the answer is larger than the database can produce');
    expect(await ask('{ big(limit: 2, order_by: {id: asc}) { id } big_aggregate { aggregate { count } } }')).toBe(
      '{"big":[{"id":1},{"id":2}],"big_aggregate":{"aggregate":{"count":40}}}',
    );
  });

  it('joins tables of PostgreSQL in both directions', async () => {
    const { service } = shop;
    await service.sql(
      "create table fan (id int primary key, author_id bigint, born date); insert into fan values (1, 9007199254740993, '2000-01-01'), (2, 3, null), (3, null, null), (4, 77, null)",
    );
    await service.metadata('pg_track_table', { table: 'fan' });
    const definition = (source: string, table: string, kind: string, mapping: JsonObject): JsonObject => ({
      to_source: { source, table, relationship_type: kind, field_mapping: mapping },
    });
    await service.metadata('pg_create_remote_relationship', {
      table: 'fan',
      name: 'author',
      definition: definition('shop', 'author', 'object', { author_id: 'id' }),
    });
    await service.metadata('pg_create_remote_relationship', {
      table: 'fan',
      name: 'articles',
      definition: definition('shop', 'article', 'array', { author_id: 'author_id' }),
    });
    await metadata('dbb_create_remote_relationship', {
      table: 'author',
      name: 'fans',
      definition: definition('default', 'fan', 'array', { id: 'author_id', born: 'born' }),
    });
    await metadata('dbb_create_remote_relationship', {
      table: 'author',
      name: 'all_fans',
      definition: definition('default', 'fan', 'array', { id: 'author_id' }),
    });
    expect(
      await ask(
        '{ fan(order_by: {id: asc}) { id author { name } articles(order_by: {id: desc}, limit: 1) { title } articles_aggregate { aggregate { count } } } }',
      ),
    ).toBe(
      '{"fan":[{"id":1,"author":{"name":"Ann"},"articles":[{"title":"three"}],"articles_aggregate":{"aggregate":{"count":3}}},' +
        '{"id":2,"author":{"name":"Cid"},"articles":[{"title":"four"}],"articles_aggregate":{"aggregate":{"count":1}}},' +
        '{"id":3,"author":null,"articles":[],"articles_aggregate":{"aggregate":{"count":0}}},' +
        '{"id":4,"author":null,"articles":[],"articles_aggregate":{"aggregate":{"count":0}}}]}',
    );
    expect(await ask('{ author(order_by: {id: asc}) { name fans { id } all_fans { id author { name } } } }')).toBe(
      '{"author":[{"name":"bob","fans":[],"all_fans":[]},{"name":"Cid","fans":[],"all_fans":[{"id":2,"author":{"name":"Cid"}}]},' +
        '{"name":"Ann","fans":[],"all_fans":[{"id":1,"author":{"name":"Ann"}}]}]}',
    );
  });

  it('updates subscribers', async () => {
    const socket = await new TestSocket(shop.service.url, { protocol: MODERN }).init();
    const received = new Map<string, Json[]>();
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) {
        const { id, payload } = await socket.next();
        received.set(String(id), [...(received.get(String(id)) ?? []), payload as Json]);
      }
    };
    try {
      const query =
        'subscription($id: bigint!, $name: String!) { article(where: {author_id: {_eq: $id}, title: {_regex: $name}}, order_by: {id: asc}, limit: 2) { id } }';
      socket.start('cid', query, { variables: { id: 3, name: '.' } });
      socket.start('ann', query, { variables: { id: '9007199254740993', name: '.' } });
      socket.start('wrong', query, { variables: { id: 3, name: '(' } });
      await until(() => received.size === 3);
      expect([received.get('cid'), received.get('ann')]).toEqual([
        [{ data: { article: [{ id: 4 }] } }],
        [{ data: { article: [{ id: 1 }, { id: 2 }] } }],
      ]);
      expect(printJson(received.get('wrong') ?? null)).toContain('data-exception');
      await runSql({ sql: "insert into article values (9, 3, 'nine', 0, 0)" });
      await until(() => (received.get('cid') ?? []).length === 2);
      expect(received.get('cid')?.[1]).toEqual({ data: { article: [{ id: 4 }, { id: 9 }] } });
      expect(received.get('ann')).toHaveLength(1);
    } finally {
      socket.close();
      await runSql({ sql: 'delete from article where id = 9' });
    }
  });

  it('runs SQL of administrators', async () => {
    expect((await runSql({ sql: 'select 1; select id, name, null as n from author where id < 4 order by id' })).text).toBe(
      '{"result_type":"TuplesOk","result":[["id","name","n"],["2","bob","NULL"],["3","Cid","NULL"]]}',
    );
    const failed = await runSql({ sql: "insert into tag values (4, 'q'); insert into tag values (99, 'x')" });
    expect([failed.status, failed.text]).toEqual([400, expect.stringContaining('"code":"database-error"')]);
    expect(await ask('{ tag_aggregate { aggregate { count } } }')).toBe('{"tag_aggregate":{"aggregate":{"count":3}}}');
    for (const sql of ['create table z (a int); drop table z', "insert into tag values (4, 'q')"]) {
      expect((await runSql({ sql, read_only: true })).text).toContain('READ ONLY');
    }
    // Only a parser for MariaDB knows where texts and comments end, and what a statement sets.
    for (const before of [
      "execute immediate 'commit'; execute immediate 'set tx_read_only = 0'",
      'set tx_read_only = 0; commit',
      'set @a = (select 1, 2), tx_read_only = 0; /*! commit */',
      "select 1 as `'`; set tx_read_only = 0; commit; select '`'",
      "select 1 #'\n; set tx_read_only = 0; commit; select 1 #'\n",
      "select 2*/*'*/3; set tx_read_only = 0; commit; select '1'",
      "select 1 /*!99999 ' */; set tx_read_only = 0; commit; select '1'",
      'select 1 --\u00a01; set tx_read_only = 0; commit',
      'set statement tx_read_only = 0 for create table z (a int)',
      'begin not atomic set tx_read_only = 0; commit; end',
      'analyze table tag',
      'set global sql_warnings = 0',
      "select 1 into outfile 'nowhere'",
    ]) {
      const { text } = await runSql({ sql: `${before}; insert into tag values (4, 'q')`, read_only: true });
      expect(text).toMatch(/read-only SQL .* cannot have /);
    }
    expect((await runSql({ sql: 'set @a = 1, @b = concat(1, 2); (select @b as b)', read_only: true })).text).toContain('[["b"],["12"]]');
    expect(await ask('{ tag_aggregate { aggregate { count } } }')).toBe('{"tag_aggregate":{"aggregate":{"count":3}}}');
    expect((await runSql({ sql: 'alter table tag add column weight int' })).status).toBe(200);
    await shop.service.metadata('reload_metadata', { reload_sources: true });
    expect(await ask('{ tag(limit: 1) { weight } }')).toBe('{"tag":[{"weight":null}]}');
  });

  it('limits the rows of SQL and compares the whole catalog afterwards', async () => {
    const both = 'select 1 as n union all select 2';
    expect((await runSql({ sql: both, max_rows: 1 })).text).toBe('{"result_type":"TuplesOk","result":[["n"],["1"]],"truncated":true}');
    expect((await runSql({ sql: both, max_rows: 2 })).text).toBe('{"result_type":"TuplesOk","result":[["n"],["1"],["2"]]}');
    const limited: readonly JsonObject[] = [{ sql: both, max_rows: 1 }, { sql: `set sql_select_limit = 1; ${both}` }];
    for (const args of limited) {
      const checked = await runSql({ ...args, check_metadata_consistency: true, cascade: true });
      expect(checked.text).toContain('"affected":[]');
    }
    expect(await ask('{ article_by_pk(id: 5) { title } tag_aggregate { aggregate { count } } }')).toContain('"count":3');
  });

  it('follows DDL, and refuses in advance what the metadata does not allow', async () => {
    const define = async (sql: string, args: JsonObject = {}): Promise<Json> => (await runSql({ sql, ...args })).text;
    await define(`create table shelf (id int primary key, floor int);
      create table volume (id int primary key, shelf_id int, name varchar(9), constraint volume_shelf foreign key (shelf_id) references shelf (id));
      insert into shelf values (1, 7); insert into volume values (1, 1, 'v')`);
    for (const table of ['shelf', 'volume']) await metadata('dbb_track_table', { table });
    await metadata('dbb_create_object_relationship', { table: 'volume', name: 'shelf', using: { foreign_key_constraint_on: 'shelf_id' } });
    const filter = { shelf: { floor: { _eq: 7 } }, name: { _like: 'v%' } };
    await metadata('dbb_create_select_permission', { table: 'volume', role: 'borrower', permission: { columns: ['name'], filter } });
    // Swaps names, in one statement and in several.
    await define(
      'rename table shelf to spare, volume to shelf, spare to rack; alter table shelf rename column name to title, change shelf_id rack_id int',
    );
    expect(await ask('{ shelf { title rack_id shelf { floor } } rack { id } }')).toBe(
      '{"shelf":[{"title":"v","rack_id":1,"shelf":{"floor":7}}],"rack":[{"id":1}]}',
    );
    expect(await ask('{ shelf { title } }', { role: 'borrower' })).toBe('{"shelf":[{"title":"v"}]}');
    expect(await define("alter table `shelf` add name varchar(9) default 'n', rename to shop.`volume`")).toContain('CommandOk');
    expect(await ask('{ volume { title name } }')).toBe('{"volume":[{"title":"v","name":"n"}]}');
    for (const [sql, who] of [
      ['alter table volume drop foreign key volume_shelf', 'relationship volume.shelf'],
      ['/* first */ alter table volume drop column rack_id', 'relationship volume.shelf'],
      ['use other; drop table if exists x, shop.rack', 'relationship volume.shelf'],
      ['alter table volume modify title int', 'permission volume.borrower.select'],
      ['drop database shop', 'remote relationship fan.author'],
    ] as const) {
      const answer = await define(sql);
      expect(answer, sql).toContain('dependency-error');
      expect(answer, sql).toContain(who);
    }
    expect(await ask('{ volume { title shelf { floor } } }')).toBe('{"volume":[{"title":"v","shelf":{"floor":7}}]}');
    // Hidden DDL is reported afterwards.
    expect(await define("execute immediate concat('alter table volume drop ', 'title')")).toContain('dependency-error');
    expect(printJson(await shop.service.metadata('get_inconsistent_metadata', {}))).toContain('borrower');
    expect(await define('drop table volume, rack', { cascade: true })).toContain('table volume in source');
    expect(await shop.service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
    // Statements before a failed one are committed and followed.
    await define('create table leaf (id int primary key)');
    await metadata('dbb_track_table', { table: 'leaf' });
    expect(await define('create procedure p() begin set @a = 1; drop table leaf; end')).toContain('CommandOk');
    expect(await define('alter table leaf rename page; select * from nothing')).toContain('database-error');
    expect(await define('drop table page', { cascade: true })).toContain('CommandOk');
    await metadata('dbb_untrack_table', { table: 'leaf' });
  });

  it('explains, reports its health, and refuses unsupported features', async () => {
    const explained = await shop.service.send('/v1/graphql/explain', {
      method: 'POST',
      body: printJson({ query: { query: '{ author(where: {id: {_eq: 2}}) { name } }' } }),
    });
    expect(explained.text).toContain('query_block');
    for (const type of ['dbb_track_function', 'dbb_add_computed_field', 'dbb_set_table_is_enum']) {
      await expect(shop.service.metadata(type, { source: 'shop' })).rejects.toThrow(/not-supported|parse-failed/);
    }
    await expect(
      shop.service.metadata('dbb_add_source', {
        name: 'away',
        configuration: { connection_info: { connection_string: 'mariadb://root@127.0.0.1:1/x' } },
      }),
    ).rejects.toThrow('connection error');
  });

  it('encrypts connections as configured', async () => {
    const { certificate } = shop.database;
    const cipherOf = async (mode: string): Promise<string> => {
      const text = shop.database.url(`shop?sslmode=${mode}`);
      const source = await connect(
        { connectionString: { kind: 'template', text }, pool: undefined, ssl: undefined },
        { sourceName: 's', environment: {}, usePreparedStatements: true, maxConnections: 1 },
      );
      try {
        return String((await source.query("show status like 'Ssl_cipher'", [])).rows[0]?.[1]);
      } finally {
        await source.close();
      }
    };
    expect(await cipherOf('disable')).toBe('');
    expect(await cipherOf('require')).toMatch(/^TLS_|-/);
    expect(await cipherOf(`verify-ca&sslrootcert=${certificate}`)).toMatch(/^TLS_|-/);
    await expect(cipherOf('verify-ca')).rejects.toMatchObject({ code: 'database-error' });
    await expect(cipherOf(`verify-full&sslrootcert=${certificate}`)).rejects.toMatchObject({ code: 'database-error' });
    await expect(cipherOf('often')).rejects.toMatchObject({ internal: expect.stringContaining('unknown sslmode') });
  });

  it('kills statements at the deadline', async () => {
    const source = await connect(
      { connectionString: { kind: 'template', text: shop.database.url('shop') }, pool: undefined, ssl: undefined },
      { sourceName: 's', environment: {}, usePreparedStatements: true, maxConnections: 2 },
    );
    try {
      const statement = { text: 'select cast(sleep(20) as char)', parameters: [], repeatable: true, columns: 1 };
      await expect(source.runJson(statement, [], { deadline: Date.now() + 100 })).rejects.toMatchObject({ code: 'timeout' });
      await expect(source.query('select 1', [])).resolves.toMatchObject({ rows: [['1']] });
    } finally {
      await source.close();
    }
  });
});
