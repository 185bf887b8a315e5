import { validate } from '@readme/openapi-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const SECRET = 'open sesame';
const admin = { 'x-svc-admin-secret': SECRET };

const QUERIES = {
  one: 'query ($id: Int!, $shout: Boolean = false) { item_by_pk(id: $id) { id name @skip(if: $shout) } }',
  byName: 'query ($name: String!) { item(where: {name: {_eq: $name}}) { id } }',
  some: 'query ($min: numeric, $name: String, $day: date, $ids: [Int!]) { item(where: {price: {_gte: $min}, name: {_like: $name}, day: {_eq: $day}, id: {_in: $ids}}, order_by: {id: asc}) { id } }',
  byPrice: 'query ($min: numeric = 0, $n: Int) { item(limit: $n, where: {price: {_gte: $min}}, order_by: {id: asc}) { id price } }',
  add: 'mutation ($item: item_insert_input!) { insert_item_one(object: $item) { id kind { name } tags } }',
  page: 'query ($order: [item_order_by!], $day: date!, $kind: kinds_enum = small) { item(order_by: $order, where: {day: {_eq: $day}, size: {_eq: $kind}}) { id size details kind { name } } item_aggregate { aggregate { count } nodes { __typename } } }',
} as const;

const create = (name: keyof typeof QUERIES, url: string, methods: readonly string[], more: JsonObject = {}) =>
  service.metadata('create_rest_endpoint', {
    name: `${name} ${url}`,
    url,
    methods,
    definition: { query: { collection_name: 'c', query_name: name } },
    ...more,
  });

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: SECRET });
  await service.sql(`
    create table kinds (value text primary key, comment text);
    insert into kinds values ('small', 'not big'), ('big', null);
    create table kind (id int primary key, name text);
    insert into kind values (1, 'tool');
    create table item (id int primary key, name text, price numeric, day date, details jsonb, tags text[], kind_id int references kind, size text references kinds);
    insert into item values (1, 'a/b c', 1.5, '2020-01-01', null, '{x}', 1, 'big'), (2, 'ü', 20, '2020-01-02', null, null, null, null)`);
  await service.metadata('pg_track_tables', { tables: ['kind', 'item'].map((table) => ({ table })) });
  await service.metadata('pg_track_table', { table: 'kinds', is_enum: true });
  await service.metadata('pg_create_object_relationship', { table: 'item', name: 'kind', using: { foreign_key_constraint_on: 'kind_id' } });
  await service.metadata('create_query_collection', {
    name: 'c',
    definition: { queries: Object.entries(QUERIES).map(([name, query]) => ({ name, query })) },
  });
  await create('one', 'item/:id', ['GET', 'POST'], { comment: 'One item.' });
  await create('byPrice', 'items', ['GET', 'POST']);
  await create('some', 'some', ['GET', 'PUT']);
  await create('byName', 'named/:name', ['GET']);
  await create('add', 'item', ['POST', 'PATCH']);
  await create('page', 'page/:day', ['GET', 'DELETE']);
  await create('one', 'items/:id/shout/:shout', ['GET']);
});
afterAll(() => service.stop());

const get = async (path: string, init: RequestInit = {}): Promise<readonly [number, Json]> => {
  const answer = await service.send(`/api/rest/${path}`, { ...init, headers: { ...admin, ...(init.headers as Record<string, string>) } });
  return [answer.status, answer.text === '' ? null : (JSON.parse(answer.text) as Json)];
};
const post = (path: string, body: string, method = 'POST') => get(path, { method, body });
const error = (code: string, text: string, path = '$') => ({ path, error: text, code });

