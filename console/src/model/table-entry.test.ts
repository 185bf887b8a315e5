import { describe, expect, it } from 'vitest';
import { tableSteps, withMember } from './table-entry.ts';

const address = { source: 'default', kind: 'pg', table: { schema: 'public', name: 'album' } };
const { source, table } = address;
const entry = {
  table,
  object_relationships: [{ name: 'artist', using: { foreign_key_constraint_on: 'artist_id' } }],
  select_permissions: [{ role: 'customer', permission: { columns: ['id'], filter: {} } }],
};

describe('steps between two entries of a table', () => {
  it('are none between equal entries', () => {
    expect(tableSteps(address, entry, structuredClone(entry))).toEqual([]);
  });

  it('track a table with its whole entry, and untrack it', () => {
    expect(tableSteps(address, null, entry).map(({ type }) => type)).toEqual([
      'pg_track_table',
      'pg_create_object_relationship',
      'pg_create_select_permission',
    ]);
    expect(tableSteps(address, entry, null)).toEqual([{ type: 'pg_untrack_table', args: { source, table, cascade: true } }]);
  });

  it('drop and recreate only what changed', () => {
    const permission = { columns: ['id', 'title'], filter: {} };
    const after = withMember(entry, 'select_permissions', 'role', 'customer', { role: 'customer', permission });
    expect(tableSteps(address, entry, after)).toEqual([
      { type: 'pg_drop_select_permission', args: { source, table, role: 'customer' } },
      { type: 'pg_create_select_permission', args: { source, table, role: 'customer', permission } },
    ]);
  });

  it('drop permissions before relationships', () => {
    expect(tableSteps(address, entry, { table }).map(({ type }) => type)).toEqual(['pg_drop_select_permission', 'pg_drop_relationship']);
  });

  it('recreate permissions that name a recreated field', () => {
    const field = { name: 'title_short', definition: { function: 'a' } };
    const permission = { columns: ['id'], filter: {}, computed_fields: ['title_short'] };
    const others = entry.select_permissions;
    const before = { ...entry, computed_fields: [field], select_permissions: [...others, { role: 'clerk', permission }] };
    const after = { ...before, computed_fields: [{ ...field, definition: { function: 'b' } }] };
    expect(tableSteps(address, before, after).map(({ type, args }) => [type, args['role'] ?? args['name']])).toEqual([
      ['pg_drop_select_permission', 'clerk'],
      ['pg_drop_computed_field', 'title_short'],
      ['pg_add_computed_field', 'title_short'],
      ['pg_create_select_permission', 'clerk'],
    ]);
  });

  it('replace a remote relationship and an event trigger in place', () => {
    const remote = { name: 'country', definition: { to_remote_schema: { remote_schema: 'countries' } } };
    const trigger = { name: 'on_album', webhook: 'http://a', definition: { enable_manual: true, insert: { columns: '*' } } };
    const before = { ...entry, remote_relationships: [remote], event_triggers: [trigger] };
    const definition = { to_remote_schema: { remote_schema: 'states' } };
    const after = { ...entry, remote_relationships: [{ ...remote, definition }], event_triggers: [{ ...trigger, webhook: 'http://b' }] };
    expect(tableSteps(address, before, after)).toEqual([
      { type: 'pg_update_remote_relationship', args: { source, table, name: 'country', definition } },
      {
        type: 'pg_create_event_trigger',
        args: { source, table, name: 'on_album', webhook: 'http://b', enable_manual: true, insert: { columns: '*' }, replace: true },
      },
    ]);
    expect(tableSteps(address, entry, { ...entry, event_triggers: [trigger] })).toEqual([
      {
        type: 'pg_create_event_trigger',
        args: { source, table, name: 'on_album', webhook: 'http://a', enable_manual: true, insert: { columns: '*' } },
      },
    ]);
  });

  it('reject keys that no operation sets', () => {
    expect(() => tableSteps(address, entry, { ...entry, columns: [] })).toThrow('"columns" cannot be changed here');
  });
});
