/**
 * Secrets are planted in every option that can contain one; then a real process receives valid and invalid
 * requests. No log line, response or export may contain them.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { DEEP, sample } from '../support/deep.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { runSql, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { runService, type ServiceProcess } from '../support/process.ts';
import { rsaPair, token } from '../support/tokens.ts';

const PLANTED = 'p1anted';
const ADMIN = `${PLANTED}-admin`;
const HMAC = `${PLANTED}-hmac`.padEnd(64, '.');

let database: TestDatabase | undefined;
let outside: FakeServer | undefined;
let service: ServiceProcess | undefined;
afterEach(async () => {
  await service?.stop();
  await outside?.close();
  await database?.drop();
  service = undefined;
});

/** Starts the service with all logs enabled. */
async function start(access: Readonly<Record<string, string>>): Promise<string> {
  database = await testDatabase();
  const url = new URL(database.url);
  // A role of its own, so that the planted password is valid wherever the server requires it.
  const role = `svc_secret_${process.pid}`;
  await runSql(database.url, `drop role if exists ${role}; create role ${role} superuser login password '${PLANTED}-password'`);
  url.username = role;
  url.password = `${PLANTED}-password`;
  service = runService(['serve'], {
    DATABASE_URL: url.href,
    METADATA_DATABASE_URL: url.href,
    SERVER_PORT: '0',
    SERVER_HOST: '127.0.0.1',
    LOG_LEVEL: 'debug',
    DEV_MODE: 'true',
    ENABLED_LOG_TYPES:
      'startup,http-log,webhook-log,websocket-log,jwk-refresh-log,query-log,execution-log,livequery-poller-log,action-handler-log,health-check-log',
    ...access,
  });
  const [, address] = await service.find(/"url":"(http:[^"]+)"/);
  return address as string;
}

const OPERATIONS = [
  { type: 'export_metadata', args: {} },
  { type: 'export_metadata', version: 2, args: {} },
  { type: 'get_inconsistent_metadata', args: {} },
  { type: 'reload_metadata', args: { reload_sources: true } },
  {
    type: 'pg_add_source',
    args: {
      name: 'x',
      configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
      health_check: { interval: 1 },
    },
  },
  { type: 'pg_track_table', args: { table: 'nowhere' } },
  { type: 'nonsense', args: {} },
];

/** Every response to these requests, headers included. */
async function answers(address: string, credentials: readonly Record<string, string>[]): Promise<string> {
  const texts: string[] = [];
  for (const headers of credentials) {
    const send = async (path: string, init: RequestInit = {}): Promise<void> => {
      const answer = await fetch(address + path, { ...init, headers: { 'content-type': 'application/json', ...headers } });
      texts.push(JSON.stringify([...answer.headers]), await answer.text());
    };
    for (const path of ['/v1alpha1/config', '/healthz', '/healthz/sources', '/v1/version', '/nowhere']) await send(path);
    for (const operation of OPERATIONS) await send('/v1/metadata', { method: 'POST', body: JSON.stringify(operation) });
    for (const sql of ['select 1', 'select nonsense', 'broken']) {
      await send('/v2/query', { method: 'POST', body: JSON.stringify({ type: 'run_sql', args: { sql } }) });
    }
    for (const query of ['{ __typename }', '{ __schema { types { name } } }', '{ nowhere }', 'broken {']) {
      await send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query }) });
    }
    await send('/v1/graphql', { method: 'POST', body: '{' });
  }
  return texts.join('\n');
}

async function check(address: string, credentials: readonly Record<string, string>[]): Promise<void> {
  const text = await answers(address, [
    { 'x-svc-admin-secret': ADMIN },
    { 'x-svc-access-key': ADMIN, 'x-svc-role': 'user' },
    ...credentials,
  ]);
  expect(text).toContain('"is_admin_secret_set":true');
  expect(text).not.toContain(PLANTED);
  await service?.stop();
  const log = service?.output() ?? '';
  expect(log).toContain('"type":"http-log"');
  expect(log.split('\n').filter((line) => line.includes(PLANTED))).toEqual([]);
}