describe('calls of REST endpoints', () => {
  it('return the data alone', async () => {
    expect(await get('item/1')).toEqual([200, { item_by_pk: { id: 1, name: 'a/b c' } }]);
    expect(await get('item/3')).toEqual([200, { item_by_pk: null }]);
    expect(await get('items')).toEqual([
      200,
      {
        item: [
          { id: 1, price: 1.5 },
          { id: 2, price: 20 },
        ],
      },
    ]);
  });

  it('read variables from the path, the body and the query string, in this order', async () => {
    expect(await get('item/1?shout=true')).toEqual([200, { item_by_pk: { id: 1 } }]);
    expect(await get('item/1?shout')).toEqual([200, { item_by_pk: { id: 1 } }]);
    expect(await get('items/1/shout/false?shout=true')).toEqual([200, { item_by_pk: { id: 1, name: 'a/b c' } }]);
    expect(await post('item/2?shout=false&id=1', '{"shout": true, "id": 1}')).toEqual([200, { item_by_pk: { id: 2 } }]);
    expect(await get('item/2', { method: 'POST', body: new URLSearchParams({ shout: 'true' }) })).toEqual([200, { item_by_pk: { id: 2 } }]);
    expect(await get('items?n=')).toEqual([
      200,
      {
        item: [
          { id: 1, price: 1.5 },
          { id: 2, price: 20 },
        ],
      },
    ]);
    expect(await get('items?min=19.99')).toEqual([200, { item: [{ id: 2, price: 20 }] }]);
    expect(await get(`items?min=1e400`)).toEqual([200, { item: [] }]);
  });

  it('decode the URL once', async () => {
    expect(await get('named/a%2Fb%20c')).toEqual([200, { item: [{ id: 1 }] }]);
    expect(await get('named/%C3%BC')).toEqual([200, { item: [{ id: 2 }] }]);
    expect(await get('named/%25C3%25BC')).toEqual([200, { item: [] }]);
  });

  it('accept lists in the body', async () => {
    expect(await post('some', JSON.stringify({ name: 'a/b c', ids: [1, 2], min: 1, day: '2020-01-01' }), 'PUT')).toEqual([
      200,
      { item: [{ id: 1 }] },
    ]);
  });

  it('run mutations', async () => {
    expect(await post('item', JSON.stringify({ item: { id: 7, kind_id: 1, tags: ['a'] } }))).toEqual([
      200,
      { insert_item_one: { id: 7, kind: { name: 'tool' }, tags: ['a'] } },
    ]);
    expect(await post('item', JSON.stringify({ item: { id: 7 } }))).toMatchObject([400, { code: 'constraint-violation' }]);
    await service.sql('delete from item where id = 7');
  });

  it.each<[string, number, JsonObject, RequestInit?]>([
    ['nothing', 404, error('not-found', 'Endpoint not found')],
    ['item/1/2', 404, error('not-found', 'Endpoint not found')],
    ['', 404, error('not-found', 'Endpoint not found')],
    ['item/1', 405, error('method-not-allowed', 'Allowed methods: GET, POST'), { method: 'DELETE' }],
    ['item', 405, error('method-not-allowed', 'Allowed methods: POST, PATCH')],
    ['item/1?x=1', 400, error('bad-request', 'Unexpected variable x')],
    ['item/1', 400, error('bad-request', 'Unexpected variable x'), { method: 'POST', body: '{"x": 1}' }],
    ['item/1', 400, error('bad-request', 'the request body has to be a JSON object'), { method: 'POST', body: '[]' }],
    ['item/1', 400, error('invalid-json', 'the request body is not valid JSON'), { method: 'POST', body: '{' }],
    ['item/x', 400, error('bad-request', 'Expected a number for variable id, but found "x"')],
    [
      'item/1.5',
      400,
      error(
        'parse-failed',
        'The value 1.5 lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?',
      ),
    ],
    ['item/1?shout=1', 400, error('bad-request', 'Expected true or false for variable shout, but found "1"')],
    ['item/%E0%A4%A', 400, error('bad-request', 'the path of the URL has an invalid encoding')],
    ...['%FF', '%', '%zz', '%C3', '%ED%A0%80'].map((text): [string, number, Record<string, Json>] => [
      `item/1?shout=${text}`,
      400,
      error('bad-request', 'the query string of the URL has an invalid encoding: it must be UTF-8, with percent signs as %25'),
    ]),
    [
      'some?ids=1',
      400,
      error('bad-request', 'List variables are not currently supported in URL or Query parameters. (Variable ids, with value "1")'),
    ],
    ['page/', 400, error('data-exception', 'invalid input syntax for type date: ""', '$')],
  ])('to %j return %i', async (path, status, body, init) => {
    const [found, json] = await get(path, init);
    expect([found, json]).toMatchObject([status, { code: body['code'] as string, error: body['error'] as string }]);
  });

  it('require non-null values and credentials', async () => {
    await service.metadata('create_rest_endpoint', {
      name: 'bare',
      url: 'bare',
      methods: ['GET'],
      definition: { query: { collection_name: 'c', query_name: 'one' } },
    });
    expect(await get('bare')).toEqual([400, error('validation-failed', 'expecting a value for non-nullable variable: "id"')]);
    expect((await service.send('/api/rest/bare?id=1')).status).toBe(401);
    expect(await get('bare?id=1', { headers: { 'x-svc-role': 'user' } })).toEqual([
      400,
      error('validation-failed', "field 'item_by_pk' not found in type: 'query_root'", '$.selectionSet.item_by_pk'),
    ]);
    await service.metadata('drop_rest_endpoint', { name: 'bare' });
    expect((await get('bare?id=1'))[0]).toBe(404);
  });

  it('return permitted methods in a header too', async () => {
    const answer = await service.send('/api/rest/item', { headers: admin });
    expect(answer.headers.get('allow')).toBe('POST, PATCH');
  });

  it('return 500 if two imported endpoints match', async () => {
    const document = (await service.metadata('export_metadata', {})) as JsonObject;
    const endpoints = document['rest_endpoints'] as readonly JsonObject[];
    const copy = { ...(endpoints.find(({ url }) => url === 'item/:id') as JsonObject), name: 'copy', url: ':id/1' };
    await service.metadata('replace_metadata', {
      metadata: { ...document, rest_endpoints: [...endpoints, copy] },
      allow_inconsistent_metadata: true,
    });
    expect(await get('item/1')).toEqual([500, error('unexpected', 'Multiple endpoints match request')]);
    expect((await get('item/2'))[0]).toBe(200);
    await service.metadata('replace_metadata', document);
    expect((await get('item/1'))[0]).toBe(200);
  });
});

