/** HTTP caching of documents over GET: who may keep an answer, for how long, and under which key. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLIENTS,
  DOCUMENTS,
  expectedAnswers,
  type ExpectedAnswer,
  type Name,
  randoms,
  SECRET,
  sha256,
  startCachedDocuments,
  urlOf,
} from '../support/cached-documents.ts';
import { cases, SEED } from '../support/deep.ts';
import { type CacheRequest, type CacheResponse, HttpCacheModel } from '../support/http-cache-model.ts';
import { startHandlerServer } from '../support/handler-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startCachedDocuments();
});
afterAll(() => service.stop());

function get(name: Name, client: Readonly<Record<string, string>> = {}, more: Record<string, string> = {}): Promise<Answer> {
  return service.send(urlOf(name), { headers: { ...client, ...more } });
}

const control = ({ headers }: Answer): string | null => headers.get('cache-control');
const varying = ({ headers }: Answer): readonly string[] => (headers.get('vary') ?? '').toLowerCase().split(', ');

describe('an answer to a GET of a document', () => {
  it('may be kept by all caches if it does not depend on the client', async () => {
    const answer = await get('notes');
    expect(answer.json).toEqual({
      data: {
        note: [
          { id: 1, text: 'of a' },
          { id: 3, text: 'open of b' },
        ],
      },
    });
    expect(control(answer)).toMatch(/^public, max-age=(300|29\d)$/);
    expect(varying(answer)).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'cookie',
      'x-svc-admin-secret',
      'x-svc-access-key',
      'x-svc-role',
      'origin',
    ]);
    expect(answer.headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/);
    const keys = (answer.headers.get('surrogate-key') ?? '').split(' ');
    expect(keys).toEqual(['svc', `d-${sha256(DOCUMENTS.notes).slice(0, 16)}`, expect.stringMatching(/^t-[0-9a-f]{16}$/)]);
    expect(answer.headers.get('cache-tag')).toBe(keys.join(','));
    expect(control(await get('notes', CLIENTS['anonymous with a role']))).toContain('public');
  });

  it('is kept by the cache of its client if that sends credentials', async () => {
    for (const client of ['user a', 'user a as editor']) {
      expect(control(await get('notes', CLIENTS[client]))).toMatch(/^private, max-age=(300|29\d)$/);
    }
    expect(control(await get('notes', CLIENTS['user a by cookie']))).toBe('private, no-cache');
  });

  it('is asked for again each time if a gateway sends the admin secret for its users', async () => {
    const gateway = (request: CacheRequest, user: string): Promise<CacheResponse> =>
      origin({ ...request, headers: { ...request.headers, 'x-svc-admin-secret': SECRET, 'x-svc-role': 'user', 'x-svc-user-id': user } });
    let signedIn = 'a';
    const browser = new HttpCacheModel(false, (request) => gateway(request, signedIn));
    const request = { url: urlOf('notes'), headers: { accept: 'application/json' } };
    expect((await browser.fetch(request)).body).toContain('of a');
    signedIn = 'b';
    expect((await browser.fetch(request)).body).not.toContain('of a');
    expect(control(await get('notes', CLIENTS['a trusted user']))).toBe('private, no-cache');
  });

  it('is kept by no cache if the request is refused before it is read', async () => {
    const page = await get('notes', CLIENTS['user a by cookie'], { origin: 'https://other.example' });
    const encoding = await service.send('/v1/graphql?documentId=%ff');
    expect([page.status, control(page), encoding.status, control(encoding)]).toEqual([403, 'no-store', 400, 'no-store']);
  });

  it('has no id of the request that it was made for if others may get it', async () => {
    const named = { 'x-request-id': 'of-one-client' };
    expect((await get('notes', {}, named)).headers.get('x-request-id')).toBeNull();
    expect((await get('notes', CLIENTS['user a'], named)).headers.get('x-request-id')).toBe('of-one-client');
  });

  it.each([
    ['for session variables of a request without credentials', 'drafts', 'anonymous with a variable'],
    ['for administrators', 'notes', 'an administrator'],
    ['without @cached', 'uncached', 'anonymous'],
    ['with refresh', 'again', 'anonymous'],
    ['without a time to live', 'never', 'anonymous'],
    ['for an error', 'failing', 'anonymous'],
    ['for introspection', 'introspecting', 'anonymous'],
  ] as const)('is kept by no cache %s', async (_what, name, client) => {
    const answer = await get(name, CLIENTS[client]);
    expect([control(answer), answer.headers.get('etag'), answer.headers.get('surrogate-key')]).toEqual(['no-store', null, null]);
  });

  it('is kept for the time of its own document, whatever another one with the same answer says', async () => {
    await get('longer');
    const left = Number(/^public, max-age=(\d+)$/.exec(control(await get('shorter')) ?? '')?.[1]);
    expect(left).toBeLessThanOrEqual(100);
    expect(left).toBeGreaterThan(50);
  });

  it('is kept by no cache if the request has the text', async () => {
    const answer = await service.send(`/v1/graphql?query=${encodeURIComponent(DOCUMENTS.notes)}`);
    expect([control(answer), answer.headers.get('etag')]).toEqual(['no-store', null]);
  });

  it('can be read by the pages of CORS, also with credentials, which a signed-out page may send', async () => {
    for (const client of [{}, CLIENTS['user a']]) {
      const answer = await get('notes', client, { origin: 'https://app.example' });
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
      expect(varying(answer)).toContain('origin');
    }
    const other = await get('notes', {}, { origin: 'https://other.example' });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    expect(varying(other)).toContain('origin');
  });

  it('is 304 without a body if the client has it', async () => {
    const first = await get('notes');
    const tag = first.headers.get('etag') ?? '';
    for (const header of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const again = await get('notes', {}, { 'if-none-match': header });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
      for (const name of ['vary', 'surrogate-key', 'cache-tag']) expect(again.headers.get(name)).toBe(first.headers.get(name));
      expect(control(again)).toContain('public, max-age=');
    }
    expect((await get('notes', {}, { 'if-none-match': '"other"' })).status).toBe(200);
    // Another session has another answer.
    expect((await get('notes', CLIENTS['user a'], { 'if-none-match': tag })).status).toBe(200);
    const asText = await service.send(`/v1/graphql?query=${encodeURIComponent(DOCUMENTS.notes)}`, { headers: { 'if-none-match': tag } });
    expect(asText.status).toBe(200);
  });
});

it('varies by no header that the service does not read', async () => {
  const other = await startTestService({ ADMIN_SECRET: SECRET, UNAUTHORIZED_ROLE: 'anonymous' });
  await other.sql('create table note (id int primary key)');
  await other.metadata('pg_track_table', { table: 'note' });
  await other.metadata('pg_create_select_permission', { table: 'note', role: 'anonymous', permission: { columns: '*', filter: {} } });
  await other.metadata('push_documents', { collection: 'web', documents: [{ id: 'notes', query: 'query @cached { note { id } }' }] });
  const answer = await other.send('/v1/graphql?documentId=notes', { headers: { cookie: 'theme=dark' } });
  expect(control(answer)).toContain('public');
  expect(varying(answer)).not.toContain('cookie');
  expect(varying(answer)).not.toContain('authorization');
  await other.stop();
});

it('is kept by no cache if a webhook authenticates, or without an admin secret', async () => {
  const hook = await startHandlerServer();
  hook.answer = () => ({ body: { 'x-svc-role': 'anonymous' } });
  const query = 'query @cached { note { id } }';
  const modes: readonly Record<string, string>[] = [{ ADMIN_SECRET: SECRET, AUTH_HOOK: hook.url }, {}];
  for (const options of modes) {
    const other = await startTestService(options);
    await other.sql('create table note (id int primary key)');
    await other.metadata('pg_track_table', { table: 'note' });
    await other.metadata('pg_create_select_permission', { table: 'note', role: 'anonymous', permission: { columns: '*', filter: {} } });
    await other.metadata('push_documents', { collection: 'web', documents: [{ id: 'notes', query }] });
    for (const headers of [{}, { 'x-svc-role': 'anonymous' }, { authorization: 'Bearer x' }]) {
      const answer = await other.send('/v1/graphql?documentId=notes', { headers: headers as Record<string, string> });
      expect([answer.status, control(answer), answer.headers.get('etag')]).toEqual([200, 'no-store', null]);
    }
    await other.stop();
  }
  await hook.close();
});

describe('clearing by table', () => {
  const clear = (parameters: string): Promise<Answer> =>
    service.send(`/v1/cache/clear?${parameters}`, { method: 'POST', headers: { 'x-svc-admin-secret': SECRET } });

  it('drops the answers that were read from it, and returns its key', async () => {
    await clear('');
    const key = (await get('notes')).headers.get('surrogate-key')?.split(' ')[2];
    await get('clock');
    expect((await clear('table=default.public.draft')).json).toMatchObject({ clearedItemCount: 0 });
    expect((await clear('table=default.public.note&table=default.public.draft')).json).toMatchObject({
      clearedItemCount: 1,
      purge: { keys: [key, expect.stringMatching(/^t-/)] },
    });
    for (const table of ['note', 'public.note', 'other.public.note', 'default.note', 'default..note'])
      expect((await clear(`table=${table}`)).json).toMatchObject({ code: 'bad-request' });
    expect((await clear('tables=x')).status).toBe(400);
    expect((await clear('table=x&'.repeat(21))).status).toBe(400);
  });
});

/** The service as the origin of a cache. */
async function origin({ url, headers }: CacheRequest): Promise<CacheResponse> {
  const { status, headers: received, text } = await service.send(url, { headers: { ...headers } });
  return { status, headers: Object.fromEntries(received), body: text };
}

