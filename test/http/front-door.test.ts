import { createConnection } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
const SECRET = 'open sesame';
const admin = { 'x-svc-admin-secret': SECRET };
const JSON_CONTENT = { 'content-type': 'application/json' };

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: SECRET, REQUEST_BODY_LIMIT: '200000', BATCH_LIMIT: '3', BATCH_RESPONSE_LIMIT: '20000' });
  await service.sql(`create table item (id int primary key, name text);
    insert into item select n, repeat('name ', 50) || n from generate_series(1, 100) n`);
  await service.metadata('pg_track_table', { table: 'item' });
});
afterAll(() => service.stop());

const post = (path: string, body: string, headers: Record<string, string> = admin) => service.send(path, { method: 'POST', body, headers });
const query = (text: string) => JSON.stringify({ query: text });

describe('request bodies', () => {
  it.each([
    ['malformed JSON', '{"query":', 'invalid-json', '$', 400],
    ['an empty body', '', 'invalid-json', '$', 400],
    ['a bare value', '"x"', 'parse-failed', '$', 400],
    ['no query', '{}', 'parse-failed', '$', 400],
    ['a query of the wrong type', '{"query": 1}', 'parse-failed', '$.query', 400],
    ['variables of the wrong type', '{"query": "{ item { id } }", "variables": []}', 'parse-failed', '$.variables', 400],
    ['an operation name of the wrong type', '{"query": "{ item { id } }", "operationName": 1}', 'parse-failed', '$.operationName', 400],
    ['extensions of the wrong type', '{"query": "{ item { id } }", "extensions": "x"}', 'parse-failed', '$.extensions', 400],
    ['JSON nested without end', `{"query":${'['.repeat(9000)}`, 'invalid-json', '$', 400],
    [
      'an object of very many keys',
      `{"query":{${Array.from({ length: 24_000 }, (_, n) => `"${n.toString(36)}":0,`).join('')}"":0}}`,
      'invalid-json',
      '$',
      400,
    ],
    ['colons', ':'.repeat(19_000), 'invalid-json', '$', 400],
    [
      'a persisted query without a hash',
      '{"extensions":{"persistedQuery":{"version":1}}}',
      'bad-request',
      '$.extensions.persistedQuery',
      400,
    ],
    ['a document that cannot be parsed', '{"query": "{"}', 'validation-failed', '$.query', 200],
  ])('%s is an error in GraphQL format', async (_what, body, code, path, status) => {
    const answer = await post('/v1/graphql', body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ errors: [{ extensions: { code, path } }] });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each(['/v1/graphql', '/v1/metadata', '/v2/query'])('%s rejects invalid UTF-8 instead of replacing it', async (path) => {
    const body = Buffer.from(query('{ item(where: {name: {_eq: "caf\u00e9"}}) { id } }'), 'latin1');
    const answer = await service.send(path, { method: 'POST', headers: { ...admin, ...JSON_CONTENT }, body });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('the request body is not encoded in UTF-8')]);
  });

  it('keep the status code of the older endpoint', async () => {
    const answer = await post('/v1alpha1/graphql', '{');
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ errors: [{ extensions: { code: 'invalid-json' } }] });
  });

  it('over the limit are rejected, announced or not', async () => {
    const big = query(`{ item { id } } # ${'x'.repeat(300_000)}`);
    expect((await post('/v1/graphql', big)).status).toBe(413);
    const chunked = await new Promise<number | undefined>((resolve, reject) => {
      const out = request(`${service.url}/v1/graphql`, { method: 'POST', headers: { ...admin, ...JSON_CONTENT } }, (r) => {
        r.resume();
        resolve(r.statusCode);
      });
      out.on('error', reject);
      for (let i = 0; i < 300; i++) out.write('x'.repeat(1000));
      out.end();
    });
    expect(chunked).toBe(413);
    expect((await post('/v1/graphql', query('{ item { id } }'))).status).toBe(200);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16'])(
    'with the content type %s, which a cross-site form could send, are rejected',
    async (type) => {
      const answer = await post('/v1/graphql', query('{ item(limit: 1) { id } }'), { ...admin, 'content-type': type });
      expect(answer.status).toBe(415);
      expect(answer.json).toMatchObject({ errors: [{ extensions: { code: 'bad-request', path: '$' } }] });
      // The metadata API accepts it for tools that send no content type.
      expect((await post('/v1/metadata', '{"type":"export_metadata","args":{}}', { ...admin, 'content-type': type })).status).toBe(200);
    },
  );
});

