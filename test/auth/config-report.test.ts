import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { startFakeServer } from '../support/fake-server.ts';
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

describe('the configuration report', () => {
  it('describes an open service', async () => {
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
        dev_mode: false,
        stringify_numeric_types: false,
        enabled_apis: ['metadata', 'graphql', 'pgdump', 'config'],
        unauthorized_role: null,
        is_introspection_disabled: false,
        is_metadata_read_only: false,
        console: { enabled: false, read_only: false, label: null },
        limits: {
          request_body_bytes: 16_777_216,
          request_timeout: 120,
          batch: 100,
          query_depth: 100,
          query_tokens: 10_000,
          query_nodes: 5000,
        },
      },
    });
  });

  it('lists every option on request, and no secret', async () => {
    const service = await startTestService({ ADMIN_SECRET: SECRET, CONSOLE_LABEL: 'STAGING', JWT_SECRET: jwt() });
    try {
      const headers = { 'x-svc-admin-secret': SECRET };
      const { json, text } = await service.send('/v1alpha1/config?options=true', { headers });
      const options = new Map((json as { options: { flag: string }[] }).options.map((option) => [option.flag, option]));
      expect(options.get('console-label')).toMatchObject({ variable: 'SVC_GRAPHQL_CONSOLE_LABEL', value: 'STAGING', is_default: false });
      expect(options.get('batch-limit')).toMatchObject({ value: '100', is_default: true, group: 'Limits', type: 'integer' });
      expect(options.get('admin-secret')).toMatchObject({ is_default: false });
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('kkkk');
      expect(text).not.toMatch(/postgres(?:ql)?:\/\/[^*]*:[^*@]+@/);
      expect((await service.send('/v1alpha1/config', { headers })).json).not.toHaveProperty('options');
      expect(await service.send('/v1alpha1/config?options=true')).toMatchObject({ status: 400, json: { code: 'invalid-headers' } });
    } finally {
      await service.stop();
    }
  });

  it.each(
    sample<[string, object, Json]>(
      [
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
      ],
      1,
    ),
  )('describes JWT with claims %s', async (_what, secret, expected) => {
    const first = await report({ ADMIN_SECRET: SECRET, JWT_SECRET: jwt(secret) });
    expect(first.json).toMatchObject({ is_admin_secret_set: true, is_jwt_set: true, is_function_permissions_inferred: true });
    expect((first.json as { jwt: Json }).jwt).toEqual(expected);
  });

  it.runIf(DEEP)('describes the first of several secrets', async () => {
    const { json } = await report({ ADMIN_SECRET: SECRET, JWT_SECRETS: `[${jwt({ claims_namespace: 'first' })},${jwt()}]` });
    expect(json).toMatchObject({ jwt: { claims_namespace: 'first' } });
  });

  it.runIf(DEEP)('describes a webhook', async () => {
    const hook = await startFakeServer();
    expect((await report({ ADMIN_SECRET: SECRET, AUTH_HOOK: hook.url })).json).toMatchObject({
      is_auth_hook_set: true,
      is_jwt_set: false,
      jwt: null,
    });
    expect(hook.requests).toHaveLength(0);
    await hook.close();
  });

  it('can be disabled', async () => {
    expect(await report({ ENABLED_APIS: 'metadata,graphql' })).toEqual({
      status: 404,
      json: { path: '$', error: 'resource does not exist', code: 'not-found' },
    });
  });
});
