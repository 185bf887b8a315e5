import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { playServer } from '../support/played-server.ts';
import { startTestService } from '../support/service.ts';

const SECRET = 'open sesame';

async function report(options: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly json: Json }> {
  const service = await startTestService(options);
  try {
    const headers: Record<string, string> = options['ADMIN_SECRET'] === undefined ? {} : { 'x-svc-admin-secret': SECRET };
    const { status, json } = await service.send('/v1alpha1/config', { headers });
    return { status, json };
  } finally {
    await service.stop();
  }
}

const jwt = (more: object = {}): string => JSON.stringify({ type: 'HS256', key: 'k'.repeat(64), ...more });

describe('the config report', () => {
  it('of an open service', async () => {
    expect(await report({ INFER_FUNCTION_PERMISSIONS: 'false' })).toEqual({
      status: 200,
      json: {
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        is_function_permissions_inferred: false,
        is_remote_schema_permissions_enabled: false,
        is_admin_secret_set: false,
        is_auth_hook_set: false,
        is_jwt_set: false,
        jwt: null,
        is_allow_list_enabled: false,
        live_queries: { batch_size: 100, refetch_delay: 1 },
        streaming_queries: { batch_size: 100, refetch_delay: 1 },
        default_naming_convention: 'svc-default',
        experimental_features: [],
      },
    });
  });

  it.each<[string, object, Json]>([
    ['of defaults', {}, { claims_namespace: 'urn:svc:jwt:claims', claims_format: 'json' }],
    [
      'of a path',
      { claims_namespace_path: '$.a', claims_format: 'stringified_json' },
      { claims_namespace_path: '$.a', claims_format: 'stringified_json' },
    ],
    [
      'of a map',
      { claims_map: { 'x-svc-allowed-roles': ['a'], 'x-svc-default-role': { path: '$.r', default: 'a' } } },
      {
        claims_namespace: 'urn:svc:jwt:claims',
        claims_format: 'json',
        claims_map: { 'x-svc-allowed-roles': ['a'], 'x-svc-default-role': { path: '$.r', default: 'a' } },
      },
    ],
  ])('of tokens with claims %s', async (_what, secret, expected) => {
    const first = await report({ ADMIN_SECRET: SECRET, JWT_SECRET: jwt(secret) });
    expect(first.json).toMatchObject({ is_admin_secret_set: true, is_jwt_set: true, is_function_permissions_inferred: true });
    expect((first.json as { jwt: Json }).jwt).toEqual(expected);
  });

  it('of several secrets is about the first', async () => {
    const { json } = await report({ ADMIN_SECRET: SECRET, JWT_SECRETS: `[${jwt({ claims_namespace: 'first' })},${jwt()}]` });
    expect(json).toMatchObject({ jwt: { claims_namespace: 'first' } });
  });

  it('of a webhook', async () => {
    const hook = await playServer();
    expect((await report({ ADMIN_SECRET: SECRET, AUTH_HOOK: hook.url })).json).toMatchObject({
      is_auth_hook_set: true,
      is_jwt_set: false,
      jwt: null,
    });
    expect(hook.requests).toHaveLength(0);
    await hook.close();
  });

  it('can be switched off', async () => {
    expect(await report({ ENABLED_APIS: 'metadata,graphql' })).toEqual({
      status: 404,
      json: { path: '$', error: 'resource does not exist', code: 'not-found' },
    });
  });
});
