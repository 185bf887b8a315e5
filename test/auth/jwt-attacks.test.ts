/**
 * Forged tokens for a service that verifies with a configured key and for one that verifies with the keys
 * of a URL. Each differs in one detail from a valid token.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../support/deep.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { ecPair, encoded, rsaPair, token } from '../support/tokens.ts';

const SECRET = 'open sesame';
const rsa = rsaPair();
const ec = ecPair('P-256');
const stranger = rsaPair();
const now = (): number => Math.floor(Date.now() / 1000);
const svc = { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user', 'x-svc-user-id': '1' };
const good = { iss: 'issuer', aud: 'service', 'urn:svc:jwt:claims': svc };
const adminText = '{"x-svc-allowed-roles":["admin"],"x-svc-default-role":"admin"}';
const svcText = JSON.stringify(svc);
const sign = (claims: unknown, header: unknown = { kid: 'one' }): string => token('RS256', rsa.privateKey, { header, claims });
const derSignature = (text: string): string => `${text.slice(0, text.lastIndexOf('.') + 1)}${encoded('0123')}`;

let keys: FakeServer;
let byKey: TestService;
let byUrl: TestService;

beforeAll(async () => {
  keys = await startFakeServer();
  keys.answer = ({ path }) =>
    path === '/keys'
      ? {
          body: {
            keys: [rsa.jwk({ kid: 'one', alg: 'RS256' }), ec.jwk({ kid: 'two' }), { kty: 'oct', k: encoded('k'.repeat(64)), kid: 'three' }],
          },
        }
      : { body: { keys: [stranger.jwk({ kid: 'evil', alg: 'RS256' })] } };
  const rules = { audience: ['service', 'other'], issuer: 'issuer' };
  [byKey, byUrl] = await Promise.all([
    startTestService({ ADMIN_SECRET: SECRET, JWT_SECRET: JSON.stringify({ type: 'RS256', key: rsa.pem, ...rules }) }),
    startTestService({ ADMIN_SECRET: SECRET, JWT_SECRET: JSON.stringify({ jwk_url: `${keys.url}/keys`, ...rules }) }),
  ]);
});
afterAll(async () => {
  await Promise.all([byKey.stop(), byUrl.stop()]);
  await keys.close();
});

async function ask(service: TestService, authorization: string, more: Record<string, string> = {}) {
  return service.send('/v1/graphql', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...more },
    body: '{"query":"{ __typename }"}',
  });
}

const unsigned = (header: unknown, claims: unknown, signature = ''): string => `${encoded(header)}.${encoded(claims)}.${signature}`;
const [goodHeader, goodClaims, goodSignature] = sign(good).split('.') as [string, string, string];
const jwk = (pair: typeof stranger): unknown => pair.jwk({ kid: 'evil' });

const attacks: readonly (readonly [string, string])[] = [
  // without signature
  ['alg none', unsigned({ alg: 'none' }, good)],
  ['alg None', unsigned({ alg: 'None', kid: 'one' }, good)],
  ['alg NONE with a signature', unsigned({ alg: 'NONE' }, good, goodSignature)],
  ['no alg', unsigned({ typ: 'JWT', kid: 'one' }, good, goodSignature)],
  ['an empty alg', unsigned({ alg: '', kid: 'one' }, good, goodSignature)],
  ['a list as alg', unsigned({ alg: ['RS256', 'none'], kid: 'one' }, good, goodSignature)],
  ['alg null', unsigned({ alg: null, kid: 'one' }, good, goodSignature)],
  ['an empty signature', `${goodHeader}.${goodClaims}.`],
  ['no signature', `${goodHeader}.${goodClaims}`],
  ['a signature of something else', `${goodHeader}.${encoded({ ...good, sub: '2' })}.${goodSignature}`],
  ['a signature cut short', `${goodHeader}.${goodClaims}.${goodSignature.slice(0, -4)}`],
  ['a signature of zeros', `${goodHeader}.${goodClaims}.${Buffer.alloc(256).toString('base64url')}`],
  ['a header of something else', `${encoded({ alg: 'RS256', kid: 'one', typ: 'X' })}.${goodClaims}.${goodSignature}`],
  // other algorithms
  ['HS256 with the public key', token('HS256', rsa.pem, { header: { kid: 'one' }, claims: good })],
  ['HS256 with the public key without its last line end', token('HS256', rsa.pem.trim(), { claims: good })],
  ['HS512 with the public key', token('HS512', rsa.pem, { header: { kid: 'one' }, claims: good })],
  ['HS256 with the public key as JWK', token('HS256', JSON.stringify(rsa.jwk()), { header: { kid: 'one' }, claims: good })],
  ['HS256 with an empty key', token('HS256', '', { header: { kid: 'one' }, claims: good })],
  ['HS256 with the public shared key', token('HS256', 'k'.repeat(64), { header: { kid: 'three' }, claims: good })],
  ['RS384 for a key of RS256', token('RS384', rsa.privateKey, { header: { kid: 'one' }, claims: good })],
  ['PS256 for a key of RS256', token('PS256', rsa.privateKey, { header: { kid: 'one' }, claims: good })],
  ['ES256 with the name of another key', token('ES256', ec.privateKey, { header: { kid: 'one' }, claims: good })],
  ['ES256 of zeros', unsigned({ alg: 'ES256', kid: 'two' }, good, Buffer.alloc(64).toString('base64url'))],
  ['ES256 of another form', derSignature(token('ES256', ec.privateKey, { header: { kid: 'two' }, claims: good }))],
  // keys of the attacker
  ['a key of a stranger', token('RS256', stranger.privateKey, { header: { kid: 'one' }, claims: good })],
  ['a key of a stranger without name', token('RS256', stranger.privateKey, { claims: good })],
  ['the key in the header', token('RS256', stranger.privateKey, { header: { kid: 'evil', jwk: jwk(stranger) }, claims: good })],
  [
    'the URL of keys in the header',
    token('RS256', stranger.privateKey, { header: { kid: 'evil', jku: 'http://127.0.0.1/evil' }, claims: good }),
  ],
  [
    'a certificate in the header',
    token('RS256', stranger.privateKey, { header: { kid: 'one', x5c: [encoded('x')], x5u: 'http://127.0.0.1/' }, claims: good }),
  ],
  ...['../../../../dev/null', "one' or '1'='1", 'evil', '', 'ONE', '__proto__', 'http://127.0.0.1/evil', 'one\0', '0'].map(
    (kid) => [`the name of a key ${JSON.stringify(kid)}`, token('RS256', stranger.privateKey, { header: { kid }, claims: good })] as const,
  ),
  ...[1, null, ['one'], { a: 'one' }, true].map(
    (kid) =>
      [`a name of a key that is ${JSON.stringify(kid)}`, token('RS256', stranger.privateKey, { header: { kid }, claims: good })] as const,
  ),
  // headers
  ['an unknown critical header', sign(good, { kid: 'one', crit: ['exp'], exp: 1 })],
  ['an empty list of critical headers', sign(good, { kid: 'one', crit: [] })],
  ['a payload that is not encoded', sign(good, { kid: 'one', b64: false, crit: ['b64'] })],
  ['two algorithms', token('RS256', rsa.privateKey, { header: '{"alg":"none","alg":"RS256","kid":"one"}', claims: good })],
  ['a header that is no object', token('RS256', rsa.privateKey, { header: '["RS256"]', claims: good })],
  ['a header that is no JSON', token('RS256', rsa.privateKey, { header: 'RS256', claims: good })],
  // claims
  ['expired', sign({ ...good, exp: now() - 1 })],
  ['expired just now', sign({ ...good, exp: now() })],
  ['expired long ago', sign({ ...good, exp: 0 })],
  ['an expiry as text', sign({ ...good, exp: '4102444800' })],
  ['an expiry that is null', sign({ ...good, exp: null })],
  ['not valid yet', sign({ ...good, nbf: now() + 60 })],
  ['a beginning that is text', sign({ ...good, nbf: '0' })],
  ['another audience', sign({ ...good, aud: 'elsewhere' })],
  ['other audiences', sign({ ...good, aud: ['elsewhere', 'Service', 'services'] })],
  ['no audience', sign({ ...good, aud: undefined })],
  ['an empty audience', sign({ ...good, aud: [] })],
  ['an audience that is an object', sign({ ...good, aud: { service: true } })],
  ['another issuer', sign({ ...good, iss: 'elsewhere' })],
  ['an issuer that is a list', sign({ ...good, iss: ['issuer'] })],
  ['an empty issuer', sign({ ...good, iss: '' })],
  ['an issuer that is null', sign({ ...good, iss: null })],
  ['two ends', sign(`{"exp":1,"exp":4102444800,"aud":"service","urn:svc:jwt:claims":${svcText}}`)],
  ['two claims of roles', sign(`{"aud":"service","urn:svc:jwt:claims":${svcText},"urn:svc:jwt:claims":${adminText}}`)],
  ['two claims of roles, one escaped', sign(`{"aud":"service","urn:svc:jwt:claims":${svcText},"urn\\u003asvc:jwt:claims":${adminText}}`)],
  [
    'two default roles',
    sign(
      `{"aud":"service","urn:svc:jwt:claims":{"x-svc-allowed-roles":["user","admin"],"x-svc-default-role":"user","x-svc-default-role":"admin"}}`,
    ),
  ],
  ['two spellings of a variable', sign({ ...good, 'urn:svc:jwt:claims': { ...svc, 'X-Svc-User-Id': '2' } })],
  ['roles of a prototype', sign(`{"aud":"service","__proto__":{"urn:svc:jwt:claims":${svcText}}}`)],
  ['a number as user', sign({ ...good, 'urn:svc:jwt:claims': { ...svc, 'x-svc-user-id': 1 } })],
  ['claims that are a list', sign([good])],
  ['claims that are text', sign('"text"')],
  ['claims that are no JSON', sign('{"aud":"service",')],
  ['claims that are no UTF-8', `${goodHeader}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${goodSignature}`],
  ['claims nested without end', sign(`${'{"a":'.repeat(1500)}1${'}'.repeat(1500)}`)],
  // forms
  ['five parts', `${sign(good)}.a.b`],
  ['four parts', `${sign(good)}.a`],
  ['one part', 'abc'],
  ['no part', '..'],
  ['other characters', `${goodHeader}+/.${goodClaims}.${goodSignature}`],
  ['padding', `${goodHeader}=.${goodClaims}.${goodSignature}`],
  ['the JSON form', encoded({ protected: goodHeader, payload: goodClaims, signature: goodSignature })],
  ['a form that is not compact', JSON.stringify({ protected: goodHeader, payload: goodClaims, signature: goodSignature })],
];

describe.each([
  ['a key of the options', () => byKey],
  ['the keys behind a URL', () => byUrl],
] as const)('tokens verified with %s', (_what, service) => {
  it('are accepted if they are valid', async () => {
    for (const claims of [good, { ...good, aud: ['x', 'other'] }, { ...good, exp: now() + 60, nbf: now() - 1 }]) {
      expect((await ask(service(), `Bearer ${sign(claims)}`)).json).toEqual({ data: { __typename: 'query_root' } });
    }
  });

  it.each(sample(attacks, 10))('are rejected: %s', async (_name, text) => {
    const calls = keys.requests.length;
    const began = performance.now();
    const answer = await ask(service(), `Bearer ${text}`, { 'x-svc-role': 'user' });
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(answer.status).toBe(200);
    const { errors, data } = answer.json as { errors?: { extensions: { code: string; path: string } }[]; data?: unknown };
    expect(data).toBeUndefined();
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: expect.stringMatching(/^(invalid-jwt|invalid-headers|jwt-invalid-claims)$/),
      path: '$',
    });
    for (const path of ['/v1alpha1/config', '/healthz/sources']) {
      expect((await service().send(path, { headers: { authorization: `Bearer ${text}` } })).status).toBe(400);
    }
    // No token makes the service send a request.
    expect(keys.requests).toHaveLength(calls);
  });

  it('are rejected if they are longer than the header limit', async () => {
    const huge = sign({ ...good, filler: 'x'.repeat(40_000) });
    const answer = await ask(service(), `Bearer ${huge}`).catch(() => null);
    // The HTTP server of the runtime rejects such headers itself, and may close the connection.
    expect(answer === null || answer.status === 431).toBe(true);
    const large = sign({ ...good, filler: 'x'.repeat(8000) });
    expect((await ask(service(), `Bearer ${large}`)).json).toEqual({ data: { __typename: 'query_root' } });
  });

  it('cannot make an administrator through claims', async () => {
    const answer = await service().send('/v1/metadata', {
      method: 'POST',
      headers: { authorization: `Bearer ${sign(good)}`, 'x-svc-role': 'admin' },
      body: '{"type":"export_metadata","args":{}}',
    });
    expect(answer).toMatchObject({ status: 400, json: { error: 'Your requested role is not in allowed roles', code: 'access-denied' } });
  });
});