/** The errors that a validator finds. */
async function validity(document: JsonObject): Promise<readonly unknown[]> {
  // The validator resolves references in place.
  const result = await validate(JSON.parse(printJson(document)) as Parameters<typeof validate>[0]);
  return result.valid ? result.warnings : result.errors;
}

describe('the OpenAPI document', () => {
  const read = async (): Promise<JsonObject> => (await service.send('/api/swagger/json', { headers: admin })).json as JsonObject;

  it('is valid and describes every endpoint', async () => {
    const document = await read();
    expect(await validity(document)).toEqual([]);
    expect(Object.keys(document['paths'] as JsonObject).sort()).toEqual([
      '/api/rest/item',
      '/api/rest/item/{id}',
      '/api/rest/items',
      '/api/rest/items/{id}/shout/{shout}',
      '/api/rest/named/{name}',
      '/api/rest/page/{day}',
      '/api/rest/some',
    ]);
  });

  it('contains types of parameters, bodies and responses', async () => {
    const paths = (await read())['paths'] as JsonObject;
    const one = (paths['/api/rest/item/{id}'] as JsonObject)['get'] as JsonObject;
    expect(one['description']).toBe(`One item.\n***\nThe GraphQl query for this endpoint is:\n\`\`\` graphql\n${QUERIES.one}\n\`\`\``);
    expect(one['parameters']).toEqual([
      { in: 'path', name: 'id', required: true, schema: { type: 'integer' }, description: '_"id" is required as part of the path_' },
      { in: 'query', name: 'shout', required: false, schema: { type: 'boolean', default: false } },
    ]);
    const add = (paths['/api/rest/item'] as JsonObject)['patch'] as JsonObject;
    expect(add['requestBody']).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { properties: { item: { $ref: '#/components/schemas/item_insert_input.notNull' } } } } },
    });
    const page = (paths['/api/rest/page/{day}'] as JsonObject)['get'] as { responses: JsonObject } & JsonObject;
    expect(page.responses).toMatchObject({
      '200': {
        content: {
          'application/json': {
            schema: {
              properties: {
                item: {
                  type: 'array',
                  items: { properties: { size: { type: 'string', enum: ['big', 'small'] }, kind: { nullable: true } } },
                },
                item_aggregate: { properties: { nodes: { items: { properties: { __typename: { type: 'string', nullable: false } } } } } },
              },
            },
          },
        },
      },
    });
  });

  it.runIf(DEEP)('has one path for templates that differ in names only', async () => {
    await create('byPrice', 'item/:min', ['PUT']);
    const document = await read();
    expect(await validity(document)).toEqual([]);
    const path = (document['paths'] as JsonObject)['/api/rest/item/{id}'] as JsonObject;
    expect(((path['put'] as JsonObject)['parameters'] as readonly JsonObject[])[0]).toMatchObject({ in: 'path', name: 'id' });
    await service.metadata('drop_rest_endpoint', { name: 'byPrice item/:min' });
  });

  it('has valid names, unique operation ids, security, servers and errors', async () => {
    const document = await read();
    const { components, paths } = document as { components: Record<string, JsonObject>; paths: Record<string, Record<string, JsonObject>> };
    expect(document).toMatchObject({ servers: [{ url: '/' }], security: [{ adminSecret: [] }, { bearer: [] }] });
    expect(document['info']).toMatchObject({ version: expect.stringMatching(/./) });
    expect(components['securitySchemes']).toMatchObject({
      adminSecret: { type: 'apiKey', in: 'header', name: 'x-svc-admin-secret' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
    for (const name of Object.values(components).flatMap(Object.keys)) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/);
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId as string);
    expect(new Set(ids).size).toBe(operations.length);
    expect(ids).toContain('get_one_item_id');
    expect(ids).toContain('get_one_items_id_shout_shout');
    for (const { responses } of operations) expect(Object.keys(responses as JsonObject)).toEqual(['200', '400', '401', '404']);
    // Null stands beside a type only, and nothing beside a reference.
    const check = (json: Json): void => {
      if (Array.isArray(json)) json.forEach(check);
      else if (json !== null && typeof json === 'object') {
        const schema = json as JsonObject;
        if (schema['nullable'] !== undefined) expect(schema['type']).toBeTypeOf('string');
        if (schema['$ref'] !== undefined) expect(Object.keys(schema)).toEqual(['$ref']);
        Object.values(schema).forEach(check);
      }
    };
    check(document);
  });

  it.runIf(DEEP)('is valid without endpoints too, and has the version 2 format if configured', async () => {
    const other = await startTestService({ ADMIN_SECRET: SECRET });
    const former = await startTestService({ ADMIN_SECRET: SECRET, VERSION2_OPENAPI_DOCUMENT: 'true' });
    try {
      const empty = (await other.send('/api/swagger/json', { headers: admin })).json as JsonObject;
      expect([empty['paths'], await validity(empty)]).toEqual([{}, []]);
      const like2 = (await former.send('/api/swagger/json', { headers: admin })).json as JsonObject;
      expect([like2['components'], like2['paths'], like2['servers']]).toEqual([{}, undefined, undefined]);
    } finally {
      await other.stop();
      await former.stop();
    }
  });

  it('is restricted to administrators', async () => {
    expect((await service.send('/api/swagger/json')).status).toBe(401);
    const answer = await service.send('/api/swagger/json', { headers: { ...admin, 'x-svc-role': 'user' } });
    expect([answer.status, answer.json]).toMatchObject([400, error('access-denied', 'You have to be an admin to access this endpoint')]);
  });
});
