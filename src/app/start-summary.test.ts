import { expect, it } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { startSummary } from './start-summary.ts';

const snapshot = { metadata: { sources: new Map() }, cache: { unavailable: { sources: [] } } } as unknown as Snapshot;
const openTo = (...argv: string[]): readonly string[] =>
  startSummary(loadConfig({ argv, environment: {} }), 'http://h:1', snapshot).open_to;

it('lists who has access to the service', () => {
  expect(openTo()).toEqual(['everyone who can reach the port, as administrator: no admin secret is set']);
  expect(openTo('--server-host', '127.0.0.1')).toEqual(['everyone on this host, as administrator: no admin secret is set']);
  const secret = ['--admin-secret', 'hush'];
  const holders = 'holders of the admin secret, as administrators';
  expect(openTo(...secret)).toEqual([holders]);
  expect(openTo(...secret, '--unauthorized-role', 'public')).toEqual([holders, 'everyone else, as "public" (--unauthorized-role)']);
  expect(openTo(...secret, '--auth-hook', 'https://u:hush@h/p?k=hush')).toEqual([
    holders,
    'requests that the webhook https://***@h/p?*** accepts, in the role that it returns',
  ]);
  expect(openTo(...secret, '--jwt-secret', JSON.stringify({ type: 'HS256', key: 'k'.repeat(32) }))).toEqual([
    holders,
    'holders of a valid JWT, in the roles of its claims',
  ]);
});
