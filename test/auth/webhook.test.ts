/** Webhook mode over HTTP: the service between a client and a scripted webhook. */
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WebhookObservation } from '../../src/observability/observation.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { sample } from '../support/deep.ts';
import { type FakeResponse, type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const SECRET = 'open sesame';
const QUERY = '{ note { id } }';
const BODY = JSON.stringify({ query: QUERY });

let hook: FakeServer;
let collector: Collector;
let byGet: TestService;
let byPost: TestService;

async function prepared(
  options: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const service = await startTestService(
    {
      ADMIN_SECRET: SECRET,
      AUTH_HOOK: `${hook.url}/hook?key=planted`,
      CORS_DOMAIN: 'http://app.example',
      ...options,
    },
    environment,
  );
  await service.sql("create table note (id int primary key, owner text); insert into note values (1, 'ann'), (2, 'bob')");
  await service.metadata('pg_track_table', { table: 'note' });
  await service.metadata('pg_create_select_permission', {
    table: 'note',
    role: 'user',
    permission: { columns: ['id'], filter: { owner: 'X-Svc-User-Id' } },
  });
  return service;
}

beforeAll(async () => {
  hook = await startFakeServer();
  collector = await startCollector();
  [byGet, byPost] = await Promise.all([
    prepared({}),
    prepared({ AUTH_HOOK_MODE: 'POST' }, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '10' }),
  ]);
});
afterAll(async () => {
  await Promise.all([byGet.stop(), byPost.stop()]);
  await Promise.all([hook.close(), collector.close()]);
});
const ann = { 'X-Svc-Role': 'user', 'X-Svc-User-Id': 'ann' };
beforeEach(() => {
  hook.answer = () => ({ body: ann });
  hook.requests.length = 0;
});

