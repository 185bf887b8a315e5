/** JWT mode without HTTP: location of tokens, choice of the token, and its claims. */
import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type KeyPair, ecPair, ed25519Pair, rsaPair, token } from '../../../test/support/tokens.ts';
import { jwtSecrets } from '../../config/jwt-secret.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { createOutboundClient } from '../../http-client/client.ts';
import { type Authenticator, createAuthenticator } from '../authenticate.ts';
import type { Authenticated } from '../credentials.ts';
import { openJwtCheck } from './jwt.ts';

const HMAC = 'k'.repeat(64);
const claims = { 'x-svc-allowed-roles': ['user', 'editor'], 'x-svc-default-role': 'user', 'x-svc-user-id': '1' };
const body = { sub: '1', 'urn:svc:jwt:claims': claims };
const hs256 = { type: 'HS256', key: HMAC };
const outbound = createOutboundClient();

const opened: Authenticator[] = [];
afterEach(() => {
  for (const authenticator of opened.splice(0)) authenticator.stop();
});

async function open(...secrets: readonly unknown[]): Promise<Authenticator> {
  const credentials = await openJwtCheck({ secrets: jwtSecrets.parse(JSON.stringify(secrets)), outbound, observe: () => undefined });
  const authenticator = createAuthenticator({ adminSecrets: ['s'], credentials });
  opened.push(authenticator);
  return authenticator;
}

async function ask(authenticator: Authenticator, headers: IncomingHttpHeaders): Promise<Authenticated['session']> {
  const found = await authenticator.authenticate({ headers }, null, { signal: () => new AbortController().signal });
  return 'session' in found ? found.session : found;
}

/** Returns `code message` of the error. */
async function refusal(authenticator: Authenticator, headers: IncomingHttpHeaders): Promise<string> {
  try {
    const session = await ask(authenticator, headers);
    return `a session of the role ${session.role}`;
  } catch (error) {
    const { code, message, status } = error as SvcError;
    expect(status).toBe(400);
    return `${code} ${message}`;
  }
}

const bearer = (text: string, more: IncomingHttpHeaders = {}): IncomingHttpHeaders => ({ authorization: `Bearer ${text}`, ...more });
const signed = (content: unknown): IncomingHttpHeaders => bearer(token('HS256', HMAC, { claims: content }));

describe('signatures', () => {
  const rsa = rsaPair();
  it.each<[string, KeyPair | null, string]>([
    ['HS256', null, 'HS256'],
    ['HS384', null, 'HS384'],
    ['HS512', null, 'HS512'],
    ['RS256', rsa, 'RS256'],
    ['RS384', rsa, 'RS384'],
    ['RS512', rsa, 'RS512'],
    ['PS256', rsa, 'PS256'],
    ['PS384', rsa, 'PS384'],
    ['PS512', rsa, 'PS512'],
    ['ES256', ecPair('P-256'), 'ES256'],
    ['ES384', ecPair('P-384'), 'ES384'],
    ['ES512', ecPair('P-521'), 'ES512'],
    ['Ed25519', ed25519Pair(), 'EdDSA'],
    ['Ed25519', ed25519Pair(), 'Ed25519'],
    ['EdDSA', ed25519Pair(), 'EdDSA'],
  ])('verifies signatures of %s', async (type, pair, algorithm) => {
    const authenticator = await open({ type, key: pair?.pem ?? HMAC });
    const good = token(algorithm, pair?.privateKey ?? HMAC, { claims: body });
    expect(await ask(authenticator, bearer(good))).toMatchObject({ role: 'user' });
    const [header, , signature] = good.split('.') as [string, string, string];
    const forged = Buffer.from(JSON.stringify({ ...body, sub: '2' })).toString('base64url');
    expect(await refusal(authenticator, bearer(`${header}.${forged}.${signature}`))).toBe(
      'invalid-jwt Could not verify JWT: JWSError JWSInvalidSignature',
    );
  });
});

