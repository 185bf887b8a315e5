import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpObservation, QueryObservation } from '../../src/observability/observation.ts';
import { DEEP } from '../support/deep.ts';
import { runService } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const started: TestService[] = [];
async function start(options: Record<string, string>): Promise<TestService> {
  const service = await startTestService(options);
  started.push(service);
  await service.sql("create table item (id int primary key, name text); insert into item values (1, 'one')");
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('pg_create_select_permission', {
    table: 'item',
    role: 'user',
    permission: { columns: '*', filter: { id: 'X-Svc-Id' } },
  });
  return service;
}
afterAll(async () => {
  for (const service of started) await service.stop();
});

describe('the query log', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({ ENABLED_LOG_TYPES: 'http-log,query-log' });
  });
  let before = 0;
  beforeEach(() => {
    before = service.observations.length;
  });
  const seen = <T>(kind: string) => service.observations.slice(before).filter((o) => o.kind === kind) as T[];

  it('contains each query, its variables, and its statements with their values', async () => {
    const query = 'query items($name: String) { a: item(where: {name: {_eq: $name}}) { id } item { name } }';
    const body = JSON.stringify({ query, operationName: 'items', variables: { name: 'one' } });
    const headers = { 'x-request-id': 'here', 'x-svc-role': 'user', 'x-svc-id': '1' };
    expect((await service.send('/v1/graphql', { method: 'POST', body, headers })).json).toEqual({
      data: { a: [{ id: 1 }], item: [{ name: 'one' }] },
    });
    const [observation, ...more] = seen<QueryObservation>('query');
    expect(more).toEqual([]);
    const request = { query, operationName: 'items', variables: { name: 'one' } };
    expect(observation).toMatchObject({ requestId: 'here', query: request });
    const statements = observation?.statements;
    expect([...(statements?.keys() ?? [])]).toEqual(['a', 'item']);
    expect(statements?.get('a')?.text).toMatch(/select .* from "public"."item"/);
    expect(statements?.get('a')?.values).toEqual(expect.arrayContaining(['one', '1']));
    expect(seen<HttpObservation>('http')).toMatchObject([{ requestId: 'here', query: request }]);
  });

  it('contains the id of a document that is unknown', async () => {
    await service.send('/v1/graphql', { method: 'POST', body: '{"documentId": "gone", "variables": {"pin": 1}}' });
    await service.send('/v1/graphql?documentId=gone-too');
    expect(seen<HttpObservation>('http')).toMatchObject([
      { query: { document: { id: 'gone' } } },
      { query: { document: { id: 'gone-too' } } },
    ]);
  });

  it('contains queries answered by the schema, and queries over GET, REST endpoints and batches', async () => {
    await service.metadata('create_query_collection', { name: 'c', definition: { queries: [{ name: 'q', query: '{ item { id } }' }] } });
    const definition = { query: { collection_name: 'c', query_name: 'q' } };
    await service.metadata('create_rest_endpoint', { name: 'e', url: 'items', methods: ['GET'], definition });
    before = service.observations.length;
    await service.graphql('{ __schema { queryType { name } } }');
    await service.send('/v1/graphql?query={item{id}}');
    await service.send('/api/rest/items');
    const batch = [{ query: '{ item { id } }' }, { query: '{ __typename }' }];
    await service.send('/v1/graphql', { method: 'POST', body: JSON.stringify(batch) });
    expect(seen<QueryObservation>('query').map(({ query, statements }) => [query['query'], statements === null])).toEqual([
      ['{ __schema { queryType { name } } }', true],
      ['{item{id}}', false],
      ['{ item { id } }', false],
      ['{ item { id } }', false],
      ['{ __typename }', true],
    ]);
    expect(seen<HttpObservation>('http').at(-1)).toMatchObject({ mode: 'batched', query: batch });
  });

  it('has no record for mutations and rejected requests, which are in the record of the request', async () => {
    const mutation = 'mutation { delete_item(where: {id: {_eq: 9}}) { affected_rows } }';
    await service.graphql(mutation);
    await service.graphql('{ nothing }');
    expect(seen('query')).toEqual([]);
    expect(seen<HttpObservation>('http').map(({ query }) => query)).toEqual([{ query: mutation }, { query: '{ nothing }' }]);
  });

  it('contains the type of metadata operations, not their arguments', async () => {
    await service.metadata('export_metadata', {});
    expect(seen<HttpObservation>('http')).toMatchObject([{ url: '/v1/metadata', query: { type: 'export_metadata' } }]);
  });
});

