import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeServer, startFakeServer } from '../../test/support/fake-server.ts';
import { SELF_SIGNED } from '../../test/support/self-signed.ts';
import { createOutboundClient, type OutboundClient, type OutboundOptions } from './client.ts';
import { OutboundError } from './outbound-error.ts';
import type { AllowlistedHost } from './tls-allowlist.ts';
import type { OutboundRequest } from './request.ts';

const clients: OutboundClient[] = [];
const servers: FakeServer[] = [];
let server: FakeServer;

async function played(tls?: { readonly key: string; readonly cert: string }): Promise<FakeServer> {
  const made = await startFakeServer(tls);
  servers.push(made);
  return made;
}

function client(options?: OutboundOptions): OutboundClient {
  const made = createOutboundClient(options);
  clients.push(made);
  return made;
}

function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { url, method: 'GET', timeout: 5000, maxResponseSize: 1000, ...more };
}

/** Returns the error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<OutboundError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutboundError);
  return error as OutboundError;
}

/** A resolver that returns these addresses. */
function names(...addresses: readonly string[]): LookupFunction {
  return (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}

beforeEach(async () => {
  server = await played();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((made) => made.close()));
  await Promise.all(servers.splice(0).map((made) => made.close()));
});

describe('a call', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    server.answer = () => ({ status: 418, headers: { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] }, body: 'short' });
    const answer = await client().send(get(`${server.url}/p?q=1`, { method: 'POST', headers: { 'x-two': '2' }, body: 'told' }));
    expect(answer.status).toBe(418);
    expect(answer.headers).toMatchObject({ 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] });
    expect(answer.body.toString()).toBe('short');
    expect(server.requests).toMatchObject([{ method: 'POST', path: '/p?q=1', headers: { 'x-two': '2' }, body: 'told' }]);
  });

  it('authenticates with the credentials of the URL, unless a header does', async () => {
    await client().send(get(server.url.replace('//', '//us%20er:pass@')));
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('us er:pass').toString('base64')}`);
    await client().send(get(server.url.replace('//', '//user:pass@'), { headers: { Authorization: 'own' } }));
    expect(server.requests[1]?.headers.authorization).toBe('own');
  });

  it('ends at its timeout, at cancellation and at the size limit', async () => {
    server.answer = () => null;
    expect((await failure(client().send(get(server.url, { timeout: 50 })))).failure).toBe('timeout');
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    expect((await failure(client().send(get(server.url, { signal: controller.signal })))).failure).toBe('cancelled');
    server.answer = () => ({ body: 'x'.repeat(1001) });
    expect((await failure(client().send(get(server.url)))).failure).toBe('too-large');
    expect(await client().send({ ...get(server.url), cutLargeResponse: true })).toMatchObject({
      status: 200,
      isCut: true,
      body: { length: 1000 },
    });
    server.answer = () => ({ body: 'x'.repeat(1000) });
    expect((await client().send(get(server.url))).body.length).toBe(1000);
  });

  it.each(['file:///etc/passwd', 'ftp://host/', 'no url', ''])('rejects the URL %j', async (url) => {
    expect((await failure(client().send(get(url)))).failure).toBe('invalid-url');
  });

  it('hides user, password and query in errors', async () => {
    await server.close();
    servers.splice(servers.indexOf(server), 1);
    const error = await failure(client().send(get(`${server.url.replace('//', '//planted:planted@')}/p?key=planted`)));
    expect(error.failure).toBe('connection');
    expect(error.message).toBe(`${server.url}/p?*** cannot be called: ECONNREFUSED`);
  });
});

describe('addresses', () => {
  it.each(['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '0xA9FEA9FE', '2852039166', '[fd00:ec2::254]'])(
    'refuses %s before connecting',
    async (host) => {
      const error = await failure(client().send(get(`http://${host}/latest/meta-data`)));
      expect(error).toMatchObject({ failure: 'refused-address', message: 'Blocked connection to private IP address' });
    },
  );

  it('checks the resolved addresses at every connection', async () => {
    const { port } = new URL(server.url);
    const url = `http://hook.test:${port}/`;
    expect((await client({ lookup: names('127.0.0.1') }).send(get(url))).status).toBe(200);
    for (const lookup of [names('169.254.169.254'), names('fe80::1', '::ffff:169.254.1.1'), names('100.100.100.200')]) {
      expect((await failure(client({ lookup }).send(get(url)))).failure).toBe('refused-address');
    }
    // Only the permitted address is tried.
    expect((await client({ lookup: names('169.254.169.254', '127.0.0.1') }).send(get(url))).status).toBe(200);
    expect(server.requests).toHaveLength(2);
  });

  it('rejects private addresses in strict mode', async () => {
    const { port } = new URL(server.url);
    const strict = client({ refusePrivate: true });
    expect((await failure(strict.send(get(server.url)))).failure).toBe('refused-address');
    expect((await failure(strict.send(get(`http://localhost:${port}/`)))).failure).toBe('refused-address');
    const named = client({ refusePrivate: true, lookup: names('10.0.0.1', '::1') });
    expect((await failure(named.send(get(`http://hook.test:${port}/`)))).failure).toBe('refused-address');
    expect(server.requests).toHaveLength(0);
  });
});