it('rejects a token of more than 32 KiB without parsing it', async () => {
  const authenticator = await open(hs256);
  const sized = (filler: number): IncomingHttpHeaders => signed({ ...body, filler: 'x'.repeat(filler) });
  expect(await refusal(authenticator, sized(20_000))).toBe('a session of the role user');
  expect(await refusal(authenticator, sized(30_000))).toBe('invalid-jwt Could not verify JWT: JWSError CompactDecodeError');
});

describe('a session', () => {
  it('takes its variables from the claims and not from headers', async () => {
    const authenticator = await open(hs256);
    const more = { 'x-svc-user-id': '2', 'x-svc-org': 'x', 'x-svc-use-backend-only-permissions': 'nonsense' };
    const session = await ask(authenticator, { ...signed({ ...body, exp: 4102444800 }), ...more });
    expect({ ...session, variables: Object.fromEntries(session.variables) }).toEqual({
      role: 'user',
      variables: { 'x-svc-role': 'user', 'x-svc-user-id': '1' },
      backendOnly: false,
      expiresAt: 4102444800_000,
    });
  });

  it('has the requested role if it is allowed', async () => {
    const authenticator = await open(hs256);
    const role = async (wanted: string): Promise<string> => refusal(authenticator, { ...signed(body), 'x-svc-role': wanted });
    expect(await role('editor')).toBe('a session of the role editor');
    expect(await role('')).toBe('a session of the role user');
    for (const wanted of ['admin', 'Editor', 'user,editor', 'user, editor']) {
      expect(await role(wanted)).toBe('access-denied Your requested role is not in allowed roles');
    }
    const strange = { 'urn:svc:jwt:claims': { ...claims, 'x-svc-default-role': 'admin' } };
    expect(await refusal(authenticator, signed(strange))).toBe('access-denied Your requested role is not in allowed roles');
  });

  it('ignores secrets and control headers among the claims', async () => {
    const authenticator = await open(hs256);
    const planted = { ...claims, 'x-svc-admin-secret': 's', 'X-Svc-Use-Backend-Only-Permissions': 'true', 'x-svc-role': 'admin', other: 1 };
    const session = await ask(authenticator, signed({ 'urn:svc:jwt:claims': planted }));
    expect(Object.fromEntries(session.variables)).toEqual({ 'x-svc-role': 'user', 'x-svc-user-id': '1' });
    expect(session.backendOnly).toBe(false);
  });
});