describe('the query log with redacted variables', () => {
  let service: TestService;
  const lines = () => service.observations.filter(({ kind }) => kind === 'http' || kind === 'query');
  const printed = () => JSON.stringify(lines(), (_key, value: unknown) => (value instanceof Map ? [...value] : value));
  beforeAll(async () => {
    service = await start({ ENABLED_LOG_TYPES: 'http-log,query-log', LOG_MASKED_VARIABLES: 'pin, filter,path' });
  });

  it('redacts their values in requests, statements and URLs, and shows others', async () => {
    const query = 'query ($pin: String!, $open: String!) { item(where: {name: {_in: [$pin, $open]}}) { id } }';
    const variables = { pin: 'hush', open: 'visible' };
    expect(await service.graphql(query, { variables })).toEqual({ data: { item: [] } });
    const filtered = 'query ($filter: item_bool_exp) { item(where: $filter) { id } }';
    await service.graphql(filtered, { variables: { filter: { name: { _ilike: 'hush' } } } });
    await service.graphql('query ($pin: Int) { item(limit: $pin) { id } }', { variables: { pin: 777_123 } });
    await service.graphql('mutation ($pin: String) { insert_item_one(object: {id: 7, name: $pin}) { id } }', {
      variables: { pin: 'hush' },
    });
    const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
    await service.send(`/v1/graphql?${parameters}`);
    await service.send('/v1/graphql', { method: 'POST', body: JSON.stringify([{ query, variables }]) });
    const masked = { query, variables: { pin: '[MASKED]', open: 'visible' } };
    const { statements } = lines().find(({ kind }) => kind === 'query') as QueryObservation;
    expect(statements?.get('item')?.values.join()).toContain('[MASKED]');
    expect(lines().filter((o) => o.kind === 'query' && o.query['query'] === query)).toMatchObject(Array(3).fill({ query: masked }));
    expect((lines().at(-1) as HttpObservation).query).toEqual([masked]);
    expect(printed()).not.toMatch(/hush|777123/);
    expect(printed()).toContain('visible');
  });

  it('redacts them in the URLs of REST endpoints for any caller', async () => {
    const text = 'query ($path: String!, $pin: String!, $open: String!) { item(where: {name: {_in: [$path, $pin, $open]}}) { id } }';
    await service.metadata('create_query_collection', { name: 'c', definition: { queries: [{ name: 'q', query: text }] } });
    const definition = { query: { collection_name: 'c', query_name: 'q' } };
    await service.metadata('create_rest_endpoint', { name: 'e', url: 'items/:path/of/:open', methods: ['GET'], definition });
    for (const role of ['admin', 'stranger']) {
      await service.send('/api/rest/items/hush/of/vis%20ible?pin=hush', { headers: { 'x-svc-role': role } });
      expect((lines().at(-1) as HttpObservation).url).toBe('/api/rest/items/[MASKED]/of/vis%20ible?pin=[MASKED]');
    }
    expect(printed()).not.toContain('hush');
  });
});

it('logs the queries of failures only', async () => {
  const service = await start({ ENABLED_LOG_TYPES: 'http-log,query-log', HTTP_LOG_QUERY_ONLY_ON_ERROR: 'true' });
  const failing = { query: 'query broken { nothing }', operationName: 'broken' };
  const named = { query: 'query good { item { id } }', operationName: 'good' };
  const post = (body: unknown) => service.send('/v1/graphql', { method: 'POST', body: JSON.stringify(body) });
  const begin = service.observations.length;
  for (const body of [named, { query: '{ item { id } }' }, failing, [named, named], [named, failing]]) await post(body);
  await service.metadata('export_metadata', {});
  const told = service.observations.slice(begin).flatMap((o) => (o.kind === 'http' ? [o.query] : []));
  const brief = { operationName: 'good' };
  expect(told).toEqual([brief, null, failing, [brief, brief], [named, failing], { type: 'export_metadata' }]);
});

