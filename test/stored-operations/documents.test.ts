/** Documents that are sent by id: over HTTP, in batches, on sockets and event streams, with and without an allow-list. */
import { createHash } from 'node:crypto';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { addTypenameToDocument } from '@apollo/client/utilities';
import { print } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GRAPHQL_ENDPOINTS } from '../../src/server/routes/graphql-endpoints.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { LEGACY, MODERN, TestSocket } from '../support/websocket.ts';

const SECRET = 'open sesame';
const RESPONSE_TYPE = 'application/graphql-response+json';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const BY_ID = 'query ($id: Int!) {\n  author_by_pk(id: $id) {\n    name\n  }\n}\n';
const MANY = 'query a { author { id } } query b { author { name } }';
const LIVE = 'subscription { author { id } }';
const HIDDEN = '{ author_aggregate { aggregate { count } } }';
const REMOVE = 'mutation { delete_author(where: {}) { affected_rows } }';

/** A service with the same collections: `web` is listed for `user`, `other` is not listed. */
async function serviceWith(options: Record<string, string>): Promise<TestService> {
  const service = await startTestService({ ADMIN_SECRET: SECRET, UNAUTHORIZED_ROLE: 'user', ...options });
  await service.sql("create table author (id int primary key, name text, secret text); insert into author values (1, 'Ann', 'x')");
  await service.metadata('pg_track_table', { table: 'author' });
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'user',
    permission: { columns: ['id', 'name'], filter: {}, allow_aggregations: true },
  });
  const collect = (name: string, queries: Record<string, string>) =>
    service.metadata('create_query_collection', {
      name,
      definition: { queries: Object.entries(queries).map(([key, query]) => ({ name: key, query })) },
    });
  await collect('web', { '563d41d810a37c45c7e274e4ab427472': BY_ID, 'x-shop:author/1': '{ author { id } }', many: MANY, live: LIVE });
  await service.metadata('create_query_collection', {
    name: 'other',
    definition: {
      queries: [
        { name: 'count', query: HIDDEN },
        { name: 'many', query: BY_ID },
        { name: 'remove', query: REMOVE },
      ],
    },
  });
  await service.metadata('add_collection_to_allowlist', { collection: 'web', scope: { global: false, roles: ['user'] } });
  return service;
}

function post(service: TestService, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify(body) });
}

function get(service: TestService, parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
  return service.send(`/v1/graphql?${new URLSearchParams(parameters)}`, { headers });
}

const persisted = (sha256Hash: unknown, version: unknown = 1): JsonObject =>
  ({ extensions: { persistedQuery: { version, sha256Hash } } }) as JsonObject;
const failure = (message: string, code: string, path: string): JsonObject => ({ errors: [{ message, extensions: { path, code } }] });
const UNKNOWN = failure('unknown document', 'not-found', '$.documentId');
const ANN = '{"data":{"author_by_pk":{"name":"Ann"}}}';
const admin = { 'x-svc-admin-secret': SECRET };

let open: TestService;
let strict: TestService;
let registering: TestService;

beforeAll(async () => {
  [open, strict, registering] = await Promise.all([
    serviceWith({}),
    serviceWith({ DOCUMENTS_ONLY: 'true', ENABLE_APQ: 'true' }),
    serviceWith({ ENABLE_APQ: 'true' }),
  ]);
});
afterAll(async () => {
  await Promise.all([open.stop(), strict.stop(), registering.stop()]);
});

