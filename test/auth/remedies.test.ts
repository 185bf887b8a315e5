/** Errors about credentials say which credentials the configured mode accepts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { token } from '../support/tokens.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

const SECRET = 'the-secret-of-the-administrators';
const KEY = 'k'.repeat(64);
const ROLES = { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user' };
const signed = (more: JsonObject = {}, key = KEY): string => token('HS256', key, { claims: { 'urn:svc:jwt:claims': ROLES, ...more } });

type Headers = Readonly<Record<string, string>>;

/** Code and suggestions of the error. */
async function refusal(service: TestService, headers: Headers, path = '/v1/graphql'): Promise<readonly [string, ...string[]]> {
  const body = path === '/v1/graphql' ? '{"query": "{ __typename }"}' : '{"type": "export_metadata", "args": {}}';
  const { json, text } = await service.send(path, { method: 'POST', headers, body });
  expect(text).not.toMatch(new RegExp(`${SECRET}|${KEY}`));
  const { errors, ...bare } = json as JsonObject & { readonly errors?: readonly { readonly extensions: JsonObject }[] };
  const { code, suggestions = [] } = (errors?.[0]?.extensions ?? bare) as JsonObject;
  return [code as string, ...(suggestions as string[])];
}

describe.each([
  ['in the header Authorization', undefined, 'Send Authorization: Bearer <token>, or X-Svc-Admin-Secret.'],
  ['in a cookie', { type: 'Cookie', name: 'sid' }, 'Send a token in the cookie sid, or X-Svc-Admin-Secret.'],
  ['in another header', { type: 'CustomHeader', name: 'x-token' }, 'Send a token in the header x-token, or X-Svc-Admin-Secret.'],
])('with tokens %s', (_place, header, send) => {
  let service: TestService;
  beforeAll(async () => {
    const secret = { type: 'HS256', key: KEY, ...(header === undefined ? {} : { header }) };
    service = await startTestService({ ADMIN_SECRET: SECRET, JWT_SECRET: JSON.stringify(secret) });
  });
  afterAll(() => service.stop());
  const bearing = (text: string): Headers =>
    header === undefined ? { authorization: `Bearer ${text}` } : header.type === 'Cookie' ? { cookie: `sid=${text}` } : { 'x-token': text };

  it('an error names the place of the token, and the admin secret', async () => {
    expect(await refusal(service, {})).toEqual(['invalid-headers', send]);
    expect(await refusal(service, {}, '/v1/metadata')).toEqual(['invalid-headers', send]);
    expect(await refusal(service, { 'x-svc-admin-secret': 'guess' })).toEqual([
      'access-denied',
      'Without X-Svc-Admin-Secret, other credentials decide.',
      send,
    ]);
  });

  it('an error about a token says what is wrong with it', async () => {
    expect(await refusal(service, bearing(signed({ exp: 1 })))).toEqual(['invalid-jwt', 'The token has expired: get a new one.', send]);
    expect(await refusal(service, bearing(signed({}, 'x'.repeat(64))))).toEqual([
      'invalid-jwt',
      'The token is not signed with a key and algorithm of the JWT configuration.',
      send,
    ]);
    expect(await refusal(service, { ...bearing(signed()), 'x-svc-role': 'owner' })).toEqual([
      'access-denied',
      'X-Svc-Role must name one of the roles in x-svc-allowed-roles of the token. Without the header, the role is x-svc-default-role.',
      send,
    ]);
  });

  it('an error of the metadata API says how to become an administrator', async () => {
    expect(await refusal(service, bearing(signed()), '/v1/metadata')).toEqual([
      'access-denied',
      'Send the admin secret of the service as X-Svc-Admin-Secret.',
    ]);
    // Conformance cases contain the keys of this answer.
    expect(await refusal(service, { 'x-svc-admin-secret': SECRET, 'x-svc-role': 'user' }, '/v1/metadata')).toEqual(['access-denied']);
  });

  it('a websocket is closed with what to send', async () => {
    const socket = new TestSocket(service.url, { protocol: MODERN });
    await socket.opened();
    socket.send({ type: 'connection_init' });
    const { code, reason } = await socket.closed;
    expect([code, JSON.parse(reason)]).toEqual([4403, { server_error_msg: '4403: Forbidden', suggestions: [send] }]);
  });
});

it('an error about a wrong secret says that requests without one have the unauthorized role', async () => {
  const service = await startTestService({ ADMIN_SECRET: SECRET, UNAUTHORIZED_ROLE: 'anonymous' });
  try {
    expect(await refusal(service, { 'x-svc-admin-secret': 'guess' })).toEqual([
      'access-denied',
      'Without X-Svc-Admin-Secret, the request has the unauthorized role.',
      'Send the admin secret of the service as X-Svc-Admin-Secret.',
    ]);
    expect(await refusal(service, {}, '/v1/metadata')).toEqual([
      'access-denied',
      'Send the admin secret of the service as X-Svc-Admin-Secret.',
    ]);
  } finally {
    await service.stop();
  }
});