describe('the query log with metadata operations', () => {
  it('contains them without their secrets', async () => {
    const service = await start({ ENABLED_LOG_TYPES: 'http-log,query-log', ENABLE_METADATA_QUERY_LOGGING: 'true' });
    const send = (path: string, type: string, args: unknown) =>
      service.send(path, { method: 'POST', body: JSON.stringify({ type, args }), headers: { 'x-svc-client-secret': 'hush' } });
    const begin = service.observations.length;
    const configuration = { connection_info: { database_url: 'postgres://u:hush@127.0.0.1:1/d' } };
    await send('/v1/metadata', 'bulk', [
      { type: 'pg_add_source', args: { name: 'other', configuration } },
      {
        type: 'pg_create_insert_permission',
        args: {
          table: 'item',
          role: 'user',
          permission: {
            check: {},
            columns: '*',
            validate_input: {
              type: 'http',
              definition: { url: 'https://u:hush@example.com/?k=hush', headers: [{ name: 'h', value: 'hush' }], timeout: 10 },
            },
          },
        },
      },
    ]);
    await send('/v2/query', 'run_sql', { sql: 'select 1', read_only: true });
    const entries = service.observations.slice(begin).filter(({ kind }) => kind === 'http') as HttpObservation[];
    expect(entries.map(({ query }) => query)).toMatchObject([
      {
        type: 'bulk',
        args: [
          { type: 'pg_add_source', args: { name: 'other', configuration: { connection_info: { database_url: '[MASKED]' } } } },
          {
            type: 'pg_create_insert_permission',
            args: {
              permission: {
                validate_input: { definition: { url: 'https://***@example.com/?***', headers: [{ name: 'h', value: '[MASKED]' }] } },
              },
            },
          },
        ],
      },
      { type: 'run_sql', args: { sql: 'select 1', read_only: true } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('hush');
  });

  it.runIf(DEEP)('contains nothing if the log of queries is disabled', async () => {
    const service = await start({ ENABLE_METADATA_QUERY_LOGGING: 'true' });
    for (const o of service.observations) if (o.kind === 'http') expect(o.query).toBeNull();
  });
});

it.runIf(DEEP)('logs no queries by default', async () => {
  const service = await start({});
  await service.graphql('{ item { id } }');
  await service.send('/v1/graphql', { method: 'POST', body: '[{"query": "{ item { id } }"}]' });
  expect(service.observations.filter(({ kind }) => kind === 'query')).toEqual([]);
  for (const o of service.observations) if (o.kind === 'http') expect(o.query).toBeNull();
});

it.runIf(DEEP)('warns at start-up about settings without effect', async () => {
  const service = await start({ ENABLED_APIS: 'metadata,graphql,developer', ENABLED_LOG_TYPES: 'query-log,websocket-log' });
  const warnings = service.observations.flatMap((o) => (o.kind === 'startup' && o.message === 'setting_without_effect' ? [o.info] : []));
  expect(warnings).toEqual([{ warning: '--enabled-apis developer has no effect until there are endpoints under /dev' }]);
});

it.runIf(DEEP)('writes the log records', async () => {
  const { databaseUrl } = await start({});
  const process = runService(['serve'], {
    DATABASE_URL: databaseUrl,
    SERVER_PORT: '0',
    SERVER_HOST: '127.0.0.1',
    ENABLED_LOG_TYPES: 'startup,query-log,execution-log',
  });
  try {
    const [, address] = await process.find(/"url":"(http:[^"]+)"/);
    await process.find(/"kind":"setting_without_effect","info":\{"warning":"--enabled-log-types execution-log /);
    await fetch(`${address}/v1/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query": "{ __typename }"}',
    });
    await process.find(/"type":"query-log","detail":\{"request_id":"[^"]+","query":\{"query":"\{ __typename \}"\},"kind":"introspection"/);
  } finally {
    await process.stop();
  }
});