describe('a document', () => {
  it.each([
    ['documentId with the hash', { documentId: `sha256:${sha256(BY_ID)}` }],
    ['documentId with the bare hash', { documentId: sha256(BY_ID) }],
    ['documentId with the name', { documentId: '563d41d810a37c45c7e274e4ab427472' }],
    ['doc_id', { doc_id: '563d41d810a37c45c7e274e4ab427472' }],
    ['a persisted query with the hash', persisted(sha256(BY_ID))],
    ['a persisted query with the name', persisted('563d41d810a37c45c7e274e4ab427472')],
    ['an id and an empty text', { documentId: sha256(BY_ID), query: '' }],
    ['an id and the same text', { documentId: sha256(BY_ID), query: BY_ID }],
    ['two ids of the same text', { documentId: sha256(BY_ID), doc_id: '563d41d810a37c45c7e274e4ab427472' }],
  ])('runs by %s', async (_what, body) => {
    for (const service of [open, strict, registering]) {
      expect((await post(service, { ...body, variables: { id: 1 } })).text).toBe(ANN);
    }
  });

  it('runs by an id of an own scheme, and by one of its operations', async () => {
    // A slash is not part of the syntax of ids.
    expect((await post(open, { documentId: 'x-shop:author/1' })).status).toBe(400);
    expect((await post(strict, { documentId: `sha256:${sha256(MANY)}`, operationName: 'b' })).text).toBe(
      '{"data":{"author":[{"name":"Ann"}]}}',
    );
  });

  it('has the hash of the UTF-8 bytes of its text', () => {
    expect(sha256('{__typename}')).toBe('ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38');
    expect(sha256('query ($id: ID!) {\n  user(id: $id) {\n    name\n  }\n}')).toBe(
      '7dba4bd717b41f10434822356a93c32b1fb4907b983e854300ad839f84cdcd6e',
    );
  });

  it('is found over GET, and in each item of a batch', async () => {
    const byId = await get(open, { documentId: sha256(BY_ID), variables: '{"id":1}' }, { accept: 'text/html' });
    expect([byId.status, byId.text, byId.headers.get('cache-control')]).toEqual([200, ANN, 'no-store']);
    const extensions = JSON.stringify(persisted(sha256(BY_ID))['extensions']);
    expect((await get(strict, { extensions, variables: '{"id":1}' })).text).toBe(ANN);
    const batch = await post(open, [
      { doc_id: sha256(BY_ID), variables: { id: 1 } },
      { documentId: 'none' },
      { query: '{ author { id } }' },
    ]);
    expect(batch.json).toEqual([{ data: { author_by_pk: { name: 'Ann' } } }, UNKNOWN, { data: { author: [{ id: 1 }] } }]);
  });

  it('takes the first of two parameters, and is found under an encoded colon', async () => {
    const answer = await open.send(`/v1/graphql?documentId=sha256%3A${sha256(BY_ID)}&documentId=none&variables={"id":1}`);
    expect(answer.text).toBe(ANN);
  });

  it('is not found under a name that stands for two texts', async () => {
    expect((await post(open, { documentId: 'many' })).json).toEqual(UNKNOWN);
    // The other text is not in the list of the role.
    expect((await post(strict, { documentId: 'many', operationName: 'b' })).status).toBe(200);
  });

  it.each([MODERN, LEGACY])('runs on a socket with %s, and an unknown id ends its operation only', async (protocol) => {
    const socket = await new TestSocket(strict.url, { protocol }).opened();
    socket.send({ type: 'connection_init', payload: {} });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    const type = protocol === MODERN ? 'subscribe' : 'start';
    socket.send({ id: '1', type, payload: { documentId: 'none', query: '' } });
    const refused = await socket.next();
    expect([refused['type'], JSON.stringify(refused)]).toEqual(['error', expect.stringContaining('unknown document')]);
    // The older protocol ends a failed operation with a message of its own.
    if (protocol === LEGACY) await socket.next();
    socket.send({ id: '2', type, payload: { query: '{ author { id } }' } });
    expect(JSON.stringify(await socket.next())).toContain('only known documents are allowed: send documentId');
    if (protocol === LEGACY) await socket.next();
    socket.send({ id: '3', type, payload: { documentId: sha256(BY_ID), variables: { id: 1 } } });
    expect(JSON.stringify(await socket.next())).toContain(ANN.slice(1, -1));
    await socket.next();
    socket.send({ id: '4', type, payload: { doc_id: 'live' } });
    expect(JSON.stringify(await socket.next())).toContain('{"data":{"author":[{"id":1}]}}');
    socket.websocket.close();
  });

  it('runs as an event stream', async () => {
    const events = await get(strict, { documentId: sha256(BY_ID), variables: '{"id":1}' }, { accept: 'text/event-stream' });
    expect(events.text).toContain(`event: next\ndata: ${ANN}\n`);
    expect((await get(strict, { documentId: 'none' }, { accept: 'text/event-stream' })).text).toContain('unknown document');
  });
});