describe('behind caches', () => {
  it('no client gets the answer of another one', async () => {
    const requests = await expectedAnswers(service);
    const shared = new HttpCacheModel(true, origin);
    const browsers = Array.from({ length: 3 }, () => new HttpCacheModel(false, (request) => shared.fetch(request)));
    const random = randoms(SEED);
    for (let i = 0; i < cases(50_000, 800); i++) {
      const { client, url, expected } = requests[random(requests.length)] as ExpectedAnswer;
      const browser = browsers[random(browsers.length)] as HttpCacheModel;
      const accept = random(4) === 0 ? 'application/graphql-response+json' : 'application/json';
      const page: Record<string, string> = random(4) === 0 ? { origin: 'https://app.example' } : {};
      const headers = { accept, 'accept-encoding': random(2) === 0 ? 'gzip' : 'identity', ...page, ...CLIENTS[client] };
      const answer = await browser.fetch({ url, headers });
      expect([client, url, answer.body]).toEqual([client, url, expected]);
    }
    // The caches were of use: many answers came from them.
    expect(shared.hits).toBeGreaterThan(20);
    expect(browsers.reduce((sum, { hits }) => sum + hits, 0)).toBeGreaterThan(20);
    expect(browsers.reduce((sum, { notModified }) => sum + notModified, 0)).toBeGreaterThan(0);
  });

  it('no answer is older than its time to live', async () => {
    const shared = new HttpCacheModel(true, origin);
    const browser = new HttpCacheModel(false, (request) => shared.fetch(request));
    // An answer of an earlier test has no time.
    await service.send('/v1/cache/clear', { method: 'POST', headers: { 'x-svc-admin-secret': SECRET } });
    const until = Date.now() + cases(20_000, 6000);
    let [oldest, longestRound] = [0, 0];
    while (Date.now() < until) {
      const began = Date.now();
      await service.sql(`update clock set at = ${began}`);
      for (const cache of [shared, browser]) {
        const { body } = await cache.fetch({ url: urlOf('clock'), headers: { accept: 'application/json' } });
        const at = (JSON.parse(body) as { data: { clock: [{ at: number }] } }).data.clock[0].at;
        oldest = Math.max(oldest, began - at);
      }
      longestRound = Math.max(longestRound, Date.now() - began);
      await sleep(20);
    }
    // An answer is made up to a round after the write that it has.
    expect(oldest).toBeLessThan(2000 + 2 * longestRound + 100);
    expect(shared.hits).toBeGreaterThan(0);
  });

  it('an unknown document is found as soon as it is there', async () => {
    const shared = new HttpCacheModel(true, origin);
    const query = 'query Late @cached { note { id } }';
    const request = { url: `/v1/graphql?documentId=sha256:${sha256(query)}`, headers: { accept: 'application/graphql-response+json' } };
    expect((await shared.fetch(request)).status).toBe(404);
    await service.metadata('add_query_to_collection', { collection_name: 'web', query_name: 'late', query });
    expect((await shared.fetch(request)).status).toBe(200);
  });
});
