import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GraphqlServer, startGraphqlServer } from '../../../test/support/graphql-server.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { createOutboundClient, type OutboundClient } from '../../http-client/client.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import type { RemoteConnection } from './connection.ts';
import { createRemoteAccess, type RemoteCall, type RemoteCaller } from './remote-caller.ts';

let server: GraphqlServer;
let outbound: OutboundClient;

beforeEach(async () => {
  server = await startGraphqlServer('type Query { say(text: String!): String! }', { say: ({ text }: { text: string }) => text });
  outbound = createOutboundClient();
});
afterEach(async () => {
  await outbound.close();
  await server.close();
});

function connections(more: Partial<RemoteConnection> = {}): ReadonlyMap<string, RemoteConnection> {
  return new Map([
    ['r', { name: 'r', address: '{{URL}}', url: server.url, headers: {}, timeout: 5000, forwardClientHeaders: false, ...more }],
  ]);
}

function caller(more: Partial<RemoteConnection> = {}, maxResponseSize = 1000): RemoteCaller {
  return createRemoteAccess({ outbound, maxResponseSize })(connections(more));
}

function say(text: string, more: Partial<RemoteCall> = {}): RemoteCall {
  const session = { role: 'user', variables: new Map([['x-svc-role', 'user']]), backendOnly: false };
  return { remote: 'r', document: 'query($v0: String!) {say(text: $v0)}', variables: { v0: text }, session, options: {}, ...more };
}

async function failure(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SvcError);
  return error as SvcError;
}

const UNREACHABLE = { code: 'remote-schema-error', message: 'HTTP exception occurred while sending the request to "{{URL}}"' };

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 3000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
}

describe('a call', () => {
  it('sends the document with its variables, and returns the response and its cookies', async () => {
    server.headers = { 'set-cookie': ['a=1; Path=/', 'b=2'] };
    expect(await caller()(say('hej'))).toEqual({ body: { data: { say: 'hej' } }, cookies: ['a=1; Path=/', 'b=2'] });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      query: 'query($v0: String!) {say(text: $v0)}',
      variables: { v0: 'hej' },
    });
  });

  it('returns a response of any status, with exact numbers', async () => {
    server.answer = () => ({ status: 500, body: '{"errors":[{"message":"no","n":12345678901234567890}]}' });
    const { body } = await caller()(say(''));
    expect(JSON.stringify(body)).toContain('12345678901234567890');
  });

  it('forwards the bytes of cookies', async () => {
    server.headers = { 'set-cookie': [Buffer.from('a=é', 'utf8').toString('latin1')] };
    const { cookies } = await caller()(say(''));
    expect(cookies.map((cookie) => Buffer.from(cookie, 'latin1').toString('utf8'))).toEqual(['a=é']);
  });
});