describe('an id', () => {
  it.each([
    ['of 257 characters', 'a'.repeat(257)],
    ['with a reserved prefix', 'md5:abc'],
    ['of a short hash', 'sha256:abc'],
    ['with upper-case digits', `sha256:${sha256(BY_ID).toUpperCase()}`],
    ['that is empty', ''],
    ['that is a number', 7],
    ['that is a list', [sha256(BY_ID)]],
  ])('%s is rejected', async (_what, documentId) => {
    const answer = await post(open, { documentId });
    expect([answer.status, answer.json]).toMatchObject([400, { errors: [{ extensions: { code: 'bad-request', path: '$.documentId' } }] }]);
  });

  it('of 256 characters is unknown, with the status that the client accepts', async () => {
    const body = { documentId: 'a'.repeat(256) };
    for (const [accept, status] of [
      ['application/json', 200],
      [RESPONSE_TYPE, 404],
    ] as const) {
      const answer = await post(open, body, { accept });
      expect([answer.status, answer.json]).toEqual([status, UNKNOWN]);
    }
    const byGet = await get(open, { documentId: 'none' }, { accept: RESPONSE_TYPE });
    expect([byGet.status, byGet.headers.get('cache-control')]).toEqual([404, 'no-store']);
  });

  it('with another text is rejected, as are ids of two texts', async () => {
    const conflict = failure('send query or documentId, not both', 'bad-request', '$.documentId');
    for (const body of [
      { documentId: sha256(BY_ID), query: '{ author { id } }' },
      { documentId: sha256(BY_ID), doc_id: sha256(MANY) },
    ]) {
      const answer = await post(open, body);
      expect([answer.status, answer.json]).toEqual([400, conflict]);
    }
  });

  it('of a document that is invalid for the role has the answer of an unknown one, which quotes nothing', async () => {
    const texts: Readonly<Record<string, string>> = {
      'hidden-field': '{ author { id secret } }',
      'hidden-argument': '{ author(where: {secret: {_eq: "x"}}) { id } }',
      'hidden-root': 'mutation Hidden { update_author(where: {id: {_eq: 9}}, _set: {name: "x"}) { affected_rows } }',
      'hidden-names': 'query HiddenA { author { secret } } query HiddenB { author { secret } }',
      'hidden-type': 'query ($where: author_hidden_bool_exp) { author(where: $where) { id } }',
    };
    for (const service of [open, strict, registering]) {
      const documents = Object.entries(texts).map(([id, query]) => ({ id, query }));
      await service.metadata('push_documents', { collection: 'web', documents, allow_inconsistent: true });
      const unknown = await post(service, { documentId: 'none' }, { accept: RESPONSE_TYPE });
      const unknownHash = (await post(service, persisted('none'))).text;
      const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
      socket.send({ type: 'connection_init', payload: {} });
      await socket.next();
      for (const [id, query] of Object.entries(texts)) {
        for (const body of [{ documentId: id }, { doc_id: id }, { documentId: sha256(query) }, { documentId: id, operationName: 'x' }]) {
          const answer = await post(service, body, { accept: RESPONSE_TYPE });
          expect([id, answer.status, answer.text]).toEqual([id, 404, unknown.text]);
        }
        for (const hash of [id, sha256(query)]) expect((await post(service, persisted(hash))).text).toBe(unknownHash);
        socket.send({ id, type: 'subscribe', payload: { documentId: id } });
        expect(await socket.next()).toEqual({ id, type: 'error', payload: (unknown.json as JsonObject)['errors'] });
        // Who sends the text knows it.
        if (service !== strict) expect((await post(service, { documentId: id, query })).text).toContain('validation-failed');
        expect((await post(service, { documentId: id }, admin)).text).not.toContain('unknown document');
        await service.metadata('drop_query_from_collection', { collection_name: 'web', query_name: id });
      }
      socket.websocket.close();
    }
  });

  it('of a mutation is refused over GET', async () => {
    const answer = await get(open, { documentId: 'remove' }, admin);
    expect([answer.status, answer.headers.get('allow'), answer.headers.get('cache-control')]).toEqual([405, 'POST', 'no-store']);
  });
});

