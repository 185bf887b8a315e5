/** The endpoint for clients of Relay: `node`, and what applies to it as to `/v1/graphql`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import type { TestDatabase } from '../support/postgres.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { type Ask, askRelay, encoded, errorOf } from './ask.ts';
import { usePapers } from './papers.ts';

const papers = usePapers();
let service: TestService;
let ask: Ask;
let other: TestDatabase;
beforeAll(() => {
  ({ service, ask, other } = papers());
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

  it('explains live queries with each value of a cursor', async () => {
    const query = 'subscription ($c: String) { paper_connection(after: $c, order_by: {title: asc}) { edges { cursor } } }';
    const request = { query: { query, variables: { c: encoded({ title: 'Paper 1', id: 1 }) } }, is_relay: true };
    const { json } = await service.send('/v1/graphql/explain', { method: 'POST', body: JSON.stringify(request) });
    expect(json).toMatchObject({ variables: { query: { 'c.["title"]': 'Paper 1', 'c.["id"]': '1' } } });
    const wrong = { ...request, is_relay: 'yes' };
    expect((await service.send('/v1/graphql/explain', { method: 'POST', body: JSON.stringify(wrong) })).json).toMatchObject({
      path: '$.is_relay',
      code: 'parse-failed',
    });
  });

  it('serves event streams', async () => {
    const query = 'subscription { writer_connection(first: 1) { edges { node { name } } } }';
    const response = await fetch(`${service.url}/v1/relay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('"Ada"')) text += new TextDecoder().decode((await reader.read()).value);
    expect(text).toContain('event: next');
    await reader.cancel();
  });

  it('caches answers by the values of their cursors', async () => {
    const query = 'query ($after: String) @cached { paper_connection(first: 1, after: $after) { edges { node { title } } } }';
    const titleAfter = (id: number) => ask(query, { variables: { after: encoded({ id }) } });
    const page = (title: string) => ({ data: { paper_connection: { edges: [{ node: { title } }] } } });
    expect(await titleAfter(1)).toEqual(page('Paper 2'));
    expect(await titleAfter(2)).toEqual(page('Paper 3'));
    await service.sql("update paper set title = 'Changed' where id in (2, 3)");
    try {
      expect(await titleAfter(1)).toEqual(page('Paper 2'));
      expect(await titleAfter(2)).toEqual(page('Paper 3'));
    } finally {
      await service.sql("update paper set title = 'Paper ' || id where id in (2, 3)");
    }
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
      expect([answer.status, errorOf(answer.json as JsonObject)]).toEqual([
        404,
        '$: Relay is disabled: set --enable-relay to serve it (not-found)',
      ]);
      await expect(new TestSocket(off.url, { path: '/v1beta1/relay' }).opened()).rejects.toThrow(/404 .*Relay is disabled/);
    } finally {
      await off.stop();
    }
    const strict = await startTestService({
      ENABLE_ALLOWLIST: 'true',
      ADMIN_SECRET: 's',
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
      const asAnyone = (query: string) => askRelay(strict)(query, { role: 'anyone' });
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