const ask = (service: TestService, headers: Record<string, string> = {}, body = BODY, path = '/v1/graphql'): Promise<Answer> =>
  service.send(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
const lastLog = (service: TestService): WebhookObservation | undefined =>
  service.observations.findLast((o): o is WebhookObservation => o.kind === 'webhook');
const asked = (): Record<string, unknown> => JSON.parse(hook.requests.at(-1)?.body ?? '') as Record<string, unknown>;

describe('the authentication call', () => {
  it('is not made when an admin secret is sent, valid or not', async () => {
    expect((await ask(byGet, { 'x-svc-admin-secret': SECRET })).json).toEqual({ data: { note: [{ id: 1 }, { id: 2 }] } });
    expect((await ask(byGet, { 'x-svc-admin-secret': 'wrong' })).json).toMatchObject({
      errors: [{ extensions: { code: 'access-denied' } }],
    });
    expect((await ask(byGet, { 'x-svc-access-key': '' }, BODY, '/v1/metadata')).status).toBe(401);
    expect(hook.requests).toHaveLength(0);
  });

  it("by GET has the client's headers, except those about its own request", async () => {
    await new Promise<void>((resolve, reject) => {
      const headers = {
        Cookie: 'a=1; b=2',
        Authorization: 'Bearer abc',
        'X-Svc-Role': 'admin',
        'X-Twice': ['one', 'two'],
        'Content-Type': 'application/json',
        'Content-MD5': 'x',
        'User-Agent': 'client',
        Origin: 'http://app.example',
        Referer: 'http://app.example/page',
        Accept: 'text/html',
        'Accept-Encoding': 'gzip',
        'Accept-Language': 'de',
        'Accept-Datetime': 'x',
        'Cache-Control': 'no-cache',
        Connection: 'close, X-Added-By-Proxy',
        'X-Added-By-Proxy': 'kept',
        DNT: '1',
        TE: 'trailers',
        'Transfer-Encoding': 'chunked',
      };
      const out = httpRequest(`${byGet.url}/v1/graphql`, { method: 'POST', headers }, (answer) => {
        answer.resume();
        answer.on('end', resolve);
      });
      out.on('error', reject);
      out.end(BODY);
    });
    const [call] = hook.requests;
    expect(call).toMatchObject({ method: 'GET', path: '/hook?key=planted', body: '' });
    expect(call?.headers).toEqual({
      cookie: 'a=1; b=2',
      authorization: 'Bearer abc',
      'x-svc-role': 'admin',
      'x-twice': 'one, two',
      'x-added-by-proxy': 'kept',
      te: 'trailers',
      host: new URL(hook.url).host,
      connection: 'keep-alive',
      'user-agent': 'svc-graphql',
    });
  });

  it('by POST has all headers and the request in its body', async () => {
    const sent = { query: QUERY, operationName: null, variables: { big: 1 }, extensions: {} };
    await ask(byPost, { Authorization: 'Bearer abc', Origin: 'http://app.example' }, JSON.stringify(sent));
    expect(hook.requests[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
    const { headers, request } = asked();
    expect(headers).toMatchObject({ host: new URL(byPost.url).host, Authorization: 'Bearer abc', Origin: 'http://app.example' });
    expect(request).toEqual({ query: QUERY, operationName: null, variables: { big: 1 } });
    await new Promise<void>((resolve, reject) => {
      const out = httpRequest(`${byPost.url}/healthz/sources`, { headers: { 'X-MyToken': 'Abc' } }, (answer) => {
        answer.resume();
        answer.on('end', resolve);
      });
      out.on('error', reject);
      out.end();
    });
    expect(asked()).toMatchObject({ headers: { 'X-MyToken': 'Abc' }, request: null });
  });

  it('preserves omitted parts and numbers of the request, for batches and GET too', async () => {
    await ask(byPost, {}, `{"query":"${QUERY}","variables":{"n":12345678901234567890.10}}`);
    expect(hook.requests[0]?.body).toMatch(/"request":\{"query":"\{ note \{ id \} \}","variables":\{"n":12345678901234567890\.10\}\}\}$/);
    await ask(byPost, {}, `[${BODY},${BODY}]`);
    expect(asked()['request']).toEqual([{ query: QUERY }, { query: QUERY }]);
    await byPost.send(`/v1/graphql?query=${encodeURIComponent(QUERY)}&variables=${encodeURIComponent('{"a":1}')}`);
    expect(asked()['request']).toEqual({ query: QUERY, variables: { a: 1 } });
  });

  it('precedes the rejection of an invalid request, and a denial has priority', async () => {
    const unreadable = await ask(byPost, {}, '{"query": ');
    expect(unreadable.json).toMatchObject({ errors: [{ extensions: { code: 'invalid-json' } }] });
    expect(asked()['request']).toBeNull();
    hook.answer = () => ({ status: 401 });
    expect((await ask(byPost, {}, '{"query": ')).json).toMatchObject({ errors: [{ extensions: { code: 'access-denied' } }] });
    expect((await ask(byPost, {}, '"text"')).json).toMatchObject({ errors: [{ extensions: { code: 'access-denied' } }] });
    expect(asked()['request']).toBeNull();
  });

  it('omits the request if configured', async () => {
    const without = await prepared({ AUTH_HOOK_MODE: 'POST', AUTH_HOOK_SEND_REQUEST_BODY: 'false' });
    try {
      hook.requests.length = 0;
      expect((await ask(without)).json).toEqual({ data: { note: [{ id: 1 }] } });
      expect(Object.keys(asked())).toEqual(['headers']);
    } finally {
      await without.stop();
    }
  });
});

describe.each([
  ['GET', () => byGet],
  ['POST', () => byPost],
] as const)('the webhook response to a %s', (_method, service) => {
  it("creates a session with status 200, whatever the client's own headers", async () => {
    const answer = await ask(service(), {
      'x-svc-role': 'admin',
      'x-svc-user-id': 'bob',
      'x-svc-use-backend-only-permissions': 'nonsense',
    });
    expect(answer.json).toEqual({ data: { note: [{ id: 1 }] } });
    hook.answer = () => ({ body: { 'x-svc-role': 'user', 'x-svc-USER-id': 'bob', other: 'text' } });
    expect((await ask(service())).json).toEqual({ data: { note: [{ id: 2 }] } });
  });

  it('can create an administrator with status 200', async () => {
    hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' } });
    expect((await ask(service(), {}, '{"type":"export_metadata","args":{}}', '/v1/metadata')).status).toBe(200);
    expect((await service().send('/v1alpha1/config')).status).toBe(200);
    hook.answer = () => ({ body: ann });
    const refused = await ask(service(), {}, '{"type":"export_metadata","args":{}}', '/v1/metadata');
    expect(refused).toMatchObject({
      status: 400,
      json: {
        path: '$.args',
        error: 'restricted access : admin only',
        code: 'access-denied',
        suggestions: ['Send the admin secret of the service as X-Svc-Admin-Secret.'],
      },
    });
  });

  it('denies access with status 401', async () => {
    hook.answer = () => ({ status: 401, body: ann });
    const error = 'Authentication hook unauthorized this request';
    const answer = await ask(service());
    expect(answer.status).toBe(200);
    const suggestions = ['Send credentials that the webhook accepts, or X-Svc-Admin-Secret.'];
    expect(answer.json).toEqual({ errors: [{ message: error, extensions: { path: '$', code: 'access-denied', suggestions } }] });
    const other = await ask(service(), {}, '{}', '/v2/query');
    expect(other).toMatchObject({ status: 401, json: { path: '$', error, code: 'access-denied' } });
    expect((await ask(service(), {}, BODY, '/v1alpha1/graphql')).status).toBe(401);
  });

  it.each(
    sample<[string, FakeResponse]>(
      [
        ['403', { status: 403, body: ann }],
        ['500', { status: 500, body: ann }],
        ['204', { status: 204 }],
        ['201', { status: 201, body: ann }],
        ['302 to another host', { status: 302, headers: { location: 'http://localhost:1/' }, body: ann }],
        ['no JSON', { body: 'yes' }],
        ['nothing', { body: '' }],
        ['a list', { body: [ann] }],
        ['a number among the values', { body: { ...ann, 'X-Svc-Level': 1 } }],
        ['null among the values', { body: { ...ann, other: null } }],
        ['two roles', { body: '{"X-Svc-Role":"user","x-svc-role":"admin"}' }],
        ['one role twice', { body: '{"X-Svc-Role":"user","X-Svc-Role":"admin"}' }],
        ['a value that no database can hold', { body: { ...ann, 'X-Svc-User-Id': 'a\0b' } }],
        ['an oversized body', { body: { ...ann, other: 'x'.repeat(1_100_000) } }],
      ],
      3,
    ),
  )('causes a service error on every endpoint: %s', async (_what, reply) => {
    hook.answer = () => reply;
    const graphql = await ask(service());
    expect(graphql.status).toBe(500);
    expect(graphql.json).toMatchObject({ errors: [{ extensions: { path: '$', code: 'unexpected' } }] });
    for (const path of ['/v1alpha1/graphql', '/v1/metadata', '/v1/query', '/v2/query']) {
      const answer = await ask(service(), {}, '{}', path);
      expect(answer.status).toBe(500);
      expect(answer.text).toMatch(/Invalid response from authorization hook|webhook authentication request failed/);
    }
    for (const path of ['/v1alpha1/config', '/healthz/sources']) expect((await service().send(path)).status).toBe(500);
  });

  it.each([{}, { 'X-Svc-User-Id': 'ann' }, { 'X-Svc-Role': '' }])('is rejected with status 200 without a role: %j', async (body) => {
    hook.answer = () => ({ body });
    expect((await ask(service(), { 'x-svc-role': 'admin' })).json).toEqual({
      errors: [{ message: '"x-svc-role" not found in session variables', extensions: { path: '$', code: 'invalid-params' } }],
    });
  });

  it('forwards its cookies to the client, even if the request fails later', async () => {
    hook.answer = () => ({ body: ann, headers: { 'set-cookie': ['a=1; Path=/; HttpOnly', 'b=2'] } });
    for (const body of [BODY, '{ nonsense']) {
      expect((await ask(service(), {}, body)).headers.getSetCookie()).toEqual(['a=1; Path=/; HttpOnly', 'b=2']);
    }
    hook.answer = () => ({ body: ann });
    expect((await ask(service())).headers.getSetCookie()).toEqual([]);
  });

  it('does not set session variables with names of secrets', async () => {
    hook.answer = () => ({ body: { ...ann, 'X-Svc-Admin-Secret': 'planted', 'X-Svc-Access-Key': 'planted' } });
    expect((await ask(service())).json).toEqual({ data: { note: [{ id: 1 }] } });
    expect(JSON.stringify(service().observations.map((o) => (o.kind === 'http' ? [...(o.userVariables ?? [])] : o)))).not.toContain(
      'planted',
    );
  });
});

it('appears in traces without its path', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  await ask(byPost, { traceparent: `00-${trace}-b7ad6b7169203331-01` });
  const call = await vi.waitFor(() => {
    const found = collector.spans.find(({ traceId, attributes }) => traceId === trace && attributes['svc.call'] === 'auth');
    expect(found).toBeDefined();
    return found;
  }, WAIT);
  expect(call?.attributes['url.full']).toBe(`${hook.url}/***`);
});

describe('the log of webhook authentication', () => {
  it('has the status and no secret', async () => {
    await ask(byGet);
    expect(lastLog(byGet)).toEqual({
      kind: 'webhook',
      url: `${hook.url}/hook?***`,
      method: 'GET',
      status: 200,
      error: null,
      message: null,
    });
    hook.answer = () => ({ status: 503, body: 'planted' });
    await ask(byPost);
    expect(lastLog(byPost)).toMatchObject({ method: 'POST', status: 503, message: 'expected the status 200 or 401, but got 503' });
    hook.answer = () => ({ body: { ...ann, 'Cache-Control': 'planted', Expires: 'planted' } });
    expect((await ask(byGet)).json).toEqual({ data: { note: [{ id: 1 }] } });
    expect(lastLog(byGet)).toMatchObject({ status: 200, message: 'ignored malformed keys: Cache-Control, Expires' });
    for (const { observations } of [byGet, byPost]) expect(JSON.stringify(observations)).not.toContain('planted');
  });
});

describe('an unreachable webhook', () => {
  let away: TestService;
  let gone: FakeServer;
  beforeAll(async () => {
    gone = await startFakeServer();
    away = await startTestService({ ADMIN_SECRET: SECRET, AUTH_HOOK: gone.url.replace('//', '//user:planted@') });
    await gone.close();
  });
  afterAll(() => away.stop());

  it('causes a service error without details', async () => {
    const answer = await ask(away);
    expect(answer.status).toBe(500);
    expect(answer.json).toEqual({
      errors: [{ message: 'webhook authentication request failed', extensions: { path: '$', code: 'unexpected' } }],
    });
    const admin = await ask(away, { 'x-svc-admin-secret': SECRET }, '{"query":"{ __typename }"}');
    expect(admin.json).toEqual({ data: { __typename: 'query_root' } });
    expect(lastLog(away)).toMatchObject({ status: null, error: expect.stringContaining('ECONNREFUSED'), url: `${gone.url}/` });
    expect(JSON.stringify(away.observations)).not.toContain('planted');
  });
});

describe('a client that disconnects', () => {
  afterEach(() => {
    hook.answer = () => ({ body: ann });
  });
  it('aborts its webhook call', async () => {
    hook.answer = () => null;
    const controller = new AbortController();
    const asking = byGet.send('/v1/graphql', { method: 'POST', body: BODY, signal: controller.signal }).catch(() => null);
    while (hook.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    await asking;
    await expect.poll(() => lastLog(byGet), WAIT).toMatchObject({ status: null, error: expect.stringContaining('cancelled') });
  });
});

it('does not call private addresses in strict mode', async () => {
  const strict = await startTestService({ ADMIN_SECRET: SECRET, AUTH_HOOK: hook.url, REFUSE_PRIVATE_ADDRESSES: 'true' });
  try {
    expect((await ask(strict)).status).toBe(500);
    expect(lastLog(strict)).toMatchObject({ error: 'Blocked connection to private IP address' });
    expect(hook.requests).toHaveLength(0);
  } finally {
    await strict.stop();
  }
});