describe('with --documents-only', () => {
  it('rejects texts unread, but those of administrators', async () => {
    const refused = failure('only known documents are allowed: send documentId', 'validation-failed', '$');
    for (const query of ['{ author { id } }', '{', BY_ID, '{ __schema { queryType { name } } }']) {
      expect((await post(strict, { query, variables: { id: 1 } })).json).toEqual(refused);
    }
    expect((await post(strict, { query: BY_ID }, { accept: RESPONSE_TYPE })).status).toBe(400);
    expect((await post(strict, { query: '{ author { id } }' }, admin)).json).toEqual({ data: { author: [{ id: 1 }] } });
  });

  it('returns the same bytes for documents of other roles as for unknown ones', async () => {
    const unknown = await post(strict, { documentId: 'a'.repeat(64) });
    for (const documentId of [sha256(HIDDEN), `sha256:${sha256(HIDDEN)}`, 'count']) {
      expect((await post(strict, { documentId })).text).toBe(unknown.text);
      expect((await post(strict, { documentId }, admin)).json).toEqual({ data: { author_aggregate: { aggregate: { count: 1 } } } });
    }
    const notInList = failure('the document is not in the list', 'PERSISTED_QUERY_NOT_IN_LIST', '$.extensions.persistedQuery');
    for (const hash of [sha256(HIDDEN), 'a'.repeat(64)]) expect((await post(strict, persisted(hash))).json).toEqual(notInList);
  });

  it('refuses unlisted texts and ids on every endpoint, in every way of sending them', async () => {
    const text = { query: '{ author { id } }' };
    const id = { documentId: sha256(HIDDEN) };
    const isRefused = (answer: string): boolean =>
      (answer.includes('only known documents are allowed') || answer.includes('unknown document')) && !answer.includes('"data"');
    for (const { path } of GRAPHQL_ENDPOINTS) {
      for (const body of [text, id]) {
        const found: string[] = [];
        for (const accept of ['application/json', 'text/event-stream']) {
          found.push((await strict.send(path, { method: 'POST', headers: { accept }, body: JSON.stringify(body) })).text);
          found.push((await strict.send(`${path}?${new URLSearchParams(body)}`, { headers: { accept } })).text);
        }
        found.push((await strict.send(path, { method: 'POST', body: JSON.stringify([body]) })).text);
        for (const protocol of [MODERN, LEGACY]) {
          const socket = await new TestSocket(strict.url, { protocol, path }).opened();
          socket.send({ type: 'connection_init', payload: {} });
          await socket.next();
          socket.send({ id: '1', type: protocol === MODERN ? 'subscribe' : 'start', payload: body });
          found.push(JSON.stringify(await socket.next()));
          socket.websocket.close();
        }
        expect(found.filter((answer) => !isRefused(answer))).toEqual([]);
      }
    }
    for (const path of ['/v1/query', '/v2/query']) {
      const rows = { type: path === '/v1/query' ? 'select' : 'pg_select', args: { table: 'author', columns: ['id'] } };
      const answer = await strict.send(path, { method: 'POST', body: JSON.stringify(rows) });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('access-denied')]);
    }
  });

  it('serves REST endpoints of listed collections only', async () => {
    for (const [name, collection] of [
      ['many', 'other'],
      ['x-live', 'web'],
    ] as const) {
      await strict.metadata('add_query_to_collection', {
        collection_name: collection,
        query_name: `rest-${name}`,
        query: `query R${collection} { author { ${collection}: id } }`,
      });
      await strict.metadata('create_rest_endpoint', {
        name,
        url: name,
        methods: ['GET'],
        definition: { query: { collection_name: collection, query_name: `rest-${name}` } },
      });
    }
    expect((await strict.send('/api/rest/x-live')).json).toEqual({ author: [{ web: 1 }] });
    expect((await strict.send('/api/rest/many')).json).toMatchObject({ error: 'query is not allowed' });
  });

  it('keeps no texts of clients', async () => {
    const query = '{ author(limit: 1) { id } }';
    expect((await post(strict, { query, ...persisted(sha256(query)) })).json).toMatchObject({
      errors: [{ message: 'only known documents are allowed: send documentId' }],
    });
    expect((await post(strict, persisted(sha256(query)))).json).toMatchObject({
      errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST' } }],
    });
  });

  it('finds a document as soon as it is listed, and not after', async () => {
    const query = '{ author { late: id } }';
    await strict.metadata('add_query_to_collection', { collection_name: 'web', query_name: 'late', query });
    expect((await post(strict, { documentId: 'late' })).json).toEqual({ data: { author: [{ late: 1 }] } });
    await strict.metadata('drop_query_from_collection', { collection_name: 'web', query_name: 'late' });
    expect((await post(strict, { documentId: 'late' })).json).toEqual(UNKNOWN);
  });
});