it('are accepted from proxies that send an absolute URL', async () => {
  const { port, hostname } = new URL(service.url);
  for (const [target, status] of [
    ['http://somewhere.example/healthz', 200],
    ['HTTPS://somewhere.example:1/v1/version?x=1', 200],
    ['http://somewhere.example', (await service.send('/')).status],
    ['http://somewhere.example?x=/healthz', (await service.send('/')).status],
    ['ftp://somewhere.example/healthz', 404],
    ['healthz', 400],
  ] as const) {
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const out = request({ port, hostname, path: target, headers: { host: 'somewhere.example' } }, (r) => {
        r.resume();
        resolve(r.statusCode);
      });
      out.on('error', reject);
      out.end();
    });
    expect([target, answered]).toEqual([target, status]);
  }
});

describe('access control', () => {
  it.each(['/v1/graphql', '/v1/metadata', '/v1/query', '/v2/query'])('%s requires the admin secret', async (path) => {
    const status = path === '/v1/graphql' ? 200 : 401;
    for (const headers of [{}, { 'x-svc-admin-secret': `${SECRET}!` }, { 'x-svc-access-key': 'x' }] as Record<string, string>[]) {
      const answer = await post(path, query('{ item { id } }'), headers);
      expect(answer.status).toBe(status);
      expect(answer.text).toContain('access-denied');
      expect(answer.text).not.toContain(SECRET);
    }
  });

  it('accepts the secret under its older header name', async () => {
    const answer = await post('/v1/graphql', query('{ item(limit: 1) { id } }'), { 'x-svc-access-key': SECRET });
    expect(answer.json).toEqual({ data: { item: [{ id: 1 }] } });
  });

  it('does not reveal tables to a role without permission', async () => {
    const answer = await post('/v1/graphql', query('{ item { id } }'), { ...admin, 'x-svc-role': 'stranger' });
    expect(answer.json).toEqual({
      errors: [
        {
          message: "field 'item' not found in type: 'query_root'",
          locations: [{ line: 1, column: 3 }],
          extensions: { path: '$.selectionSet.item', code: 'validation-failed' },
        },
      ],
    });
  });

  it('rejects metadata operations of other roles', async () => {
    const answer = await post('/v1/metadata', '{"type":"export_metadata","args":{}}', { ...admin, 'x-svc-role': 'user' });
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ path: '$.args', error: 'restricted access : admin only', code: 'access-denied' });
  });

  it('keeps secrets out of log records', () => {
    expect(JSON.stringify(service.observations)).not.toContain(SECRET);
  });
});

