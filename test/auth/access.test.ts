/** Admin secrets, the unauthorized role, and options that depend on trust. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { token } from '../support/tokens.ts';

const KEY = 'k'.repeat(64);
const SECRETS = ['first secret', 'second secret'];
const JWT_SECRET = JSON.stringify({ type: 'HS256', key: KEY });
const QUERY = '{ note(order_by: {id: asc}) { id } }';

async function prepared(options: Readonly<Record<string, string>>, secret?: string): Promise<TestService> {
  const service = await startTestService(options);
  const administer = async (path: string, type: string, args: unknown): Promise<void> => {
    const headers: Record<string, string> = secret === undefined ? {} : { 'x-svc-admin-secret': secret };
    const answer = await service.send(path, { method: 'POST', headers, body: JSON.stringify({ type, args }) });
    expect(answer.status).toBe(200);
  };
  await administer('/v2/query', 'run_sql', {
    sql: "create table note (id int primary key, owner text); insert into note values (1, 'ann'), (2, 'bob'), (3, 'nobody')",
  });
  await administer('/v1/metadata', 'pg_track_table', { table: 'note' });
  for (const [role, filter] of [
    ['user', { owner: 'X-Svc-User-Id' }],
    ['anonymous', { owner: 'nobody' }],
  ] as const) {
    await administer('/v1/metadata', 'pg_create_select_permission', { table: 'note', role, permission: { columns: ['id'], filter } });
  }
  await administer('/v1/metadata', 'pg_create_insert_permission', {
    table: 'note',
    role: 'user',
    permission: { columns: ['id'], check: {}, backend_only: true },
  });
  return service;
}

const ask = (service: TestService, headers: Record<string, string> = {}, query = QUERY): Promise<Answer> =>
  service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
const ids = (...wanted: readonly number[]): unknown => ({ data: { note: wanted.map((id) => ({ id })) } });
const INSERT = '{ __type(name: "mutation_root") { fields { name } } }';

describe('several admin secrets', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await prepared({ ADMIN_SECRETS: JSON.stringify(SECRETS), ADMIN_SECRET: 'overruled' }, SECRETS[0]);
  });
  afterAll(() => service.stop());

  it('are all accepted, under both header names, and nothing else is', async () => {
    for (const secret of SECRETS) {
      for (const name of ['X-Svc-Admin-Secret', 'x-svc-access-key'])
        expect((await ask(service, { [name]: secret })).json).toEqual(ids(1, 2, 3));
    }
    for (const secret of ['overruled', '', 'first secre', 'first secret!', 'First secret', SECRETS.join(',')]) {
      expect((await ask(service, { 'x-svc-admin-secret': secret })).json).toEqual({
        errors: [
          {
            message: 'invalid "x-svc-admin-secret"/"x-svc-access-key"',
            extensions: { path: '$', code: 'access-denied', suggestions: ['Send the admin secret of the service as X-Svc-Admin-Secret.'] },
          },
        ],
      });
    }
    expect((await ask(service)).json).toMatchObject({
      errors: [{ message: 'x-svc-admin-secret/x-svc-access-key required, but not found', extensions: { code: 'access-denied' } }],
    });
  });

  it('permit any role with session variables from the headers', async () => {
    const trusted = { 'x-svc-admin-secret': SECRETS[1] as string };
    expect((await ask(service, { ...trusted, 'X-Svc-Role': 'user', 'X-SVC-User-ID': 'bob' })).json).toEqual(ids(2));
    expect((await ask(service, { ...trusted, 'x-svc-role': '' })).json).toEqual(ids(1, 2, 3));
  });

  it('permit backend-only permissions on explicit request', async () => {
    const trusted = { 'x-svc-admin-secret': SECRETS[0] as string, 'x-svc-role': 'user' };
    const sees = async (value: string): Promise<boolean> =>
      (await ask(service, { ...trusted, 'x-svc-use-backend-only-permissions': value }, INSERT)).text.includes('insert_note');
    expect([await sees('true'), await sees('T'), await sees('yes'), await sees('Y')]).toEqual([true, true, true, true]);
    expect([await sees('false'), await sees('n')]).toEqual([false, false]);
    const answer = await ask(service, { ...trusted, 'x-svc-use-backend-only-permissions': '1' }, INSERT);
    expect(answer.json).toEqual({
      errors: [
        {
          message:
            '"x-svc-use-backend-only-permissions":  Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive',
          extensions: { path: '$', code: 'bad-request' },
        },
      ],
    });
  });

  it('do not appear in log records', () => {
    for (const secret of SECRETS) expect(JSON.stringify(service.observations)).not.toContain(secret);
  });
});

it('accepts an access key as an admin secret', async () => {
  const service = await prepared({ ACCESS_KEY: 'old key' }, 'old key');
  try {
    expect((await ask(service, { 'x-svc-access-key': 'old key' })).json).toEqual(ids(1, 2, 3));
    expect((await ask(service)).json).toMatchObject({ errors: [{ extensions: { code: 'access-denied' } }] });
    expect(service.observations.some((o) => o.kind === 'startup' && o.message === 'open_access')).toBe(false);
  } finally {
    await service.stop();
  }
});

describe('a service without a secret', () => {
  it('accepts any role, admin by default, and warns in the log', async () => {
    const service = await prepared({});
    try {
      expect((await ask(service)).json).toEqual(ids(1, 2, 3));
      expect((await ask(service, { 'x-svc-role': 'user', 'x-svc-user-id': 'ann' })).json).toEqual(ids(1));
      expect((await ask(service, { 'x-svc-role': 'user', 'x-svc-use-backend-only-permissions': 'yes' }, INSERT)).text).toContain(
        'insert_note',
      );
      expect(service.observations.some((o) => o.kind === 'startup' && o.message === 'open_access')).toBe(true);
    } finally {
      await service.stop();
    }
  });
});

describe.each([
  ['secrets', {}],
  ['tokens', { JWT_SECRET }],
])('the unauthorized role beside %s', (_what, options: Record<string, string>) => {
  let service: TestService;
  const claims = { 'urn:svc:jwt:claims': { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user', 'x-svc-user-id': 'bob' } };
  beforeAll(async () => {
    service = await prepared({ ADMIN_SECRET: 'secret', UNAUTHORIZED_ROLE: 'anonymous', ...options }, 'secret');
  });
  afterAll(() => service.stop());

  it('applies to requests without credentials, whatever headers they have', async () => {
    for (const headers of [{}, { 'x-svc-role': 'admin' }, { 'x-svc-role': 'user', 'x-svc-user-id': 'ann' }, { cookie: 'a=b' }]) {
      expect((await ask(service, headers as Record<string, string>)).json).toEqual(ids(3));
    }
    const nonsense = { 'x-svc-role': 'user', 'x-svc-use-backend-only-permissions': 'nonsense' };
    expect((await ask(service, nonsense)).json).toEqual(ids(3));
    expect((await ask(service, { 'x-svc-use-backend-only-permissions': 'true', 'x-svc-role': 'user' }, INSERT)).text).not.toContain(
      'insert_note',
    );
  });

  it('has no access to administration', async () => {
    for (const path of ['/v1/metadata', '/v2/query']) {
      const answer = await service.send(path, { method: 'POST', body: '{"type":"export_metadata","args":{}}' });
      expect(answer).toMatchObject({ status: 400, json: { code: 'access-denied' } });
    }
    const report = await service.send('/v1alpha1/config', { headers: { 'x-svc-role': 'admin' } });
    expect(report).toMatchObject({
      status: 400,
      json: {
        path: '$',
        error: 'You have to be an admin to access this endpoint',
        code: 'access-denied',
        suggestions: ['Send the admin secret of the service as X-Svc-Admin-Secret.'],
      },
    });
  });

  it('does not apply to invalid credentials', async () => {
    expect((await ask(service, { 'x-svc-admin-secret': 'wrong' })).json).toMatchObject({
      errors: [{ extensions: { code: 'access-denied' } }],
    });
    if (options['JWT_SECRET'] === undefined) return;
    for (const authorization of ['Bearer abc', 'Basic abc', `Bearer ${token('HS256', 'x'.repeat(64), { claims })}`]) {
      expect((await ask(service, { authorization })).json).toMatchObject({ errors: [{ extensions: { path: '$' } }] });
    }
    expect((await ask(service, { authorization: `Bearer ${token('HS256', KEY, { claims })}` })).json).toEqual(ids(2));
  });
});

it.runIf(DEEP)('warns in the log if the unauthorized role is admin', async () => {
  const service = await prepared({ ADMIN_SECRET: 'secret', UNAUTHORIZED_ROLE: 'admin' }, 'secret');
  try {
    expect((await ask(service)).json).toEqual(ids(1, 2, 3));
    const told = service.observations.find((o) => o.kind === 'startup' && o.message === 'open_access');
    expect(JSON.stringify(told)).toContain('the unauthorized role is admin');
  } finally {
    await service.stop();
  }
});

describe('JWT authentication without an unauthorized role', () => {
  it('requires a token, and answers 401 only for wrong secrets', async () => {
    const service = await prepared({ ADMIN_SECRET: 'secret', JWT_SECRET, PRESERVE_401_ERRORS: 'true' }, 'secret');
    try {
      const missing = await ask(service);
      expect(missing.status).toBe(200);
      expect(missing.json).toEqual({
        errors: [
          {
            message: "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
            extensions: {
              path: '$',
              code: 'invalid-headers',
              suggestions: ['Send Authorization: Bearer <token>, or X-Svc-Admin-Secret.'],
            },
          },
        ],
      });
      expect((await ask(service, { 'x-svc-admin-secret': 'wrong' })).status).toBe(401);
      expect((await ask(service, { 'x-svc-admin-secret': 'secret', authorization: 'Basic x' })).json).toEqual(ids(1, 2, 3));
    } finally {
      await service.stop();
    }
  });
});