describe("Apollo's client", () => {
  const AUTHOR = gql`query Author($id: Int!) { author_by_pk(id: $id) { name } }`;
  const data = { author_by_pk: { name: 'Ann', __typename: 'author' } };

  /** The requests that a query makes, and its result. */
  async function queried(service: TestService, options: Record<string, unknown>): Promise<{ sent: string[]; data: unknown }> {
    const sent: string[] = [];
    const http = new HttpLink({
      uri: `${service.url}/v1/graphql`,
      fetch: (url, init) => {
        const request = init?.method === 'GET' ? String(url) : String(init?.body);
        sent.push(`${init?.method} ${/"query"|[?&]query=/.test(request) ? 'text' : 'hash'}`);
        return fetch(url, init);
      },
    });
    const link = new PersistedQueryLink({ sha256, ...options } as never).concat(http);
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const { data: result } = await client.query({ query: AUTHOR, variables: { id: 1 } });
    return { sent, data: result };
  }

  it('registers a text once if APQ is on, and sends texts if it is off', async () => {
    expect(await queried(registering, {})).toEqual({ sent: ['POST hash', 'POST text'], data });
    expect(await queried(registering, {})).toEqual({ sent: ['POST hash'], data });
    expect(await queried(registering, { useGETForHashedQueries: true })).toEqual({ sent: ['GET hash'], data });
    expect(await queried(open, {})).toEqual({ sent: ['POST hash', 'POST text'], data });
  });

  it('runs documents by the ids of a manifest, and is refused for unknown ones', async () => {
    const query = print(addTypenameToDocument(AUTHOR));
    await strict.metadata('push_documents', { collection: 'web', documents: [{ id: 'apollo-author', query }] });
    const generateHash = (): Promise<string> => Promise.resolve('apollo-author');
    expect(await queried(strict, { sha256: undefined, generateHash })).toEqual({ sent: ['POST hash'], data });
    await expect(queried(strict, { sha256: undefined, generateHash: () => Promise.resolve('none') })).rejects.toThrow('not in the list');
  });
});

describe('a persisted query', () => {
  const path = '$.extensions.persistedQuery';

  it('that is unknown makes clients send texts, with status 200', async () => {
    for (const accept of ['application/json', RESPONSE_TYPE]) {
      const answer = await post(open, persisted('a'.repeat(64)), { accept });
      expect([answer.status, answer.json]).toEqual([200, failure('PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED', path)]);
    }
    const byGet = await get(open, { extensions: JSON.stringify(persisted('b')['extensions']) });
    expect([byGet.status, byGet.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it('is registered with its text if APQ is on', async () => {
    const query = '{ author { registered: id } }';
    const hash = sha256(query);
    expect((await post(registering, persisted(hash), { accept: RESPONSE_TYPE })).json).toEqual(
      failure('PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND', path),
    );
    const data = { data: { author: [{ registered: 1 }] } };
    expect((await post(registering, { query, ...persisted(hash) })).json).toEqual(data);
    expect((await post(registering, persisted(hash))).json).toEqual(data);
    expect((await get(registering, { extensions: JSON.stringify(persisted(hash)['extensions']) })).json).toEqual(data);
    // It is no document of a collection.
    expect((await post(registering, { documentId: `sha256:${hash}` })).json).toEqual(UNKNOWN);
  });

  it('is not registered if its text is invalid, or not of its hash', async () => {
    const query = '{ author { nothing } }';
    await post(registering, { query, ...persisted(sha256(query)) });
    expect((await post(registering, persisted(sha256(query)))).json).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
    const other = await post(registering, { query: '{ author { id } }', ...persisted(sha256(query)) });
    expect([other.status, other.json]).toEqual([400, failure('provided sha does not match query', 'bad-request', path)]);
  });

  it('with a text of another hash is not supported if APQ is off', async () => {
    for (const service of [open, strict]) {
      const answer = await post(service, { query: '{ author { id } }', ...persisted('randomhash') });
      expect([answer.status, answer.json]).toEqual([200, failure('Automatic Persisted Queries is not enabled', 'not-supported', '$')]);
    }
  });

  it('of another version is rejected', async () => {
    const answer = await post(registering, persisted(sha256(BY_ID), 2));
    expect([answer.status, answer.json]).toEqual([400, failure('Unsupported persisted query version', 'bad-request', path)]);
  });
});
