/** Keys behind a URL, fetched from a real server with short intervals. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeServer, startFakeServer } from '../../../test/support/fake-server.ts';
import { ecPair, ed25519Pair, rsaPair, token } from '../../../test/support/tokens.ts';
import { jwtSecrets } from '../../config/jwt-secret.ts';
import type { Observation } from '../../observability/observation.ts';
import { createOutboundClient, type OutboundClient } from '../../http-client/client.ts';
import type { CredentialCheck } from '../credentials.ts';
import { openJwtCheck } from './jwt.ts';
import { type KeySet, openKeySet } from './key-set.ts';
import { usableKeys } from './usable-keys.ts';

const TIMING = { firstRetry: 5, floor: 40 };
const one = rsaPair();
const two = rsaPair();
const keysOf = (...keys: readonly unknown[]) => ({ keys });

let server: FakeServer;
let outbound: OutboundClient;
let observations: Observation[];
const open: { stop(): void }[] = [];

beforeEach(async () => {
  server = await startFakeServer();
  outbound = createOutboundClient();
  observations = [];
});
afterEach(async () => {
  for (const { stop } of open.splice(0)) stop();
  await outbound.close();
  await server.close();
});

async function keySet(query = ''): Promise<KeySet> {
  const observe = (o: Observation): void => void observations.push(o);
  const opened = await openKeySet({ url: `${server.url}/keys${query}`, outbound, observe, timing: TIMING });
  open.push(opened);
  return opened;
}

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 4000 && !holds(); i++) await sleep(5);
  expect(holds()).toBe(true);
}

const kids = (set: KeySet): unknown[] => set.current().keys.map(({ kid }) => kid);
const errors = (): unknown[] => observations.flatMap((o) => (o.kind === 'jwk-refresh' && o.error !== null ? [o.error] : []));

describe('keys behind a URL', () => {
  it('fetches keys once if the response has no cache headers', async () => {
    server.answer = () => ({ body: keysOf(one.jwk({ kid: 'one' })) });
    const set = await keySet();
    await sleep(150);
    expect(kids(set)).toEqual(['one']);
    expect(server.requests).toMatchObject([{ method: 'GET', path: '/keys' }]);
  });

  it.each([
    [{ 'cache-control': 'no-store' }],
    [{ 'cache-control': 'max-age=0, must-revalidate' }],
    [{ expires: 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  ])('refreshes keys in the background by %j, at most at the minimum interval', async (headers) => {
    server.answer = () => ({ headers, body: keysOf(one.jwk({ kid: `number ${server.requests.length}` })) });
    const began = performance.now();
    const set = await keySet();
    expect(kids(set)).toEqual(['number 1']);
    await until(() => kids(set)[0] === 'number 3');
    expect(performance.now() - began).toBeGreaterThan(2 * TIMING.floor - 5);
    set.stop();
    const { length } = server.requests;
    await sleep(100);
    expect(server.requests.length).toBeLessThanOrEqual(length + 1);
  });

  it('keeps the keys while a refresh fails, and replaces them afterwards', async () => {
    const headers = { 'cache-control': 'max-age=0' };
    const broken = [
      { status: 500 },
      { body: 'planted' },
      { body: keysOf() },
      { body: keysOf({ kty: 'oct', k: 'AAAA' }) },
      { body: { keys: 'planted' } },
    ];
    server.answer = () => {
      const { length } = server.requests;
      if (length === 1) return { headers, body: keysOf(one.jwk({ kid: 'one' })) };
      return broken[length - 2] ?? { body: keysOf(two.jwk({ kid: 'two' })) };
    };
    const set = await keySet('?token=planted');
    await until(() => server.requests.length === broken.length + 1);
    expect(kids(set)).toEqual(['one']);
    await until(() => kids(set)[0] === 'two');
    expect(errors()).toEqual([
      'the answer has the status 500',
      'the answer is not JSON',
      'none of the keys can verify tokens',
      'none of the keys can verify tokens',
      'the answer is no JSON object with a list of keys',
    ]);
    expect(JSON.stringify(observations)).not.toContain('planted');
  });

  it('waits for the keys at start, with a limit', async () => {
    server.answer = () => (server.requests.length < 6 ? { status: 503 } : { body: keysOf(one.jwk({ kid: 'one' })) });
    expect(kids(await keySet())).toEqual(['one']);
    server.answer = () => ({ status: 503 });
    server.requests.length = 0;
    await expect(keySet('?token=planted')).rejects.toThrow(
      `Fatal Error: no keys from jwk_url ${server.url}/keys?***: the answer has the status 503`,
    );
    expect(server.requests).toHaveLength(6);
  });

  it('does not follow redirects to another host', async () => {
    const other = await startFakeServer();
    try {
      other.answer = () => ({ body: keysOf(two.jwk()) });
      server.answer = () => ({ status: 302, headers: { location: other.url } });
      await expect(keySet()).rejects.toThrow('the answer has the status 302');
      expect(other.requests).toHaveLength(0);
    } finally {
      await other.close();
    }
  });
});

describe('tokens', () => {
  const ec = ecPair('P-256');
  const ed = ed25519Pair();
  const claims = { 'urn:svc:jwt:claims': { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user' } };

  async function check(more: object = {}): Promise<CredentialCheck> {
    const secrets = jwtSecrets.parse(JSON.stringify([{ jwk_url: `${server.url}/keys`, ...more }]));
    const opened = await openJwtCheck({ secrets, outbound, observe: () => undefined, keySetTiming: TIMING });
    open.push(opened);
    return opened;
  }
  async function role(by: CredentialCheck, text: string): Promise<string> {
    const found = by.check({ headers: { authorization: `Bearer ${text}` } }, null, { signal: () => new AbortController().signal });
    return (await (found as NonNullable<typeof found>)).session.role;
  }

  it('finds the key of a token by id, type and algorithm, or by trying', async () => {
    server.answer = () => ({
      body: keysOf(
        one.jwk({ kid: 'one', use: 'sig' }),
        two.jwk({ kid: 'two', alg: 'PS256' }),
        one.jwk({ kid: 'enc', use: 'enc' }),
        ec.jwk(),
        ed.jwk(),
      ),
    });
    const by = await check();
    expect(await role(by, token('RS256', one.privateKey, { header: { kid: 'one' }, claims }))).toBe('user');
    expect(await role(by, token('PS256', two.privateKey, { header: { kid: 'two' }, claims }))).toBe('user');
    expect(await role(by, token('PS256', two.privateKey, { claims }))).toBe('user');
    expect(await role(by, token('ES256', ec.privateKey, { claims }))).toBe('user');
    expect(await role(by, token('EdDSA', ed.privateKey, { claims }))).toBe('user');
    for (const bad of [
      token('RS256', two.privateKey, { header: { kid: 'two' }, claims }),
      token('RS256', one.privateKey, { header: { kid: 'enc' }, claims }),
      token('RS256', one.privateKey, { header: { kid: 'two' }, claims }),
    ]) {
      await expect(role(by, bad)).rejects.toThrow('JWSInvalidSignature');
    }
  });

  it('accepts only the algorithm that the secret names', async () => {
    server.answer = () => ({ body: keysOf(one.jwk(), ec.jwk()) });
    const by = await check({ type: 'RS256' });
    expect(await role(by, token('RS256', one.privateKey, { claims }))).toBe('user');
    await expect(role(by, token('RS384', one.privateKey, { claims }))).rejects.toThrow('JWSInvalidSignature');
    await expect(role(by, token('ES256', ec.privateKey, { claims }))).rejects.toThrow('JWSInvalidSignature');
  });

  it('rejects tokens of a withdrawn key and accepts those of a new one', async () => {
    let current = one;
    server.answer = () => ({ headers: { 'cache-control': 'max-age=0' }, body: keysOf(current.jwk()) });
    const by = await check();
    const [old, young] = [one, two].map(({ privateKey }) => token('RS256', privateKey, { claims })) as [string, string];
    expect(await role(by, old)).toBe('user');
    await expect(role(by, young)).rejects.toThrow('JWSInvalidSignature');
    current = two;
    const { length } = server.requests;
    await until(() => server.requests.length >= length + 2);
    expect(await role(by, young)).toBe('user');
    await expect(role(by, old)).rejects.toThrow('JWSInvalidSignature');
  });
});

describe('usableKeys', () => {
  const { d, ...publicPart } = one.privateKey.export({ format: 'jwk' });
  it('drops keys that cannot verify tokens, and private members', () => {
    const good = one.jwk({ kid: 'good' });
    const left = usableKeys(
      JSON.stringify(
        keysOf(
          good,
          { ...publicPart, d, kid: 'private' },
          one.jwk({ use: 'enc' }),
          one.jwk({ use: 'other' }),
          one.jwk({ key_ops: ['encrypt'] }),
          one.jwk({ alg: 'RSA-OAEP' }),
          one.jwk({ alg: 'HS256' }),
          one.jwk({ alg: 1 }),
          one.jwk({ kid: 1 }),
          rsaPair(1024).jwk(),
          ecPair('secp256k1').jwk(),
          { kty: 'oct', k: 'AAAA', alg: 'HS256' },
          { kty: 'RSA', n: 'AAAA', e: 'AQAB' },
          { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' },
          'text',
          null,
        ),
      ),
    );
    expect(left.keys).toHaveLength(2);
    expect(left.keys[0]).toEqual(good);
    expect(left.keys[1]).toEqual(one.jwk({ kid: 'private' }));
  });
});