describe('claims', () => {
  const text = JSON.stringify(claims);
  it.each<[string, object, object]>([
    ['in a namespace', { claims_namespace: 'https://a/b' }, { 'https://a/b': claims }],
    ['as text', { claims_format: 'stringified_json' }, { 'urn:svc:jwt:claims': text }],
    ['at a path', { claims_namespace_path: "$.a['b c'][0]" }, { a: { 'b c': [claims] } }],
    ['at a path as text', { claims_namespace_path: '$.a', claims_format: 'stringified_json' }, { a: text }],
    ['at the root', { claims_namespace_path: '$' }, claims],
    [
      'in a map',
      {
        claims_map: {
          'x-svc-allowed-roles': { path: '$.roles' },
          'X-Svc-Default-Role': { path: '$.nowhere', default: 'user' },
          'x-svc-user-id': { path: "$['user'].id" },
        },
      },
      { roles: ['user'], user: { id: '1' } },
    ],
    [
      'in a map of literals',
      { claims_map: { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user', 'x-svc-user-id': '1' } },
      { 'urn:svc:jwt:claims': { 'x-svc-user-id': '2' } },
    ],
  ])('%s', async (_what, secret, content) => {
    const session = await ask(await open({ ...hs256, ...secret }), signed(content));
    expect(Object.fromEntries(session.variables)).toEqual({ 'x-svc-role': 'user', 'x-svc-user-id': '1' });
  });

  const changed = (change: object): object => ({ 'urn:svc:jwt:claims': { ...claims, ...change } });
  it.each<[string, object, object | string, string]>([
    ['no namespace', {}, {}, "jwt-invalid-claims claims key: 'urn:svc:jwt:claims' not found"],
    ['a namespace of every object', { claims_namespace: 'toString' }, {}, "jwt-invalid-claims claims key: 'toString' not found"],
    ['no path', { claims_namespace_path: '$.x' }, {}, "jwt-invalid-claims claims not found at claims_namespace_path: '$.x'"],
    ['text', {}, { 'urn:svc:jwt:claims': text }, 'jwt-invalid-claims expecting a json object when claims_format is json'],
    [
      'no text',
      { claims_format: 'stringified_json' },
      body,
      'jwt-invalid-claims expecting a string when claims_format is stringified_json',
    ],
    [
      'other text',
      { claims_format: 'stringified_json' },
      { 'urn:svc:jwt:claims': '[]' },
      "jwt-invalid-claims expecting stringified json at: 'claims_namespace urn:svc:jwt:claims', but found: []",
    ],
    [
      'a key twice in text',
      { claims_format: 'stringified_json' },
      { 'urn:svc:jwt:claims': '{"x-svc-default-role":"user","x-svc-default-role":"admin","x-svc-allowed-roles":["user","admin"]}' },
      "jwt-invalid-claims expecting stringified json at: 'claims_namespace urn:svc:jwt:claims', but found: {",
    ],
    [
      'no roles',
      {},
      changed({ 'x-svc-allowed-roles': undefined }),
      'jwt-missing-role-claims JWT claim does not contain x-svc-allowed-roles',
    ],
    [
      'no default role',
      {},
      changed({ 'x-svc-default-role': undefined }),
      'jwt-missing-role-claims JWT claim does not contain x-svc-default-role',
    ],
    [
      'one role',
      {},
      changed({ 'x-svc-allowed-roles': 'user' }),
      'jwt-invalid-claims invalid x-svc-allowed-roles; should be a list of roles: parsing [] failed, expected Array, but encountered String',
    ],
    [
      'roles that are none',
      {},
      changed({ 'x-svc-allowed-roles': ['user', 1] }),
      'jwt-invalid-claims invalid x-svc-allowed-roles; should be a list of roles: ',
    ],
    [
      'several default roles',
      {},
      changed({ 'x-svc-default-role': ['user'] }),
      'jwt-invalid-claims invalid x-svc-default-role; should be a single role name: ',
    ],
    [
      'an empty default role',
      {},
      changed({ 'x-svc-default-role': '' }),
      'jwt-invalid-claims invalid x-svc-default-role; should be a single role name: ',
    ],
    ['a number', {}, changed({ 'x-svc-user-id': 1 }), 'jwt-invalid-claims x-svc-* claims: '],
    ['null', {}, changed({ 'x-svc-user-id': null }), 'jwt-invalid-claims x-svc-* claims: '],
    ['what no database can hold', {}, changed({ 'x-svc-user-id': 'a\0' }), 'jwt-invalid-claims x-svc-* claims: '],
    [
      'two spellings of one name',
      {},
      changed({ 'X-Svc-User-Id': '2' }),
      'jwt-invalid-claims x-svc-* claims: duplicate claim x-svc-user-id',
    ],
    [
      'a gap in the map',
      { claims_map: { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user', 'x-svc-user-id': { path: '$.id' } } },
      { id: null },
      'jwt-invalid-claims JWT claim from claims_map, x-svc-user-id not found',
    ],
  ])('rejects claims with %s', async (_what, secret, content, message) => {
    const found = await refusal(await open({ ...hs256, ...secret }), signed(content));
    expect(found.slice(0, message.length)).toBe(message);
  });
});

describe('the location', () => {
  const good = token('HS256', HMAC, { claims: body });
  const MISSING = "invalid-headers Missing 'Authorization' or 'Cookie' header in JWT authentication mode";
  const MULTIPLE = 'invalid-headers Could not verify JWT: Multiple JWTs found';

  it('reads the token from the bearer header', async () => {
    const authenticator = await open(hs256);
    expect(await refusal(authenticator, {})).toBe(MISSING);
    expect(await refusal(authenticator, { cookie: `token=${good}`, 'x-token': good })).toBe(MISSING);
    for (const authorization of ['', good, `Basic ${good}`, `bearer ${good}`, `Bearer`, `Bearer ${good} ${good}`]) {
      expect(await refusal(authenticator, { authorization })).toBe('invalid-headers Malformed Authorization header');
    }
  });

  it('reads the token from a cookie', async () => {
    const authenticator = await open({ ...hs256, header: { type: 'Cookie', name: 'tok' } });
    expect(await refusal(authenticator, { cookie: `a=b; tok=${good}; tokk=x` })).toBe('a session of the role user');
    expect(await refusal(authenticator, { cookie: `tok=${good}`, authorization: 'Basic abc' })).toBe('a session of the role user');
    for (const cookie of ['', 'tok', 'tok=', `Tok=${good}`, `xtok=${good}`]) expect(await refusal(authenticator, { cookie })).toBe(MISSING);
    expect(await refusal(authenticator, bearer(good))).toBe(MISSING);
    expect(await refusal(authenticator, { cookie: `tok=${good}; tok=${good}` })).toBe(MULTIPLE);
  });

  it('reads the token from a custom header', async () => {
    const authenticator = await open({ ...hs256, header: { type: 'CustomHeader', name: 'X-Token' } });
    expect(await refusal(authenticator, { 'x-token': good })).toBe('a session of the role user');
    expect(await refusal(authenticator, { 'x-token': `Bearer ${good}` })).toMatch(/^invalid-jwt /);
    expect(await refusal(authenticator, { 'x-token': '' })).toBe(MISSING);
  });
});

describe('several secrets', () => {
  const other = 'o'.repeat(64);
  const of = (issuer: string | undefined, key = HMAC): string => token('HS256', key, { claims: { ...body, iss: issuer } });

  it('chooses the secret by issuer', async () => {
    const authenticator = await open({ ...hs256, issuer: 'a' }, { type: 'HS256', key: other, issuer: 'b' });
    expect(await refusal(authenticator, bearer(of('a')))).toBe('a session of the role user');
    expect(await refusal(authenticator, bearer(of('b', other)))).toBe('a session of the role user');
    expect(await refusal(authenticator, bearer(of('a', other)))).toMatch(/JWSInvalidSignature$/);
    expect(await refusal(authenticator, bearer(of('c')))).toBe('invalid-jwt Could not verify JWT: JWTNotInIssuer');
    expect(await refusal(authenticator, bearer(of(undefined)))).toBe('invalid-headers Could not verify JWT: Multiple JWTs found');
  });

  it('reads each secret at its own location and rejects two tokens', async () => {
    const authenticator = await open(
      { ...hs256, issuer: 'a' },
      { type: 'HS256', key: other, issuer: 'b', header: { type: 'Cookie', name: 'tok' } },
    );
    const both = { ...bearer(of('a')), cookie: `tok=${of('b', other)}` };
    expect(await refusal(authenticator, bearer(of('a')))).toBe('a session of the role user');
    expect(await refusal(authenticator, { cookie: `tok=${of('b', other)}` })).toBe('a session of the role user');
    expect(await refusal(authenticator, { cookie: `tok=${of('a')}` })).toBe('invalid-jwt Could not verify JWT: JWTNotInIssuer');
    expect(await refusal(authenticator, both)).toBe('invalid-headers Could not verify JWT: Multiple JWTs found');
    // The token of the wrong issuer is ignored.
    expect(await refusal(authenticator, { ...bearer(of('a')), cookie: `tok=${of('a')}` })).toBe('a session of the role user');
  });
});