describe('planted secrets never leave the service', () => {
  it.runIf(DEEP)('in webhook mode', async () => {
    outside = await startFakeServer();
    outside.answer = ({ headers }) => {
      if (headers['x-wish'] === undefined) return { body: { 'X-Svc-Role': 'user', 'X-Svc-Admin-Secret': PLANTED } };
      return { status: Number(headers['x-wish']), body: PLANTED, headers: { 'x-note': PLANTED } };
    };
    const hook = new URL(outside.url);
    hook.username = 'user';
    hook.password = PLANTED;
    hook.search = `?key=${PLANTED}`;
    const address = await start({
      ADMIN_SECRETS: JSON.stringify([ADMIN, `${PLANTED}-2`]),
      ACCESS_KEY: `${PLANTED}-3`,
      AUTH_HOOK: hook.href,
    });
    const wishes = ['200', '401', '403', '500'].map((status) => ({
      'x-wish': status,
      authorization: `Bearer ${PLANTED}`,
      cookie: `a=${PLANTED}`,
    }));
    await check(address, [{}, ...wishes, { 'x-svc-admin-secret': `${PLANTED}-wrong` }]);
    expect(outside.requests[0]?.headers.authorization).toContain('Basic ');
    expect(outside.requests[0]?.path).toContain(PLANTED);
    expect(service?.output()).toContain('"type":"webhook-log"');
  });

  it('in JWT mode', async () => {
    outside = await startFakeServer();
    const rsa = rsaPair();
    outside.answer = () => ({ body: { keys: [rsa.jwk({ kid: PLANTED })] }, headers: { 'cache-control': 'max-age=0' } });
    const secrets = [
      { type: 'HS256', key: HMAC, issuer: `${PLANTED}-issuer`, audience: `${PLANTED}-audience` },
      { jwk_url: `${outside.url.replace('//', `//user:${PLANTED}@`)}/keys?key=${PLANTED}`, issuer: 'keys' },
    ];
    const address = await start({ ADMIN_SECRET: ADMIN, JWT_SECRETS: JSON.stringify(secrets), UNAUTHORIZED_ROLE: 'anonymous' });
    const claims = {
      'urn:svc:jwt:claims': { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user', 'x-svc-admin-secret': PLANTED },
    };
    const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });
    await check(address, [
      {},
      bearer(PLANTED),
      { authorization: PLANTED },
      bearer(token('RS256', rsa.privateKey, { header: { kid: PLANTED }, claims: { ...claims, iss: 'keys' } })),
      bearer(token('HS256', HMAC, { claims: { ...claims, iss: PLANTED } })),
      bearer(token('HS256', HMAC, { claims: { ...claims, iss: `${PLANTED}-issuer`, aud: `${PLANTED}-other` } })),
      bearer(token('HS256', HMAC, { claims: { ...claims, iss: `${PLANTED}-issuer`, aud: `${PLANTED}-audience`, exp: 1 } })),
      bearer(token('HS256', HMAC, { claims: { ...claims, iss: `${PLANTED}-issuer`, aud: `${PLANTED}-audience` } })),
    ]);
  });
});

describe('a failed start', () => {
  const REFUSED: readonly [string, Record<string, string>, string][] = [
    [
      'a webhook without secret',
      { AUTH_HOOK: `http://user:${PLANTED}@h/` },
      'Fatal Error : --auth-hook (SVC_GRAPHQL_AUTH_HOOK) requires --admin-secret (SVC_GRAPHQL_ADMIN_SECRET) or  --access-key (SVC_GRAPHQL_ACCESS_KEY) to be set\n',
    ],
    [
      'both modes',
      { ADMIN_SECRET: ADMIN, AUTH_HOOK: `http://h/?${PLANTED}`, JWT_SECRET: JSON.stringify({ type: 'HS256', key: HMAC }) },
      'Fatal Error: Both webhook and JWT mode cannot be enabled at the same time\n',
    ],
    [
      'a broken secret',
      { ADMIN_SECRET: ADMIN, JWT_SECRET: `{"key": ${PLANTED}` },
      'Fatal Error:- Environment variable SVC_GRAPHQL_JWT_SECRET: expecting JSON\n',
    ],
    [
      'a broken list',
      { ADMIN_SECRETS: `[${PLANTED}]` },
      'Fatal Error:- Environment variable SVC_GRAPHQL_ADMIN_SECRETS: expecting a JSON list of secrets, none of them empty\n',
    ],
  ];
  it.each(sample(REFUSED, 1))('prints only the reason: %s', async (_what, environment, message) => {
    const refused = runService(['serve'], environment);
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toBe(message);
  });

  it.runIf(DEEP)('prints no URL of unavailable keys', async () => {
    outside = await startFakeServer();
    outside.answer = () => ({ status: 500, body: PLANTED });
    database = await testDatabase();
    const refused = runService(['serve'], {
      DATABASE_URL: database.url,
      ADMIN_SECRET: ADMIN,
      SERVER_PORT: '0',
      JWT_SECRET: JSON.stringify({ jwk_url: `${outside.url}/keys?${PLANTED}` }),
    });
    expect(await refused.ended).toBe(1);
    expect(outside.requests).toHaveLength(6);
    expect(refused.output()).toContain(`Fatal Error: no keys from jwk_url ${outside.url}/keys?***: the answer has the status 500\n`);
    expect(refused.output()).not.toContain(PLANTED);
  });
});
