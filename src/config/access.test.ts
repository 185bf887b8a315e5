import { describe, expect, it } from 'vitest';
import { adminSecretsOf, jwtSecretsOf } from './access.ts';
import { describeConfig, loadConfig } from './load-config.ts';
import type { Config } from './options.ts';

const KEY = JSON.stringify({ type: 'HS256', key: 'k'.repeat(32) });
const load = (environment: Record<string, string>): Config =>
  loadConfig({
    argv: [],
    environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [`SVC_GRAPHQL_${name}`, value])),
  });

describe('authentication options', () => {
  it.each<[string, Record<string, string>, string]>([
    [
      'a webhook without an admin secret',
      { AUTH_HOOK: 'http://h/' },
      'Fatal Error : --auth-hook (SVC_GRAPHQL_AUTH_HOOK) requires --admin-secret (SVC_GRAPHQL_ADMIN_SECRET) or  --access-key (SVC_GRAPHQL_ACCESS_KEY) to be set',
    ],
    [
      'JWT mode without an admin secret',
      { JWT_SECRET: KEY },
      'Fatal Error : --jwt-secret (SVC_GRAPHQL_JWT_SECRET) requires --admin-secret (SVC_GRAPHQL_ADMIN_SECRET) or  --access-key (SVC_GRAPHQL_ACCESS_KEY) to be set',
    ],
    [
      'webhook and JWT mode together',
      { ADMIN_SECRET: 's', AUTH_HOOK: 'http://h/', JWT_SECRETS: `[${KEY}]` },
      'Fatal Error: Both webhook and JWT mode cannot be enabled at the same time',
    ],
    [
      'an unauthorized role with a webhook',
      { ADMIN_SECRET: 's', AUTH_HOOK: 'http://h/', UNAUTHORIZED_ROLE: 'nobody' },
      'Fatal Error: --unauthorized-role (SVC_GRAPHQL_UNAUTHORIZED_ROLE) requires --admin-secret (SVC_GRAPHQL_ADMIN_SECRET) or  --access-key (SVC_GRAPHQL_ACCESS_KEY) to be set and is not allowed when --auth-hook (SVC_GRAPHQL_AUTH_HOOK) is set',
    ],
    ['an unauthorized role without an admin secret', { UNAUTHORIZED_ROLE: 'nobody' }, 'Fatal Error: --unauthorized-role'],
    [
      'a broken JWT secret',
      { ADMIN_SECRET: 's', JWT_SECRET: '{}' },
      'Fatal Error:- Environment variable SVC_GRAPHQL_JWT_SECRET: key and jwk_url both cannot be empty',
    ],
    [
      'an empty JWT secret',
      { ADMIN_SECRET: 's', JWT_SECRET: '' },
      'Fatal Error:- Environment variable SVC_GRAPHQL_JWT_SECRET: expecting JSON',
    ],
    ['a webhook with an invalid URL', { ADMIN_SECRET: 's', AUTH_HOOK: 'hook' }, 'Fatal Error:- Environment variable SVC_GRAPHQL_AUTH_HOOK'],
    [
      'an invalid webhook method',
      { ADMIN_SECRET: 's', AUTH_HOOK_TYPE: 'PUT' },
      'Fatal Error:- Environment variable SVC_GRAPHQL_AUTH_HOOK_TYPE: expecting GET or POST',
    ],
  ])('reject %s', (_what, environment, message) => {
    let found = '';
    try {
      load(environment);
    } catch (error) {
      found = (error as Error).message;
    }
    expect(found.slice(0, message.length)).toBe(message);
  });

  it('prefer the list of secrets to the single one, and that to its older name', () => {
    const secrets = (environment: Record<string, string>): readonly string[] => adminSecretsOf(load(environment));
    expect(secrets({})).toEqual([]);
    expect(secrets({ ACCESS_KEY: 'a' })).toEqual(['a']);
    expect(secrets({ ACCESS_KEY: 'a', ADMIN_SECRET: 'b' })).toEqual(['b']);
    expect(secrets({ ACCESS_KEY: 'a', ADMIN_SECRET: 'b', ADMIN_SECRETS: '["c","d"]' })).toEqual(['c', 'd']);
    const both = load({ ADMIN_SECRET: 's', JWT_SECRET: KEY, JWT_SECRETS: `[${KEY},${KEY}]` });
    expect(jwtSecretsOf(both)).toHaveLength(2);
  });

  it('read the older variable if the newer one is not set', () => {
    expect(load({ AUTH_HOOK_TYPE: 'post' }).authHookMode).toBe('POST');
    expect(load({ AUTH_HOOK_TYPE: 'POST', AUTH_HOOK_MODE: 'get' }).authHookMode).toBe('GET');
  });

  it('are shown without secrets', () => {
    const shown = describeConfig(
      load({
        ACCESS_KEY: 'planted',
        AUTH_HOOK: 'https://planted:planted@hook.example/path?token=planted#planted',
        ADMIN_SECRETS: '["planted"]',
      }),
    );
    expect(JSON.stringify(shown)).not.toContain('planted');
    expect(shown['auth_hook']).toBe('https://***@hook.example/path?***');
    const jwt = load({
      ADMIN_SECRET: 'planted',
      JWT_SECRET: JSON.stringify({ jwk_url: 'https://id.example/?planted', issuer: 'planted' }),
    });
    expect(JSON.stringify(describeConfig(jwt))).not.toContain('planted');
  });
});
