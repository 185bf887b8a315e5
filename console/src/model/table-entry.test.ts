import { describe, expect, it } from 'vitest';
import { tableSteps, withMember } from './table-entry.ts';

const address = { source: 'default', kind: 'pg', table: { schema: 'public', name: 'album' } };
const { source, table } = address;
const entry = {
  table,
  object_relationships: [{ name: 'artist', using: { foreign_key_constraint_on: 'artist_id' } }],
  select_permissions: [{ role: 'customer', permission: { columns: ['id'], filter: {} } }],
};

describe('the steps from one entry of a table to another', () => {
  it('are none between equals', () => {
    expect(tableSteps(address, entry, structuredClone(entry))).toEqual([]);
  });

  it('track a table with all that its entry holds, and untrack it', () => {
    expect(tableSteps(address, null, entry).map(({ type }) => type)).toEqual([
      'pg_track_table',
      'pg_create_object_relationship',
      'pg_create_select_permission',
    ]);
    expect(tableSteps(address, entry, null)).toEqual([{ type: 'pg_untrack_table', args: { source, table, cascade: true } }]);
  });

  it('drop and make anew what changed, and nothing else', () => {
    const permission = { columns: ['id', 'title'], filter: {} };
    const after = withMember(entry, 'select_permissions', 'role', 'customer', { role: 'customer', permission });
    expect(tableSteps(address, entry, after)).toEqual([
      { type: 'pg_drop_select_permission', args: { source, table, role: 'customer' } },
      { type: 'pg_create_select_permission', args: { source, table, role: 'customer', permission } },
    ]);
  });

  it('drop permissions before the relationships that they may read', () => {
    expect(tableSteps(address, entry, { table }).map(({ type }) => type)).toEqual(['pg_drop_select_permission', 'pg_drop_relationship']);
  });

  it('refuse keys that no operation sets', () => {
    expect(() => tableSteps(address, entry, { ...entry, columns: [] })).toThrow('"columns" cannot be changed here');
  });
});
