/** TLS and cancel requests over TLS, against a relay that speaks TLS in front of the test server. */
import net from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServerUrl } from '../../../test/support/postgres.ts';
import { WAIT } from '../../../test/support/wait.ts';
import type { Source } from '../../backend/backend.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import type { Json } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { postgresql } from './index.ts';

// A self-signed certificate of `db.test`, made for this test only.
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBkTCCATegAwIBAgIUKSfsuXollog1MpU1mdC0wBWfwdEwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3ZjLXRlc3QwIBcNMjYxMTIxMTEzMTIzWhgPMjEyNjEwMjgx
MTMxMjNaMBMxETAPBgNVBAMMCHN2Yy10ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE0a+5TJKhIqx+2FlAz8DQGRS/dMRdwqMX2UTegzLzymZiO/crkhEa7Jh/
G0KqYLKFoF2HUWK/YAn6yfzPoi66zqNnMGUwHQYDVR0OBBYEFJw1avo3ZuC482pH
qZqPVcFKcwBZMB8GA1UdIwQYMBaAFJw1avo3ZuC482pHqZqPVcFKcwBZMA8GA1Ud
EwEB/wQFMAMBAf8wEgYDVR0RBAswCYIHZGIudGVzdDAKBggqhkjOPQQDAgNIADBF
AiEAylNeO+8Q4ir7fc+O7CPujLlNO8jWTTiKBEszYYS+PysCIHDkYHUGD3Q2bp7r
LHmtXlb611tuJas1xVlGDEtqpsIj
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQPU8CdBfoX4a5wgE
tOe870UP9erzDFouPB/VnItLpzyhRANCAATRr7lMkqEirH7YWUDPwNAZFL90xF3C
oxfZRN6DMvPKZmI79yuSERrsmH8bQqpgsoWgXYdRYr9gCfrJ/M+iLrrO
-----END PRIVATE KEY-----
`;

let relay: net.Server;
/** First message of each client: `tls`, `plain` or `cancel` (inside TLS). */
const seen: string[] = [];

beforeAll(async () => {
  const target = new URL(testServerUrl());
  relay = net.createServer((client) => {
    client.on('error', () => {});
    client.once('data', (first) => {
      const upstream = () => net.connect(Number(target.port), target.hostname).on('error', () => {});
      if (first.length !== 8) {
        seen.push('plain');
        client.destroy(); // the server requires TLS
        return;
      }
      client.write('S');
      const secure = new tls.TLSSocket(client, { isServer: true, cert: CERTIFICATE, key: KEY });
      secure.on('error', () => {});
      secure.once('data', (startup) => {
        seen.push(startup.readInt32BE(4) === 80877102 ? 'cancel' : 'tls');
        const server = upstream();
        server.write(startup);
        secure.pipe(server);
        server.pipe(secure);
        secure.on('close', () => server.destroy());
        server.on('close', () => secure.destroy());
      });
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  relay.close();
});

async function open(mode: string | null, withAuthority = true): Promise<Source> {
  const url = new URL(testServerUrl());
  url.port = String((relay.address() as net.AddressInfo).port);
  url.hostname = '127.0.0.1';
  if (mode === null) url.searchParams.set('sslmode', 'require');
  const ssl = mode === null ? {} : { ssl_configuration: { sslmode: mode, ...(withAuthority ? { sslrootcert: { from_env: 'CA' } } : {}) } };
  return postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: url.href, ...ssl } as Json }, ROOT), {
    sourceName: 'tls',
    environment: { CA: CERTIFICATE },
    usePreparedStatements: true,
    maxConnections: 3,
  });
}

async function refusal(source: Promise<Source>): Promise<string> {
  const error = await source.then(
    (opened) => opened.close().then(() => expect.fail('it connected')),
    (failure) => failure as SvcError,
  );
  expect(error.message).toBe('connection error');
  return String(error.internal);
}

it.each([
  ['require', true],
  ['require', false],
  ['prefer', false],
  ['verify-ca', true],
  [null, false],
] as const)('connects with sslmode %s (certificate authority: %s)', async (mode, withAuthority) => {
  const source = await open(mode, withAuthority);
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
  expect(seen.pop()).toBe('tls');
  await source.close();
});

it('rejects servers that the sslmode does not trust', async () => {
  expect(await refusal(open('verify-ca', false))).toMatch(/self-signed/);
  expect(await refusal(open('verify-full'))).toMatch(/altnames|IP: 127/);
  expect(await refusal(open('disable'))).not.toBe('');
  expect(seen.pop()).toBe('plain');
});

it('sends cancel requests over TLS', async () => {
  const source = await open('verify-ca');
  const observer = await open('verify-ca');
  const controller = new AbortController();
  const slow = source.query('select pg_sleep(601)', [], { signal: controller.signal });
  const active = async (): Promise<Json> =>
    (await observer.query("select count(*) from pg_stat_activity where query = 'select pg_sleep(601)' and state = 'active'", []))
      .rows[0]?.[0] ?? null;
  await expect.poll(active, WAIT).toBe('1');
  controller.abort();
  await expect(slow).rejects.toMatchObject({ code: 'timeout' });
  await expect.poll(active, WAIT).toBe('0');
  expect(seen).toContain('cancel');
  await source.close();
  await observer.close();
});
