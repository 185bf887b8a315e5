/** Hosts with self-signed certificates: the metadata lists the permitted ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { SELF_SIGNED } from '../support/self-signed.ts';
import { startTestService, type TestService } from '../support/service.ts';

let hook: FakeServer;
let service: TestService;
let port: string;
const SECRET = 'hush';

beforeAll(async () => {
  hook = await startFakeServer(SELF_SIGNED);
  hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' } });
  port = new URL(hook.url).port;
  service = await startTestService({ ADMIN_SECRET: SECRET, AUTH_HOOK: hook.url });
});
afterAll(async () => {
  await service.stop();
  await hook.close();
});

/** The result of an operation: its message, or its error. */
async function administer(type: string, args: Json): Promise<Json> {
  const headers = { 'x-svc-admin-secret': SECRET };
  const { status, json } = await service.send('/v1/metadata', { method: 'POST', headers, body: JSON.stringify({ type, args }) });
  const { message, code, error, path } = json as Record<string, Json>;
  return status === 200 ? (message ?? null) : `${status} ${code} ${path}: ${error}`;
}
const add = (args: Json): Promise<Json> => administer('add_host_to_tls_allowlist', args);
const drop = (args: Json): Promise<Json> => administer('drop_host_from_tls_allowlist', args);
const exported = async (): Promise<Json | undefined> =>
  ((await service.metadata('export_metadata', {})) as Record<string, Json>)['network'];
const reached = async (): Promise<boolean> => {
  const asked = hook.requests.length;
  const { json } = await service.send('/v1/graphql', { method: 'POST', body: '{"query": "{ __typename }"}' });
  const answered = (json as Record<string, Json>)['data'] !== undefined;
  expect(hook.requests.length > asked).toBe(answered);
  return answered;
};

describe('the TLS allow-list', () => {
  it('takes effect at once', async () => {
    expect(await reached()).toBe(false);
    expect(await add('127.0.0.1')).toBe('success');
    expect(await reached()).toBe(true);
    expect(await drop('127.0.0.1')).toBe('success');
    expect(await reached()).toBe(false);
    expect(await add({ host: '127.0.0.1', suffix: '1' })).toBe('success');
    expect(await reached()).toBe(false);
    expect(await add({ host: '127.0.0.1', suffix: port, permissions: ['self-signed'] })).toBe('success');
    expect(await reached()).toBe(true);
    expect(await drop({ host: '127.0.0.1', suffix: port })).toBe('success');
    expect(await add({ host: '127.0.0.1', suffix: port, permissions: [] })).toBe('success');
    expect(await reached()).toBe(false);
    expect(await drop({ host: '127.0.0.1', suffix: port })).toBe('success');
    expect(await drop({ host: '127.0.0.1', suffix: '1' })).toBe('success');
  });

  it('is exported sorted, and omitted if it is empty', async () => {
    expect(await exported()).toBeUndefined();
    await add({ host: 'b.test', suffix: '8443', permissions: ['self-signed'] });
    await add('b.test');
    await add('a.test');
    expect(await exported()).toEqual({
      tls_allowlist: [
        { host: 'a.test', suffix: null, permissions: null },
        { host: 'b.test', suffix: null, permissions: null },
        { host: 'b.test', suffix: '8443', permissions: ['self-signed'] },
      ],
    });
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
    await service.metadata('replace_metadata', { version: 3, sources: [] });
    expect(await exported()).toBeUndefined();
  });

  it('has every pair of host and suffix once', async () => {
    await add('h');
    await add({ host: 'h', suffix: '1' });
    expect(await add('h')).toBe('400 already-exists $.args: the host "h" already exists in the allowlist');
    expect(await add({ host: 'h', suffix: '1' })).toBe(
      '400 already-exists $.args: the host "h" with suffix "1" already exists in the allowlist',
    );
    expect(await drop({ host: 'h', suffix: '2' })).toBe(
      '400 not-exists $.args: the host "h" with suffix "2" isn\'t present in the allowlist',
    );
    expect(await drop('g')).toBe('400 not-exists $.args: the host "g" isn\'t present in the allowlist');
  });

  it.each<[string, Json, string]>([
    ['add', '', 'bad-request $.args: key "host" cannot be empty'],
    ['add', { host: '' }, 'bad-request $.args: key "host" cannot be empty'],
    ['drop', '', 'bad-request $.args: hostname cannot be empty'],
    ['drop', {}, "parse-failed $.args: the key 'host' was not present"],
    ['add', { host: 1 }, 'parse-failed $.args.host: parsing Text failed, expected String, but encountered Number'],
    [
      'add',
      { host: 'x', permissions: ['anything'] },
      'parse-failed $.args.permissions[0]: unexpected value "anything" for TlsPermission; expecting one of self-signed',
    ],
  ])('%s rejects %j', async (operation, args, refusal) => {
    expect(await (operation === 'add' ? add(args) : drop(args))).toBe(`400 ${refusal}`);
  });
});