describe('redirects', () => {
  it('follows redirects on the same host only', async () => {
    const other = await played();
    server.answer = ({ path }) => {
      if (path === '/out') return { status: 302, headers: { location: `${other.url}/stolen` } };
      if (path === '/in') return { status: 302, headers: { location: '/there' } };
      return { body: path };
    };
    const headers = { cookie: 'session=1', authorization: 'Bearer x' };
    expect((await client().send(get(`${server.url}/in`, { headers }))).body.toString()).toBe('/there');
    expect(server.requests.at(-1)?.headers).toMatchObject(headers);
    expect(await client().send(get(`${server.url}/out`, { headers }))).toMatchObject({ status: 302 });
    expect(other.requests).toHaveLength(0);
  });

  it('repeats a POST only if the status preserves the method, and limits redirects', async () => {
    server.answer = ({ path }) => ({ status: path === '/keep' ? 307 : 302, headers: { location: '/next' } });
    const post = { method: 'POST', body: 'told' } as const;
    expect((await client().send(get(`${server.url}/turn`, post))).status).toBe(302);
    expect(server.requests).toHaveLength(1);
    await client().send(get(`${server.url}/keep`, post));
    expect(server.requests.slice(1)).toMatchObject([
      { path: '/keep', method: 'POST', body: 'told' },
      { path: '/next', method: 'POST', body: 'told' },
    ]);
    server.requests.length = 0;
    expect((await client().send(get(`${server.url}/round`))).status).toBe(302);
    expect(server.requests).toHaveLength(6);
  });
});

describe('certificates', () => {
  it('checks certificates unless the host is on the allow-list, and again after its removal', async () => {
    const secure = await played(SELF_SIGNED);
    const { port } = new URL(secure.url);
    const list: AllowlistedHost[] = [];
    const careful = client({ tlsAllowlist: () => list, lookup: names('127.0.0.1') });
    const call = get(`https://hook.test:${port}/`);
    expect((await failure(careful.send(call))).failure).toBe('connection');
    list.push({ host: 'hook.test', suffix: '1' }, { host: 'other.test' });
    expect((await failure(careful.send(call))).failure).toBe('connection');
    list.push({ host: 'Hook.test', suffix: port });
    expect((await careful.send(call)).status).toBe(200);
    list.length = 0;
    expect((await failure(careful.send(call))).failure).toBe('connection');
    list.push({ host: 'hook.test' });
    expect((await careful.send(call)).status).toBe(200);
    expect(secure.requests).toHaveLength(2);
  });
});