describe('batches', () => {
  it('are answered in order, with each operation independent', async () => {
    const answer = await post('/v1/graphql', `[${query('{ item(limit: 1) { id } }')},${query('{ nothing }')},${query('{ __typename }')}]`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject([{ data: { item: [{ id: 1 }] } }, { errors: [{}] }, { data: { __typename: 'query_root' } }]);
  });

  it('may be empty, but not too long', async () => {
    expect((await post('/v1/graphql', '[]')).text).toBe('[]');
    const four = `[${Array.from({ length: 4 }, () => query('{ __typename }')).join(',')}]`;
    expect((await post('/v1/graphql', four)).json).toMatchObject({ errors: [{ extensions: { code: 'bad-request' } }] });
  });
});

describe('responses that exceed the total size limit', () => {
  const sql = (text: string, type = 'run_sql') => ({ type, args: { sql: text } });
  const large = sql(`select string_agg(name, '') from item`);
  const half = sql(`select string_agg(name, '') from item where id <= 40`);
  const insert = sql(`insert into item values (1000, 'x')`);
  const left = 'not run: the responses of the preceding operations of the batch have reached 20000 bytes';
  const over = 'the responses of the batch exceed 20000 bytes';
  const failed = (message: string) => ({ errors: [{ message, extensions: { path: '$', code: 'bad-request' } }] });
  const isThere = async (): Promise<boolean> => {
    const { json } = await post('/v1/graphql', query('{ item(where: {id: {_gte: 1000}}) { id } }'));
    return (json as { data: { item: unknown[] } }).data.item.length > 0;
  };
  const add = query(`mutation { insert_item_one(object: {id: 1000}) { id } }`);

  it('end a batch before its remaining operations', async () => {
    const type = 'name kind ofType { name kind ofType { name kind } }';
    const all = `{ __schema { types { name kind description fields { name description args { name type { ${type} } } type { ${type} } } } } }`;
    const { json } = await post('/v1/graphql', `[${query(all)},${add},${query('{ __typename }')}]`);
    expect(json).toMatchObject([{ data: {} }, failed(left), failed(left)]);
    expect(await isThere()).toBe(false);
  });

  it('reject the operations that no longer fit, and not small ones', async () => {
    const read = query('{ item(limit: 40) { name } }');
    const remove = query('mutation { delete_item_by_pk(id: 1000) { id } }');
    expect((await post('/v1/graphql', `[${read},${add},${read}]`)).json).toMatchObject([
      { data: {} },
      { data: { insert_item_one: { id: 1000 } } },
      failed(over),
    ]);
    expect((await post('/v1/graphql', `[${query('{ item { name } }')},${remove}]`)).json).toMatchObject([failed(over), { data: {} }]);
  });

  it('end a bulk before its remaining elements', async () => {
    const first = { type: 'bulk', args: [half, half] };
    const { status, json } = await post('/v2/query', JSON.stringify({ type: 'bulk', args: [first, insert] }));
    expect([status, json]).toMatchObject([400, { path: '$.args[0].args[1].args', error: over, code: 'bad-request' }]);
    expect(await isThere()).toBe(false);
  });

  it('reject the remaining elements of a bulk_keep_going one by one', async () => {
    const elements = [...Array.from({ length: 120 }, () => ({ type: 'export_metadata', args: {} })), { type: 'clear_metadata', args: {} }];
    const { json } = await post('/v1/metadata', JSON.stringify({ type: 'bulk_keep_going', args: elements }));
    const answers = json as unknown[];
    expect(answers).toHaveLength(121);
    expect(answers[0]).toMatchObject({ sources: [{ name: 'default' }] });
    expect(answers.at(-1)).toMatchObject({ path: '$.args[120].args', error: left, code: 'bad-request' });
    expect((await post('/v1/graphql', query('{ item(limit: 1) { id } }'))).json).toEqual({ data: { item: [{ id: 1 }] } });
  });

  it('cancel concurrent operations and start no more', async () => {
    const reading = ({ args }: ReturnType<typeof sql>) => ({ type: 'run_sql', args: { ...args, read_only: true } });
    // Longer than the timeout of a test.
    const slow = sql('select pg_sleep(600)');
    const elements = [...Array(9).fill(slow), large, ...Array(20).fill(slow)].map(reading);
    const { status, json } = await post('/v2/query', JSON.stringify({ type: 'concurrent_bulk', args: elements }));
    expect([status, json]).toMatchObject([400, { path: '$.args[9].args', error: over, code: 'bad-request' }]);
    const sleeping = async (): Promise<unknown> => {
      const asked = sql(
        `select count(*) from pg_stat_activity where datname = current_database() and query = '${slow.args.sql}' and state = 'active'`,
      );
      return (await post('/v2/query', JSON.stringify(asked))).json;
    };
    await expect.poll(sleeping, WAIT).toMatchObject({ result: [['count'], ['0']] });
    const few = Array(3).fill(sql(`select string_agg(name, '') from item where id <= 20`)).map(reading);
    expect((await post('/v2/query', JSON.stringify({ type: 'concurrent_bulk', args: few }))).status).toBe(200);
  });
});

describe('responses', () => {
  it('echo or generate the request id, on errors too', async () => {
    const mine = await post('/v1/graphql', '{', { ...admin, 'x-request-id': 'abc-1' });
    expect(mine.headers.get('x-request-id')).toBe('abc-1');
    const longest = 'x'.repeat(256);
    expect((await post('/v1/graphql', '{', { ...admin, 'x-request-id': longest })).headers.get('x-request-id')).toBe(longest);
    for (const strange of [`${longest}x`, 'a b', 'caf\u00e9', 'x\ty']) {
      const { headers } = await post('/v1/graphql', '{', { ...admin, 'x-request-id': strange });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    const made = await post('/nowhere', '{');
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.status).toBe(404);
    expect(made.json).toEqual({ path: '$', error: 'resource does not exist', code: 'not-found' });
  });

  it('are compressed if they are large and the client accepts it', async () => {
    const raw = (encoding: string): Promise<{ encoding: string | undefined; body: Buffer }> =>
      new Promise((resolve, reject) => {
        const out = request(
          `${service.url}/v1/graphql`,
          { method: 'POST', headers: { ...admin, ...JSON_CONTENT, 'accept-encoding': encoding } },
          (r) => {
            const chunks: Buffer[] = [];
            r.on('data', (c: Buffer) => chunks.push(c));
            r.on('end', () => resolve({ encoding: r.headers['content-encoding'], body: Buffer.concat(chunks) }));
          },
        );
        out.on('error', reject);
        out.end(query('{ item { id name } }'));
      });
    const plain = await raw('identity');
    expect(plain.encoding).toBeUndefined();
    const packed = await raw('br;q=0.5, gzip');
    expect(packed.encoding).toBe('gzip');
    expect(packed.body.length).toBeLessThan(plain.body.length / 10);
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    const tighter = await raw('gzip, deflate, br');
    expect(tighter.encoding).toBe('br');
    expect(brotliDecompressSync(tighter.body).equals(plain.body)).toBe(true);
    expect((await raw('gzip;q=0')).encoding).toBeUndefined();
  });

  it('allow cross-origin requests of browsers', async () => {
    const preflight = await service.send('/v1/graphql', {
      method: 'OPTIONS',
      headers: { origin: 'http://app.example', 'access-control-request-headers': 'x-svc-role' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('http://app.example');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-svc-role');
    const answer = await post('/v1/graphql', query('{ __typename }'), { ...admin, origin: 'http://app.example' });
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
  });

  it('show health and version without credentials', async () => {
    expect(await service.send('/healthz')).toMatchObject({ status: 200, text: 'OK' });
    expect((await service.send('/v1/version')).json).toMatchObject({ server_type: 'ce' });
  });

  it.each(['/healthz', '/svc/healthz', '/v1/version', '/healthz/sources', '/v1alpha1/config', '/api/swagger/json'])(
    'to HEAD %s have the headers of GET without the body',
    async (path) => {
      for (const headers of [{}, admin]) {
        const [get, head] = [await service.send(path, { headers }), await service.send(path, { method: 'HEAD', headers })];
        expect(head).toMatchObject({ status: get.status, text: '' });
        for (const name of ['content-type', 'content-length', 'content-encoding'])
          expect(head.headers.get(name)).toBe(get.headers.get(name));
      }
      const [logged] = service.observations.filter((each) => each.kind === 'http' && each.method === 'HEAD' && each.url === path);
      // Successful probes are not logged.
      if (path.endsWith('/healthz')) expect(logged).toBeUndefined();
      else expect(logged).toMatchObject({ responseSize: 0 });
    },
  );

  it('to HEAD run no operation', async () => {
    const path = `/v1/graphql?query=${encodeURIComponent('mutation { delete_item(where: {}) { affected_rows } }')}`;
    expect(await service.send(path, { method: 'HEAD', headers: admin })).toMatchObject({ status: 404 });
  });
});

describe('documents', () => {
  it.each([
    ['syntax', '{ item { ', '$.query', 'not a valid graphql query'],
    ['unknown field', '{ item { nam } }', '$.selectionSet.item.selectionSet.nam', "field 'nam' not found in type: 'item'"],
    ['unknown argument', '{ item(first: 1) { id } }', '$.selectionSet.item', "'item' has no argument named 'first'"],
    [
      'unknown operator',
      '{ item(where: {id: {_is: 1}}) { id } }',
      '$.selectionSet.item.args.where.id._is',
      "field '_is' not found in type: 'Int_comparison_exp'",
    ],
    ['no selection', '{ item }', '$.selectionSet.item', "missing selection set for 'item'"],
    ['negative limit', '{ item(limit: -1) { id } }', '$.selectionSet.item.args.limit', 'expected a non-negative 32-bit integer'],
    ['unknown mutation', 'mutation { nothing }', '$', ''],
    ['subscription over HTTP', 'subscription { item { id } }', '$', 'subscriptions are not supported over HTTP'],
  ])('are rejected with a GraphQL error: %s', async (_what, text, path, message) => {
    const { errors } = (await service.graphql(text)) as unknown as { errors: { message: string; extensions: { path: string } }[] };
    expect(errors[0]?.message).toContain(message);
    if (path !== '$') expect(errors[0]?.extensions.path).toBe(path);
  });

  it('with a syntax error are rejected with its position', async () => {
    expect(await service.graphql('query {\n  item { id ) }\n}')).toEqual({
      errors: [
        {
          message: 'not a valid graphql query',
          locations: [{ line: 2, column: 13 }],
          extensions: { path: '$.query', code: 'validation-failed', suggestions: ['Expected Name, found ")".'] },
        },
      ],
    });
  });

  it('report an unknown key if there is no query, and ignore it otherwise', async () => {
    expect(JSON.parse((await post('/v1/graphql', '{"tabel": "x"}')).text)).toMatchObject({
      errors: [{ message: expect.stringContaining('the key \'query\' was not present; unknown key "tabel"') }],
    });
    expect(JSON.parse((await post('/v1/graphql', '{"qeury": "{ item { id } }"}')).text)).toMatchObject({
      errors: [{ message: expect.stringContaining('did you mean "query"?') }],
    });
    const answer = await post('/v1/graphql', JSON.stringify({ query: '{ item(limit: 1) { id } }', clientId: 'x', id: '1' }));
    expect(JSON.parse(answer.text)).toEqual({ data: { item: [{ id: 1 }] } });
  });

  it('with a value out of range are rejected with its position', async () => {
    const answer = await service.graphql('query ($id: Int!) { item_by_pk(id: $id) { id } }', { variables: { id: 3e9 } });
    expect(answer).toMatchObject({ errors: [{ extensions: { path: '$.selectionSet.item_by_pk.args.id', code: 'parse-failed' } }] });
  });

  it('have all roots answered in the order of the request', async () => {
    const answer = await post(
      '/v1/graphql',
      query('{ b: item(limit: 1) { id } __typename a: item_by_pk(id: 2) { id } none: item_by_pk(id: -1) { id } }'),
    );
    expect(answer.text.replaceAll(/\s/g, '')).toBe('{"data":{"b":[{"id":1}],"__typename":"query_root","a":{"id":2},"none":null}}');
  });
});

it('of a client that disconnects midway do not disturb the service', async () => {
  const { port, hostname } = new URL(service.url);
  await new Promise<void>((resolve) => {
    const socket = createConnection(Number(port), hostname, () => {
      socket.write(`POST /v1/graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"query"`);
      setTimeout(() => {
        socket.destroy();
        resolve();
      }, 50);
    });
  });
  expect(await service.graphql('{ item_by_pk(id: 1) { id } }')).toEqual({ data: { item_by_pk: { id: 1 } } });
});
