import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type JwtSecret, jwtSecret, jwtSecrets } from './jwt-secret.ts';

const parse = (json: unknown): JwtSecret => jwtSecret.parse(JSON.stringify(json));
const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const ed25519 = generateKeyPairSync('ed25519');
const hmac = { type: 'HS256', key: 'k'.repeat(32) };

describe('a JWT secret', () => {
  it('has defaults', () => {
    expect(parse(hmac)).toEqual({
      key: { kind: 'hmac', secret: Buffer.from(hmac.key) },
      algorithms: ['HS256'],
      claims: { kind: 'namespace', name: 'urn:svc:jwt:claims', format: 'json' },
      audience: null,
      issuer: null,
      allowedSkew: 0,
      location: { kind: 'authorization' },
    });
  });

  it.each([
    ['RS256', pem(rsa.publicKey), ['RS256']],
    ['PS512', pem(rsa.publicKey), ['PS512']],
    ['ES256', pem(p256.publicKey), ['ES256']],
    ['ES384', pem(p384.publicKey), ['ES384']],
    ['Ed25519', pem(ed25519.publicKey), ['EdDSA', 'Ed25519']],
    ['EdDSA', pem(ed25519.publicKey), ['EdDSA', 'Ed25519']],
  ])('accepts a public key for %s', (type, key, algorithms) => {
    expect(parse({ type, key }).algorithms).toEqual(algorithms);
  });

  it('accepts all other settings', () => {
    const secret = parse({
      jwk_url: 'https://id.example/keys',
      claims_namespace_path: "$.a['b c']",
      claims_format: 'stringified_json',
      audience: ['a', 'b'],
      issuer: 'me',
      allowed_skew: 5,
      header: { type: 'CustomHeader', name: 'X-Token' },
    });
    expect(secret).toMatchObject({
      key: { kind: 'url', url: 'https://id.example/keys' },
      claims: { kind: 'path', path: ['a', 'b c'], format: 'stringified_json' },
      audience: ['a', 'b'],
      issuer: 'me',
      allowedSkew: 5,
      location: { kind: 'header', name: 'x-token' },
    });
    expect(secret.algorithms).not.toContain('HS256');
    expect(parse({ ...hmac, audience: 'a', header: { type: 'Cookie', name: 'Tok' } })).toMatchObject({
      audience: ['a'],
      location: { kind: 'cookie', name: 'Tok' },
    });
  });

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'key and jwk_url both cannot be empty'],
    ['two sources of keys', { ...hmac, jwk_url: 'https://h/' }, 'key, jwk_url both cannot be present'],
    ['no type', { key: hmac.key }, "the key 'type' was not present"],
    ['no algorithm', { type: 'none', key: hmac.key }, 'Key type: none is not supported'],
    ['a type that every object has', { type: 'toString', key: hmac.key }, 'Key type: toString is not supported'],
    ['a shared secret behind a URL', { type: 'HS256', jwk_url: 'https://h/' }, 'Key type: HS256 is not supported with jwk_url'],
    ['a short secret', { ...hmac, key: 'k'.repeat(31) }, 'Key size too small; should be atleast 32 characters'],
    ['a short secret of HS384', { type: 'HS384', key: 'k'.repeat(47) }, 'Key size too small; should be atleast 48 characters'],
    ['a short secret of HS512', { type: 'HS512', key: 'k'.repeat(63) }, 'Key size too small; should be atleast 64 characters'],
    ['no PEM', { type: 'RS256', key: 'planted' }, 'Invalid JWK: expecting a public key or a certificate in PEM format'],
    [
      'a private key',
      { type: 'RS256', key: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
      'Invalid JWK: expecting a public key or a certificate, but found a private key',
    ],
    ['a key of another kind', { type: 'RS256', key: pem(p256.publicKey) }, 'Invalid JWK: RS256 needs an RSA key, but found ec'],
    ['another curve', { type: 'ES256', key: pem(p384.publicKey) }, 'Invalid JWK: ES256 needs a key on the curve prime256v1'],
    ['another signature', { type: 'Ed25519', key: pem(rsa.publicKey) }, 'Invalid JWK: Ed25519 needs an Ed25519 key, but found rsa'],
    [
      'a weak key',
      { type: 'RS256', key: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey) },
      'Invalid JWK: an RSA key needs at least 2048 bits',
    ],
    ['an invalid URL', { jwk_url: 'file:///keys' }, 'jwk_url: expecting an http or https URL'],
    [
      'two locations of claims',
      { ...hmac, claims_namespace: 'a', claims_namespace_path: '$.a' },
      'claims_namespace and claims_namespace_path both cannot be set',
    ],
    ['another format', { ...hmac, claims_format: 'xml' }, "claims_format: expecting 'json' or 'stringified_json'"],
    ['an invalid path', { ...hmac, claims_namespace_path: 'a.b' }, 'a JSON path starts with $, but found "a.b"'],
    ['a map without roles', { ...hmac, claims_map: {} }, 'x-svc-allowed-roles is expected but not found'],
    [
      'a map without default role',
      { ...hmac, claims_map: { 'x-svc-allowed-roles': ['a'] } },
      'x-svc-default-role is expected but not found',
    ],
    [
      'a map with other names',
      { ...hmac, claims_map: { role: 'a' } },
      "claims_map: 'role' is not a session variable: it does not start with x-svc-",
    ],
    ['a map with a number', { ...hmac, claims_map: { 'x-svc-user-id': 1 } }, 'claims_map: x-svc-user-id: expecting a string'],
    [
      'roles that are not a list',
      { ...hmac, claims_map: { 'x-svc-allowed-roles': 'a' } },
      'claims_map: x-svc-allowed-roles: expecting a list of roles',
    ],
    [
      'a default of another type',
      { ...hmac, claims_map: { 'x-svc-allowed-roles': { path: '$.r', default: 'a' } } },
      'claims_map: x-svc-allowed-roles: expecting a list of roles',
    ],
    ['another location', { ...hmac, header: { type: 'Query' } }, "expected 'type' is 'Authorization' or 'Cookie' or 'CustomHeader'"],
    ['a cookie without name', { ...hmac, header: { type: 'Cookie' } }, "header: expecting the name of a cookie under the key 'name'"],
    ['no audience', { ...hmac, audience: [] }, 'audience: expecting a string or a list of strings'],
    ['a negative skew', { ...hmac, allowed_skew: -1 }, 'allowed_skew: expecting a number of seconds'],
    ['a misspelled key', { ...hmac, audiance: 'a' }, "unknown key 'audiance'"],
    ['a list', [hmac], 'expecting a JSON object'],
  ])('rejects %s', (_what, json, message) => {
    expect(() => parse(json)).toThrow(message);
  });

  it('is not quoted in errors, and not shown', () => {
    for (const text of ['{"key": planted', '"planted"', '{"type":"RS256","key":"planted"}', '{"type":"HS256","key":"planted"}']) {
      let message = '';
      try {
        jwtSecret.parse(text);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).not.toBe('');
      expect(message).not.toContain('planted');
    }
    expect(jwtSecret.show(parse(hmac))).toBe('***');
  });

  it('may be a list', () => {
    expect(jwtSecrets.parse(JSON.stringify([hmac, { jwk_url: 'https://h/' }]))).toHaveLength(2);
    for (const text of ['[]', '{}', '[{}]', 'x']) expect(() => jwtSecrets.parse(text)).toThrow();
  });
});
