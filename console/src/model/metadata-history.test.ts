import { expect, it } from 'vitest';
import { historyEntries, objectChanges } from './metadata-history.ts';

it('names the author of a change by user, credentials, client and address', () => {
  const entry = { resource_version: 4, at: '2024-05-01T10:00:00Z', operations: ['pg_track_table'], object_count: 1, has_objects: true };
  const authors = historyEntries({
    history: [
      { ...entry, role: 'admin', user: '7', credentials: 'jwt', client: 'svc-cli', ip: '10.0.0.1' },
      { ...entry, role: 'admin', user: null, credentials: 'admin-secret', client: null, ip: null },
      { ...entry, role: null, user: null, credentials: null, client: null, ip: null },
    ],
  }).map(({ author }) => author);
  expect(authors).toEqual(['user 7 (token, svc-cli, 10.0.0.1)', 'admin (admin secret)', 'the service']);
});

it('names changed objects, and tells added from removed ones', () => {
  expect(
    objectChanges({
      objects: [
        { type: 'table', source: 'default', name: 'public.album', before: null, after: { table: 'album' } },
        { type: 'inherited_role', name: 'all', before: { role_name: 'all' }, after: null },
        { type: 'section', name: 'api_limits', before: { a: 1 }, after: { a: 2 } },
      ],
    }),
  ).toEqual([
    { label: 'table public.album of default', kind: 'added', before: undefined, after: { table: 'album' } },
    { label: 'inherited role all', kind: 'removed', before: { role_name: 'all' }, after: undefined },
    { label: 'api limits', kind: 'changed', before: { a: 1 }, after: { a: 2 } },
  ]);
});
