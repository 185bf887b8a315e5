/** Connections of Relay: pages, cursors, names and permissions. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import type { TestDatabase } from '../support/postgres.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Ask, encoded, errorOf } from './ask.ts';
import { usePapers } from './papers.ts';

const papers = usePapers();
let service: TestService;
let ask: Ask;
let other: TestDatabase;
beforeAll(() => {
  ({ service, ask, other } = papers());
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
