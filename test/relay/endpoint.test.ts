/** The endpoint for clients of Relay: ids, connections, permissions, and what applies to it as to `/v1/graphql`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Ask, askRelay, encoded, errorOf } from './ask.ts';

let service: TestService;
let other: TestDatabase;
let ask: Ask;

const SELECT = { columns: ['title', 'writer_id'], filter: { writer_id: { _eq: 'X-Svc-User-Id' } } };

const SET_UP: readonly (readonly [string, Json])[] = [
  ...['writer', 'paper', 'secret', 'log', 'two keys'].map((table) => ['pg_track_table', { table }] as const),
  ['pg_create_object_relationship', { table: 'paper', name: 'writer', using: { foreign_key_constraint_on: 'writer_id' } }],
  [
    'pg_create_array_relationship',
    { table: 'writer', name: 'papers', using: { foreign_key_constraint_on: { table: 'paper', column: 'writer_id' } } },
  ],
  ['pg_create_select_permission', { table: 'paper', role: 'reader', permission: { ...SELECT, limit: 2, allow_aggregations: true } }],
  [
    'pg_create_insert_permission',
    { table: 'paper', role: 'reader', permission: { columns: ['id', 'title', 'writer_id'], check: {}, backend_only: false } },
  ],
  ['pg_create_select_permission', { table: 'writer', role: 'reader', permission: { columns: [], filter: {}, allow_aggregations: false } }],
  ['pg_create_select_permission', { table: 'writer', role: 'named', permission: { columns: ['name'], filter: { id: { _gt: 1 } } } }],
  [
    'pg_create_select_permission',
    { table: 'paper', role: 'rootless', permission: { columns: ['id'], filter: {}, query_root_fields: [], subscription_root_fields: [] } },
  ],
];

beforeAll(async () => {
  service = await startTestService({ ENABLE_ALLOWLIST: 'false', PG_CONNECTIONS: '4' });
  ask = askRelay(service);
  await service.sql(`
    create table writer (id int primary key, name text not null);
    create table paper (id int primary key, title text, writer_id int not null references writer);
    create table secret (id int primary key, word text);
    create table log (line text);
    create table "two keys" (a text, "b-c" bigint, v text, primary key (a, "b-c"));
    insert into writer values (1, 'Ada'), (2, 'Bob');
    insert into paper select i, 'Paper ' || i, 1 + i % 2 from generate_series(1, 7) as i;
    insert into secret values (1, 'x');
    insert into "two keys" values ('x', 9007199254740993, 'found');
  `);
  await service.metadata('pg_set_table_customization', { table: 'two keys', configuration: {} }).catch(() => undefined);
  for (const [type, args] of SET_UP.filter(([, args]) => (args as JsonObject)['table'] !== 'two keys')) await service.metadata(type, args);
  await service.metadata('pg_track_table', {
    table: 'two keys',
    configuration: { custom_name: 'pair', column_config: { 'b-c': { custom_name: 'b' } } },
  });
  other = await testDatabase();
});
afterAll(async () => {
  await service?.stop();
  await other?.drop();
});

const WRITER_2 = Buffer.from('[1, "public", "writer", 2]').toString('base64');

describe('node', () => {
  it('finds a row by its id, whose JSON may have other spaces', async () => {
    const query = 'query ($id: ID!) { node(id: $id) { __typename id ... on writer { name papers { id } } ... on paper { title } } }';
    const expected = {
      __typename: 'writer',
      id: WRITER_2,
      name: 'Bob',
      papers: [1, 3, 5, 7].map((id) => ({ id: Buffer.from(`[1, "public", "paper", ${id}]`).toString('base64') })),
    };
    for (const id of [WRITER_2, encoded([1, 'public', 'writer', 2]), encoded([1, 'public', 'writer', '2'])]) {
      expect(await ask(query, { variables: { id } })).toEqual({ data: { node: expected } });
    }
    // Another shape, then the first one again: plans are kept for both.
    expect(await ask(query, { variables: { id: encoded([1, 'public', 'paper', 3]) } })).toMatchObject({
      data: { node: { title: 'Paper 3' } },
    });
    expect(await ask(query, { variables: { id: encoded([1, 'public', 'writer', 1]) } })).toMatchObject({ data: { node: { name: 'Ada' } } });
  });

  it('reads keys of several columns, and numbers beyond a double', async () => {
    const { data } = await ask('{ pair_connection { edges { cursor node { id a b } } } }');
    const [edge] = (data as { pair_connection: { edges: { cursor: string; node: { id: string } }[] } }).pair_connection.edges;
    expect(Buffer.from(edge?.node.id ?? '', 'base64').toString()).toBe('[1, "public", "two keys", "x", 9007199254740993]');
    expect(Buffer.from(edge?.cursor ?? '', 'base64').toString()).toBe('{"a" : "x", "b" : 9007199254740993}');
    expect(await ask(`{ node(id: "${edge?.node.id}") { ... on pair { v } } }`)).toEqual({ data: { node: { v: 'found' } } });
  });

  it('answers null for a row that the role does not see, whatever the reason', async () => {
    const hidden = [
      [1, 'public', 'paper', 2],
      [1, 'public', 'paper', 99],
      [1, 'public', 'secret', 1],
      [1, 'public', 'log', 1],
      [1, 'public', 'nothing', 1],
      [1, 'pg_catalog', 'pg_authid', 10],
      [3, 'default', 'public', 'secret', 1],
      [3, 'nothing', 'public', 'paper', 1],
    ];
    for (const id of hidden) {
      const answer = await ask(`{ node(id: "${encoded(id)}") { id __typename } }`, { role: 'reader', session: { 'user-id': '2' } });
      expect([id, answer], JSON.stringify(id)).toEqual([id, { data: { node: null } }]);
    }
    const seen = await ask(`{ node(id: "${encoded([1, 'public', 'paper', 1])}") { id } }`, { role: 'reader', session: { 'user-id': '2' } });
    expect(seen).toMatchObject({ data: { node: { id: expect.any(String) } } });
  });

  it('rejects malformed ids at the argument', async () => {
    const at = '$.selectionSet.node.args.id: invalid node id: ';
    const cases: readonly (readonly [string, string])[] = [
      ['!', `${at}Error in $: Failed reading: not a valid json value at '' (validation-failed)`],
      [encoded('text'), `${at}Error in $: parsing node id failed, expected Array, but encountered String (validation-failed)`],
      [encoded([]), `${at}Error in $: unexpected GUID format, needs to start with a version number (validation-failed)`],
      [encoded([1.5, 'a']), `${at}Error in $: unsupported GUID version: 1.5 (validation-failed)`],
      [
        encoded([3, 'public', 'writer', 1]),
        `${at}Error in $: GUID version 3: expecting source name, schema name, table name and at least one column value (validation-failed)`,
      ],
      [encoded([1, 'public', 'two keys', 'x']), `${at}primary key columns ['b'] are missing (validation-failed)`],
      [encoded([1, 'public', 'writer', 1, [2]]), `${at}unexpected column values [[2]] (validation-failed)`],
      [
        encoded([1, 'public', 'writer', null]),
        "$.selectionSet.node: value of column 'id' in node id: unexpected null value for type 'Int' (parse-failed)",
      ],
      [
        encoded([1, 'public', 'writer', true]),
        "$.selectionSet.node: value of column 'id' in node id: Integer expected for input type: integer (parse-failed)",
      ],
      ['A'.repeat(20_000), `${at}Error in $: Failed reading: not a valid json value at '…' (validation-failed)`],
      [
        Buffer.from(`${'['.repeat(5000)}${']'.repeat(5000)}`).toString('base64'),
        expect.stringContaining(`${at}Error in $: Failed reading`) as unknown as string,
      ],
    ];
    for (const [id, error] of cases) {
      expect(errorOf(await ask('query ($id: ID!) { node(id: $id) { id } }', { variables: { id } }))).toEqual(error);
      expect(errorOf(await ask(`{ node(id: "${id}") { id } }`))).toEqual(error);
    }
  });

  it('names the source of a table that several sources have, but for the default one', async () => {
    await service.metadata('pg_add_source', {
      name: 'second',
      configuration: { connection_info: { database_url: other.url } },
      customization: { type_names: { prefix: 'b_' }, root_fields: { prefix: 'b_' } },
    });
    await service.sql("create table writer (id int primary key, name text); insert into writer values (2, 'Second')", { source: 'second' });
    await service.metadata('pg_track_table', { source: 'second', table: 'writer' });
    try {
      const { data } = await ask(
        '{ b_writer_connection { edges { node { id name } } } writer_connection(first: 1) { edges { node { id } } } }',
      );
      const id = Buffer.from('[3, "second", "public", "writer", 2]').toString('base64');
      expect(data).toEqual({
        b_writer_connection: { edges: [{ node: { id, name: 'Second' } }] },
        writer_connection: { edges: [{ node: { id: Buffer.from('[1, "public", "writer", 1]').toString('base64') } }] },
      });
      const query = 'query ($id: ID!) { node(id: $id) { ... on b_writer { name } ... on writer { name } } }';
      expect(await ask(query, { variables: { id } })).toEqual({ data: { node: { name: 'Second' } } });
      expect(await ask(query, { variables: { id: WRITER_2 } })).toEqual({ data: { node: { name: 'Bob' } } });
    } finally {
      await service.metadata('pg_drop_source', { name: 'second', cascade: true });
    }
  });
});

describe('connections', () => {
  it('has the fields of the page under any alias, and none if only the type is selected', async () => {
    const query = `{ paper_connection(first: 1) { t: __typename a: edges { c: cursor } b: edges { __typename node { __typename n: id title } }
      p: pageInfo { __typename e: endCursor } pageInfo { hasNextPage } } none: paper_connection(first: 0) { __typename edges { cursor } pageInfo { hasNextPage startCursor endCursor } }
      bare: paper_connection { __typename } }`;
    const cursor = Buffer.from('{"id" : 1}').toString('base64');
    const id = Buffer.from('[1, "public", "paper", 1]').toString('base64');
    expect(await ask(query)).toEqual({
      data: {
        paper_connection: {
          t: 'paperConnection',
          a: [{ c: cursor }],
          b: [{ __typename: 'paperEdge', node: { __typename: 'paper', n: id, title: 'Paper 1' } }],
          p: { __typename: 'PageInfo', e: cursor },
          pageInfo: { hasNextPage: true },
        },
        none: { __typename: 'paperConnection', edges: [], pageInfo: { hasNextPage: true, startCursor: '', endCursor: '' } },
        bare: { __typename: 'paperConnection' },
      },
    });
  });

  it('pages the related rows of each row', async () => {
    const after = encoded({ id: 3 });
    const answer = await ask(
      `{ writer_connection(order_by: {name: desc}) { edges { node { name papers_connection(last: 1, after: "${after}") { edges { node { title } } pageInfo { hasPreviousPage hasNextPage } } } } } }`,
    );
    const page = (title: string) => ({ edges: [{ node: { title } }], pageInfo: { hasPreviousPage: true, hasNextPage: false } });
    expect(answer).toEqual({
      data: {
        writer_connection: {
          edges: [
            { node: { name: 'Bob', papers_connection: page('Paper 7') } },
            { node: { name: 'Ada', papers_connection: page('Paper 6') } },
          ],
        },
      },
    });
  });

  it('rejects cursors that are none, or of another order, and counts below zero', async () => {
    const at = '$.selectionSet.paper_connection.args';
    const cases: readonly (readonly [string, string])[] = [
      ['after: "x"', `${at}.after: invalid cursor`],
      [`before: "${encoded([1])}"`, `${at}.before: invalid cursor`],
      [`after: "${encoded({ id: {} })}"`, `${at}.after: the cursor does not belong to this order_by`],
      [`after: "${encoded({ id: 1, word: 1 })}"`, `${at}.after: the cursor does not belong to this order_by`],
      [`after: "${encoded({ title: 'x', id: 1 })}"`, `${at}.after: the cursor does not belong to this order_by`],
      [`after: "${encoded({ id: 1 })}", order_by: {title: asc}`, `${at}.after: the cursor does not belong to this order_by`],
      [`after: "${encoded({ id: 1.5 })}"`, `${at}.after: invalid cursor`],
      [`after: "${encoded({ id: [1] })}"`, `${at}.after: invalid cursor`],
      [`after: "${encoded({ id: 1 })}", before: "${encoded({ id: 1 })}"`, `${at}: "after" and "before" are not allowed at once`],
      ['first: 1, last: 1', `${at}: "first" and "last" are not allowed at once`],
      ['first: -1', `${at}.first: expected a non-negative 32-bit integer for type 'Int', but found an integer`],
    ];
    for (const [args, error] of cases) {
      expect(errorOf(await ask(`{ paper_connection(${args}) { edges { cursor } } }`)), args).toBe(`${error} (validation-failed)`);
    }
    expect(errorOf(await ask(`{ paper_connection(after: "${encoded({ id: 'x' })}") { edges { cursor } } }`))).toMatch(/data-exception/);
    const empty = await ask('{ paper_connection(after: "", before: null, first: 1) { edges { cursor } } }');
    expect(empty).toMatchObject({ data: { paper_connection: { edges: [{}] } } });
  });

  it('orders by as many values as an index, and pages by more than a union has branches', async () => {
    const columns = Array.from({ length: 33 }, (_, i) => `c${i}`);
    await service.sql(
      `create table wide (id int primary key, ${columns.map((name) => `${name} int`).join()}); insert into wide (id, c20) values (1, 1), (2, null), (3, 0)`,
    );
    await service.metadata('pg_track_table', { table: 'wide' });
    const page = (count: number, more: string) => {
      const order = columns.slice(0, count).map((name, i) => `{${name}: ${i % 2 === 0 ? 'asc' : 'desc'}}`);
      return ask(`{ wide_connection(order_by: [${order}]${more}) { edges { cursor node { c20 } } } }`);
    };
    const { data } = await page(31, '');
    const edges = (data as { wide_connection: { edges: { cursor: string; node: JsonObject }[] } }).wide_connection.edges;
    expect(edges.map(({ node }) => node)).toEqual([{ c20: 0 }, { c20: 1 }, { c20: null }]);
    expect(await page(31, `, after: "${edges[0]?.cursor}"`)).toEqual({ data: { wide_connection: { edges: edges.slice(1) } } });
    expect(errorOf(await page(32, ''))).toMatch(
      /^\$\.selectionSet\.wide_connection\.args: a connection can be ordered by at most 32 values/,
    );
    // Before the tests of types, which list all of them.
    await service.metadata('pg_untrack_table', { table: 'wide' });
  });

  it('reads no fields of the row behind a page', async () => {
    await service.sql(`create table part (id int primary key);
      insert into part select generate_series(1, 3);
      create function share(part) returns int language sql stable as 'select 6 / (3 - $1.id)'`);
    await service.metadata('pg_track_table', { table: 'part' });
    await service.metadata('pg_add_computed_field', { table: 'part', name: 'share', definition: { function: 'share' } });
    const page = (args: string) => ask(`{ part_connection(${args}) { edges { node { share } } pageInfo { hasNextPage } } }`);
    expect(await page('first: 2')).toEqual({
      data: { part_connection: { edges: [{ node: { share: 3 } }, { node: { share: 6 } }], pageInfo: { hasNextPage: true } } },
    });
    expect(await page(`first: 0, after: "${encoded({ id: 2 })}"`)).toMatchObject({
      data: { part_connection: { pageInfo: { hasNextPage: true } } },
    });
    expect(errorOf(await page('first: 3'))).toMatch(/division by zero/);
    await service.metadata('pg_untrack_table', { table: 'part' });
  });

  it('continues behind a row that was deleted', async () => {
    await service.sql('delete from paper where id = 4');
    try {
      const answer = await ask(
        `{ paper_connection(first: 2, after: "${encoded({ id: 4 })}") { edges { node { title } } pageInfo { hasPreviousPage } } }`,
      );
      expect(answer).toEqual({
        data: {
          paper_connection: { edges: ['Paper 5', 'Paper 6'].map((title) => ({ node: { title } })), pageInfo: { hasPreviousPage: true } },
        },
      });
    } finally {
      await service.sql("insert into paper values (4, 'Paper 4', 1)");
    }
  });

  it('reads pages from an index, from both ends', async () => {
    await service.sql(
      'create table big (id int primary key, k int); insert into big select i, nullif(i % 1000, 7) from generate_series(1, 20000) i; create index on big (k, id); analyze big',
    );
    await service.metadata('pg_track_table', { table: 'big' });
    const pages = [
      [`first: 5, after: "${encoded({ k: 500, id: 10_500 })}"`, '{k: asc}'],
      [`last: 5, before: "${encoded({ k: 500, id: 10_500 })}"`, '{k: asc}'],
      [`first: 5, after: "${encoded({ k: null, id: 10_007 })}"`, '{k: asc}'],
      [`last: 5, before: "${encoded({ k: null, id: 10_007 })}"`, '{k: asc}'],
      [`last: 5, before: "${encoded({ id: 10_007 })}"`, '{id: asc}'],
    ] as const;
    for (const [args, order] of pages) {
      const query = `{ big_connection(${args}, order_by: ${order}) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } }`;
      const answer = await service.send('/v1/graphql/explain', {
        method: 'POST',
        body: JSON.stringify({ query: { query }, is_relay: true }),
      });
      const [{ sql }] = answer.json as [{ sql: string }];
      const plan = (await service.sql(`explain (analyze, buffers, costs off, timing off) ${sql}`)) as { result: string[][] };
      const text = plan.result.flat().join('\n');
      expect(text).not.toContain('Seq Scan on big');
      expect(Number(/shared hit=(\d+)/.exec(text)?.[1]), text).toBeLessThan(60);
    }
  });
});

describe('names', () => {
  it('follow the naming convention, custom names, and the namespace of the source', async () => {
    await service.metadata('pg_add_source', {
      name: 'named',
      configuration: { connection_info: { database_url: other.url } },
      customization: { naming_convention: 'graphql-default', root_fields: { namespace: 'shop' } },
    });
    const source = { source: 'named' };
    await service.sql(
      `create table order_line (line_id int primary key, sold_at date, parent_id int references order_line);
       insert into order_line values (1, '2020-01-02', null), (2, null, 1), (3, '2020-01-01', 1);
       create function late_lines() returns setof order_line language sql stable as 'select * from order_line where line_id > 1'`,
      source,
    );
    await service.metadata('pg_track_table', {
      ...source,
      table: 'order_line',
      configuration: { custom_root_fields: { select: 'lines' } },
    });
    await service.metadata('pg_track_function', { ...source, function: 'late_lines' });
    const using = { foreign_key_constraint_on: { table: 'order_line', column: 'parent_id' } };
    await service.metadata('pg_create_array_relationship', { ...source, table: 'order_line', name: 'sub_lines', using });
    try {
      const after = encoded({ soldAt: '2020-01-01', lineId: 3 });
      const first = '[1, "public", "order_line", 1]';
      const { data } = await ask(
        `{ shop { linesConnection(orderBy: {soldAt: ASC}, after: "${after}") { __typename edges { cursor node { __typename lineId ... on Node { id } } } }
             lateLinesConnection(last: 1) { edges { node { lineId } } } top: linesConnection(where: {parentId: {_isNull: true}}) { edges { node { subLinesConnection(first: 1) { edges { node { lineId } } } } } } }
           node(id: "${Buffer.from(first).toString('base64')}") { ... on OrderLine { lineId } ... on Node { __typename } } }`,
      );
      const line = (lineId: number, soldAt: string | null) => ({
        cursor: Buffer.from(`{"soldAt" : ${JSON.stringify(soldAt)}, "lineId" : ${lineId}}`).toString('base64'),
        node: { __typename: 'OrderLine', lineId, id: Buffer.from(`[1, "public", "order_line", ${lineId}]`).toString('base64') },
      });
      expect(data).toEqual({
        shop: {
          linesConnection: { __typename: 'OrderLineConnection', edges: [line(1, '2020-01-02'), line(2, null)] },
          lateLinesConnection: { edges: [{ node: { lineId: 3 } }] },
          top: { edges: [{ node: { subLinesConnection: { edges: [{ node: { lineId: 2 } }] } } }] },
        },
        node: { lineId: 1, __typename: 'OrderLine' },
      });
      const nothing = '{ shop { linesConnection { edges { cursor @skip(if: true) } pageInfo { endCursor @skip(if: true) } } } }';
      expect(await ask(nothing)).toEqual({ data: { shop: { linesConnection: { edges: [{}, {}, {}], pageInfo: {} } } } });
      const whole = await ask('{ shop { linesConnection { edges @skip(if: true) { cursor } } } }');
      expect(whole).toEqual({ data: { shop: { linesConnection: {} } } });
    } finally {
      await service.metadata('pg_drop_source', { name: 'named', cascade: true });
    }
  });
});

describe('permissions', () => {
  const reader = { role: 'reader', session: { 'user-id': '2' } };

  it('has ids and cursors of keys that are not granted, and no other hidden column', async () => {
    const answer = await ask('{ paper_connection(first: 1) { edges { cursor node { id title } } } }', reader);
    expect(answer).toEqual({
      data: {
        paper_connection: {
          edges: [
            {
              cursor: Buffer.from('{"id" : 1}').toString('base64'),
              node: { id: Buffer.from('[1, "public", "paper", 1]').toString('base64'), title: 'Paper 1' },
            },
          ],
        },
      },
    });
    expect(errorOf(await ask('{ paper_connection(where: {id: {_eq: 1}}) { edges { cursor } } }', reader))).toMatch(/field 'id' not found/);
    expect(errorOf(await ask('{ paper_connection(order_by: {id: asc}) { edges { cursor } } }', reader))).toMatch(/field 'id' not found/);
    expect(errorOf(await ask('{ secret_connection { edges { cursor } } }', reader))).toMatch(/field 'secret_connection' not found/);
  });

  it('reveals no hidden row by a cursor that the type of its column rejects', async () => {
    const hidden = { table: 'doc', role: 'reader', permission: { columns: ['data'], filter: { id: { _lt: 0 } } } };
    await service.sql('create table doc (id int primary key, data jsonb)');
    await service.metadata('pg_track_table', { table: 'doc' });
    await service.metadata('pg_create_select_permission', hidden);
    const query = `{ doc_connection(order_by: {data: asc}, after: "${encoded({ data: '{', id: 1 })}") { edges { cursor } pageInfo { hasPreviousPage } } }`;
    // More often than the database plans a statement for its values.
    const answers = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let i = 0; i < 8; i++) found.push(JSON.stringify(await ask(query, reader)));
      return found;
    };
    const before = await answers();
    await service.sql(`insert into doc select i, '{"a": 1}' from generate_series(1, 3) as i`);
    expect(await answers()).toEqual(before);
    expect(errorOf(await ask(query))).toMatch(/data-exception/);
  });

  it('bounds a page by the limit of the permission, in both directions', async () => {
    const titles = async (args: string): Promise<Json> => {
      const { data } = await ask(
        `{ paper_connection${args} { edges { node { title } } pageInfo { hasNextPage hasPreviousPage } } }`,
        reader,
      );
      const { edges, pageInfo } = (data as { paper_connection: { edges: { node: { title: string } }[]; pageInfo: JsonObject } })
        .paper_connection;
      return [edges.map(({ node }) => node.title).join(), ...Object.values(pageInfo)] as Json;
    };
    expect(await titles('')).toEqual(['Paper 1,Paper 3', true, false]);
    expect(await titles(`(first: 9, after: "${encoded({ id: 3 })}")`)).toEqual(['Paper 5,Paper 7', false, true]);
    expect(await titles('(last: 9)')).toEqual(['Paper 5,Paper 7', false, true]);
    expect(await titles(`(before: "${encoded({ id: 7 })}")`)).toEqual(['Paper 3,Paper 5', true, true]);
  });

  it('has a node, but no root, for a table without root fields', async () => {
    expect(errorOf(await ask('{ paper_connection { edges { cursor } } }', { role: 'rootless' }))).toMatch(/'paper_connection' not found/);
    const node = await ask(`{ node(id: "${encoded([1, 'public', 'paper', 2])}") { ... on paper { id } } }`, { role: 'rootless' });
    expect(node).toMatchObject({ data: { node: { id: expect.any(String) } } });
  });

  it('has the types of the role', async () => {
    const query =
      '{ __type(name: "Node") { kind fields { name } possibleTypes { name } } paper: __type(name: "paper") { interfaces { name } fields { name type { name ofType { name } } } } __schema { queryType { fields { name } } } }';
    expect(await ask(query, { role: 'named' })).toEqual({
      data: {
        __type: { kind: 'INTERFACE', fields: [{ name: 'id' }], possibleTypes: [{ name: 'writer' }] },
        paper: null,
        __schema: { queryType: { fields: [{ name: 'node' }, { name: 'writer_connection' }] } },
      },
    });
    const { data } = await ask(query);
    expect(data).toMatchObject({
      __type: { possibleTypes: ['big', 'doc', 'pair', 'paper', 'secret', 'writer'].map((name) => ({ name })) },
      paper: { interfaces: [{ name: 'Node' }] },
    });
    expect(errorOf(await ask('{ node(id: "x") { id } }', { role: 'nobody' }))).toMatch(/field 'node' not found in type: 'query_root'/);
    const whole = await ask('{ __schema { types { name } } }', { role: 'nobody' });
    expect(JSON.stringify(whole)).not.toContain('"Node"');
  });
});

describe('as on /v1/graphql', () => {
  it('returns node ids from mutations, and takes columns as input', async () => {
    const answer = await ask(
      'mutation { insert_writer_one(object: {id: 9, name: "New"}) { id name papers_connection { edges { cursor } } } update_writer_by_pk(pk_columns: {id: 9}, _set: {name: "Newer"}) { id name } delete_writer(where: {id: {_eq: 9}}) { returning { id } } }',
    );
    const id = Buffer.from('[1, "public", "writer", 9]').toString('base64');
    expect(answer).toEqual({
      data: {
        insert_writer_one: { id, name: 'New', papers_connection: { edges: [] } },
        update_writer_by_pk: { id, name: 'Newer' },
        delete_writer: { returning: [{ id }] },
      },
    });
  });

  it('serves both paths, batches and GET, and keeps the other schema as it is', async () => {
    const query = '{ writer_connection(first: 1) { edges { node { name } } } }';
    const expected = { data: { writer_connection: { edges: [{ node: { name: 'Ada' } }] } } };
    expect(await ask(query, { path: '/v1beta1/relay' })).toEqual(expected);
    expect((await service.send(`/v1/relay?query=${encodeURIComponent(query)}`)).json).toEqual(expected);
    const batch = await service.send('/v1/relay', { method: 'POST', body: JSON.stringify([{ query }, { query }]) });
    expect(batch.json).toEqual([expected, expected]);
    expect(errorOf(await service.graphql(query))).toMatch(/'writer_connection' not found/);
    expect(errorOf(await ask('{ writer { name } }'))).toMatch(/'writer' not found/);
    expect(await service.graphql('{ writer(limit: 1) { id } }')).toEqual({ data: { writer: [{ id: 1 }] } });
  });

  it('serves live queries over both transports', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN, path: '/v1/relay' }).opened();
    socket.send({ type: 'connection_init' });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    const query = 'subscription ($c: String) { paper_connection(last: 1, before: $c) { edges { node { title } } } }';
    socket.send({ type: 'subscribe', id: '1', payload: { query, variables: { c: encoded({ id: 3 }) } } });
    expect(await socket.next()).toMatchObject({ payload: { data: { paper_connection: { edges: [{ node: { title: 'Paper 2' } }] } } } });
    await service.sql("update paper set title = 'Changed' where id = 2");
    expect(await socket.next()).toMatchObject({ payload: { data: { paper_connection: { edges: [{ node: { title: 'Changed' } }] } } } });
    socket.send({ type: 'complete', id: '1' });
    for (const [id, name] of [
      [[1, 'public', 'writer', 1], { name: 'Ada' }],
      [[1, 'public', 'log', 1], null],
    ] as const) {
      socket.send({
        type: 'subscribe',
        id: String(id),
        payload: { query: `subscription { node(id: "${encoded(id)}") { ... on writer { name } } }` },
      });
      expect(await socket.next()).toMatchObject({ payload: { data: { node: name } } });
      socket.send({ type: 'complete', id: String(id) });
    }
    socket.send({ type: 'subscribe', id: 'q', payload: { query: '{ writer_connection { edges { node { name } } } }' } });
    expect(await socket.next()).toMatchObject({ id: 'q', payload: { data: { writer_connection: { edges: [{}, {}] } } } });
    socket.websocket.close();
    await service.sql("update paper set title = 'Paper 2' where id = 2");
  });

  it('caches answers apart from those of the other schema', async () => {
    const query = 'query @cached { __type(name: "writer") { fields { name } } }';
    const [plain, relay] = [await service.graphql(query), await ask(query)];
    expect(JSON.stringify(relay)).toContain('papers_connection');
    expect(JSON.stringify(plain)).not.toContain('papers_connection');
    const cached = 'query @cached { writer_connection(first: 1) { edges { node { id } } } }';
    expect(await ask(cached)).toEqual(await ask(cached));
  });

  it('runs stored documents in the schema in which they are valid', async () => {
    const queries = [
      { name: 'relay', query: 'query ($after: String) { paper_connection(first: 1, after: $after) { edges { node { title } } } }' },
      { name: 'plain', query: '{ writer { name } }' },
    ];
    await service.metadata('create_query_collection', { name: 'stored', definition: { queries } });
    for (const { name } of queries) {
      await service.metadata('create_rest_endpoint', {
        name,
        url: name,
        methods: ['GET'],
        definition: { query: { collection_name: 'stored', query_name: name } },
      });
    }
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
    const found = await service.send(`/api/rest/relay?after=${encodeURIComponent(encoded({ id: 5 }))}`);
    expect(found.json).toEqual({ paper_connection: { edges: [{ node: { title: 'Paper 6' } }] } });
    expect((await service.send('/api/rest/plain')).json).toEqual({ writer: [{ name: 'Ada' }, { name: 'Bob' }] });
  });
});

describe('with other options', () => {
  it('is not found if it is switched off, and obeys the allow-list and the switch of introspection', async () => {
    const off = await startTestService({ ENABLE_RELAY: 'false' });
    try {
      const answer = await off.send('/v1/relay', { method: 'POST', body: '{"query": "{ __typename }"}' });
      expect([answer.status, errorOf(answer.json as JsonObject)]).toEqual([404, '$: Relay is switched off: --enable-relay (not-found)']);
      await expect(new TestSocket(off.url, { path: '/v1beta1/relay' }).opened()).rejects.toThrow(/404 .*Relay is switched off/);
    } finally {
      await off.stop();
    }
    const strict = await startTestService({
      ENABLE_ALLOWLIST: 'true',
      ADMIN_SECRET: 's',
      UNAUTHORIZED_ROLE: 'anyone',
      DISABLE_INTROSPECTION: 'true',
    });
    try {
      await strict.sql('create table t (id int primary key); insert into t values (1)');
      await strict.metadata('pg_track_table', { table: 't' });
      await strict.metadata('pg_create_select_permission', { table: 't', role: 'anyone', permission: { columns: ['id'], filter: {} } });
      const queries = [
        { name: 'a', query: '{ t_connection { edges { cursor } } }' },
        { name: 'b', query: '{ __schema { queryType { name } } }' },
      ];
      await strict.metadata('create_query_collection', { name: 'allowed', definition: { queries } });
      await strict.metadata('add_collection_to_allowlist', { collection: 'allowed' });
      const asAnyone = askRelay(strict);
      expect(await asAnyone('{ t_connection { edges { cursor } } }')).toMatchObject({ data: { t_connection: { edges: [{}] } } });
      await strict.metadata('set_api_limits', { disabled: false, depth_limit: { global: 2, per_role: {} } });
      expect(errorOf(await asAnyone('{ t_connection { edges { cursor } } }'))).toMatch(/3 levels deep/);
      await strict.metadata('remove_api_limits', {});
      expect(errorOf(await asAnyone('{ t_connection { edges { node { id } } } }'))).toMatch(/query is not allowed/);
      expect(errorOf(await asAnyone('{ __schema { queryType { name } } }'))).toMatch(/introspection is disabled/);
    } finally {
      await strict.stop();
    }
  });
});