describe('headers', () => {
  const client: IncomingHttpHeaders = {
    'x-own': 'client',
    'x-svc-admin-secret': 'planted',
    'x-svc-access-key': 'planted',
    'x-svc-role': 'admin',
    'x-svc-made-up': '1',
    authorization: 'Bearer t',
    cookie: 'c=1',
    host: 'svc.example',
    origin: 'https://page.example',
    'user-agent': 'browser',
    accept: 'text/html',
    'content-length': '7',
    'transfer-encoding': 'chunked',
    traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
    'x-b3-traceid': '3333333333333333',
  };
  const sent = async (more: Partial<RemoteConnection>, variables: Record<string, string> = {}) => {
    const session = { role: 'user', variables: new Map(Object.entries({ 'x-svc-role': 'user', ...variables })), backendOnly: false };
    await caller(more)(say('', { headers: client, session }));
    return server.requests.at(-1)?.headers ?? {};
  };

  it('contain session variables and the trace context', async () => {
    const headers = await sent({}, { 'x-svc-user-id': '7' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-graphql',
      'x-svc-role': 'user',
      'x-svc-user-id': '7',
      traceparent: client['traceparent'],
      'x-b3-traceid': '3333333333333333',
    });
    for (const name of ['x-own', 'authorization', 'cookie', 'x-forwarded-host', 'x-svc-made-up']) expect(headers).not.toHaveProperty(name);
    expect(JSON.stringify(headers)).not.toContain('planted');
  });

  it("include the client's headers if forwarded, without those about its own request", async () => {
    const headers = await sent({ forwardClientHeaders: true });
    expect(headers).toMatchObject({
      'x-own': 'client',
      authorization: 'Bearer t',
      cookie: 'c=1',
      'x-forwarded-host': 'svc.example',
      'x-forwarded-origin': 'https://page.example',
      'x-forwarded-user-agent': 'browser',
      'user-agent': 'svc-graphql',
      'x-svc-role': 'user',
    });
    expect(headers).not.toHaveProperty('x-svc-made-up');
    expect(headers.accept).not.toBe('text/html');
    expect(JSON.stringify(headers)).not.toContain('planted');
  });

  it('prefer configured values, then session variables', async () => {
    const headers = await sent(
      { forwardClientHeaders: true, headers: { 'x-own': 'configured', 'x-svc-user-id': '0', 'user-agent': 'me' } },
      { 'x-svc-user-id': '7', 'x-svc-role': 'user' },
    );
    expect(headers).toMatchObject({ 'x-own': 'configured', 'x-svc-user-id': '0', 'user-agent': 'me', 'x-svc-role': 'user' });
  });

  it('encode text as UTF-8, and reject line breaks', async () => {
    const headers = await sent({}, { 'x-svc-name': 'Łódź' });
    expect(Buffer.from(headers['x-svc-name'] as string, 'latin1').toString('utf8')).toBe('Łódź');
    const message = 'the session variable "x-svc-name" cannot be sent to a remote schema as a header';
    expect(await failure(sent({}, { 'x-svc-name': 'a\r\nx-svc-role: admin' }))).toMatchObject({ code: 'remote-schema-error', message });
    expect(server.requests).toHaveLength(1);
  });
});

describe('bounds and faults', () => {
  it('rejects a call of an inconsistent remote schema', async () => {
    expect(await failure(caller()(say('', { remote: 'gone' })))).toMatchObject({
      message: 'remote schema with name "gone" is inconsistent',
    });
  });

  it('ends at the timeout, at the deadline and at cancellation', async () => {
    server.answer = () => 'hang';
    expect(await failure(caller({ timeout: 300 })(say('')))).toMatchObject({ ...UNREACHABLE, internal: { message: 'Response timeout' } });
    expect(await failure(caller()(say('', { options: { deadline: Date.now() + 300 } })))).toMatchObject(UNREACHABLE);
    const signal = new CancellationSource();
    const asked = caller()(say('', { options: { signal } }));
    await until(() => server.requests.length === 3);
    signal.cancel();
    expect(await failure(asked)).toMatchObject(UNREACHABLE);
    // The connections are closed.
    await until(() => server.dropped.length === 3);
  });

  it.each(['reset', { body: '<html></html>' }, { status: 504, body: '' }, { body: `${'['.repeat(600)}${']'.repeat(600)}` }] as const)(
    'makes an error of %j',
    async (answer) => {
      server.answer = () => answer;
      expect(await failure(caller({}, 10_000)(say('')))).toMatchObject({ code: 'remote-schema-error', status: 400 });
    },
  );

  it('limits the responses for a request, or a batch, in total', async () => {
    const call = caller();
    await call(say('x'.repeat(600)));
    const message = 'the responses of remote schemas exceed 1000 bytes';
    expect(await failure(call(say('x'.repeat(600))))).toMatchObject({ code: 'remote-schema-error', message });
    const use = { bytes: 0 };
    const access = createRemoteAccess({ outbound, maxResponseSize: 1000 });
    await access(connections(), use)(say('x'.repeat(600)));
    expect(await failure(access(connections(), use)(say('x'.repeat(600))))).toMatchObject({ message });
    await access(connections())(say('x'.repeat(600)));
  });

  it('limits concurrent calls, and stops after a failed one', async () => {
    server.answer = () => 'hang';
    const call = caller({ timeout: 60_000 });
    const asked = Promise.allSettled(Array.from({ length: 40 }, () => call(say(''))));
    await until(() => server.requests.length >= 16);
    await server.close();
    expect((await asked).map(({ status }) => status)).toEqual(Array(40).fill('rejected'));
    expect(server.requests).toHaveLength(16);
  });
});
