import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const SECRET = 'open sesame';
const admin = { 'x-svc-admin-secret': SECRET };
const GRAPHQL_RESPONSE = 'application/graphql-response+json';

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: SECRET });
  await service.sql(`create table item (id int primary key, name text not null); insert into item values (1, 'one'), (2, 'two')`);
  await service.metadata('pg_track_table', { table: 'item' });
});
afterAll(() => service.stop());

describe('the audits of GraphQL over HTTP', () => {
  const audits = serverAudits({
    url: () => `${service.url}/v1/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), ...admin } }),
  });

  it('are complete', () => expect(audits).toHaveLength(61));

  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s %s', async (_id, _name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
});

function get(parameters: Readonly<Record<string, string>>, headers: Record<string, string> = {}): Promise<Answer> {
  return service.send(`/v1/graphql?${new URLSearchParams(parameters)}`, { headers: { ...admin, ...headers } });
}

describe('GraphQL requests over GET', () => {
  it('carry variables and the operation name, and are not cached', async () => {
    const query = 'query a { item { id } } query b($id: Int!) { item_by_pk(id: $id) { name } }';
    const answer = await get({ query, variables: '{"id": 2}', operationName: 'b', extensions: '{"x": 1}' });
    expect(answer.text).toBe('{"data":{"item_by_pk":{"name":"two"}}}');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('treat empty parameters as absent', async () => {
    expect((await get({ query: '{ item { id } }', variables: '', operationName: '', extensions: '' })).status).toBe(200);
  });

  it.each([
    ['no query', {}, 'parse-failed', '$'],
    ['variables that are no JSON', { query: '{ item { id } }', variables: '{' }, 'invalid-json', '$.variables'],
    ['variables that are no object', { query: '{ item { id } }', variables: '[1]' }, 'parse-failed', '$.variables'],
    ['extensions that are no JSON', { query: '{ item { id } }', extensions: 'x' }, 'invalid-json', '$.extensions'],
    ['variables nested without end', { query: '{ item { id } }', variables: '['.repeat(5000) }, 'invalid-json', '$.variables'],
  ])('return 400: %s', async (_what, parameters, code, path) => {
    const answer = await get(parameters);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ errors: [{ extensions: { code, path } }] });
  });

  it.each(['%FF', '%', '%zz', '%ED%A0%80'])('reject the malformed %j instead of replacing characters', async (text) => {
    const answer = await service.send(`/v1/graphql?query={item(where:{name:{_eq:"${text}"}}){id}}`);
    expect(answer.status).toBe(400);
    const message = 'the query string of the URL has an invalid encoding: it must be UTF-8, with percent signs as %25';
    expect(answer.json).toEqual({ errors: [{ message, extensions: { path: '$', code: 'bad-request' } }] });
  });

  it.each(['application/json', GRAPHQL_RESPONSE])('reject mutations with 405 and change nothing (%s)', async (accept) => {
    const answer = await get({ query: 'mutation { delete_item(where: {}) { affected_rows } }' }, { accept });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(answer.json).toMatchObject({ errors: [{ extensions: { code: 'method-not-allowed' } }] });
    expect(await service.graphql('{ item_aggregate { aggregate { count } } }')).toEqual({
      data: { item_aggregate: { aggregate: { count: 2 } } },
    });
  });

  it('require credentials', async () => {
    const answer = await service.send(`/v1/graphql?${new URLSearchParams({ query: '{ item { id } }' })}`, {
      headers: { accept: GRAPHQL_RESPONSE },
    });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ errors: [{ extensions: { code: 'access-denied' } }] });
  });
});

describe('GraphQL responses', () => {
  const post = (query: string, accept: string): Promise<Answer> =>
    service.send('/v1/graphql', { method: 'POST', headers: { ...admin, accept }, body: JSON.stringify({ query }) });

  it('with the GraphQL media type have the status of their error', async () => {
    const failing = 'mutation { insert_item(objects: {id: 1, name: "again"}) { affected_rows } }';
    const graphql = await post(failing, GRAPHQL_RESPONSE);
    expect([graphql.status, graphql.headers.get('content-type')]).toEqual([400, `${GRAPHQL_RESPONSE}; charset=utf-8`]);
    const json = await post(failing, 'application/json');
    expect([json.status, json.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(json.json).toEqual(graphql.json);
  });

  it('to a batch have the requested media type and status 200', async () => {
    const answer = await service.send('/v1/graphql', {
      method: 'POST',
      headers: { ...admin, accept: GRAPHQL_RESPONSE },
      body: '[{"query":"{ item(limit: 1) { id } }"},{"query":"{ nothing }"},{"query":1}]',
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${GRAPHQL_RESPONSE}; charset=utf-8`]);
    expect(answer.json).toMatchObject([{ data: { item: [{ id: 1 }] } }, { errors: [{}] }, { errors: [{}] }]);
  });
});
