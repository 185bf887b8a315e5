import { describe, expect, it } from 'vitest';
import { readInconsistency } from './inconsistent.ts';
import type { Json } from './json.ts';

const SOURCES = [
  { name: 'b', defaultSchema: 'public' },
  { name: 'a in source b', defaultSchema: '' },
];

function placeOf(type: string, name: string, definition: Json): unknown {
  return readInconsistency({ type, name, definition, reason: 'why' }, SOURCES).objects[0]?.place;
}

describe('pages of inconsistent objects', () => {
  it('finds the source of a table by its name, the longest match', () => {
    const table = { schema: 'public', name: 't' };
    expect(placeOf('table', 'table t in source b', table)).toEqual({ path: ['data', 'b', 'public.t'], query: { tab: 'json' } });
    expect(placeOf('table', 'table t in source a in source b', { name: 't' })).toEqual({
      path: ['data', 'a in source b', 't'],
      query: { tab: 'json' },
    });
    expect(placeOf('table', 'table t in source c', table)).toBeUndefined();
  });

  it.each([
    ['source', 'b', { path: ['data', 'b'], query: {} }],
    [
      'select_permission',
      { source: 'b', table: 't', role: 'reader' },
      { path: ['data', 'b', 'public.t'], query: { tab: 'permissions', role: 'reader', operation: 'select' } },
    ],
    [
      'array_relation',
      { source: 'b', table: { dataset: 'd', name: 't' }, name: 'r' },
      { path: ['data', 'b', 'd.t'], query: { tab: 'relationships' } },
    ],
    ['computed_field', { source: 'b', table: 't' }, { path: ['data', 'b', 'public.t'], query: { tab: 'fields' } }],
    ['event_trigger', { source: 'b', table: 't', configuration: { name: 'e' } }, { path: ['events', 'triggers', 'b', 'e'], query: {} }],
    ['function_permission', { source: 'b', function: 'f', role: 'r' }, { path: ['data', 'b'], query: { tab: 'functions' } }],
    ['remote_schema_permission', { remote_schema: 'x', role: 'r' }, { path: ['remote-schemas'], query: {} }],
    ['action', { name: 'act', definition: {} }, { path: ['actions', 'act'], query: {} }],
    ['custom_types', {}, { path: ['actions'], query: { tab: 'types' } }],
    ['cron_trigger', { name: 'nightly' }, { path: ['events', 'cron'], query: {} }],
    ['inherited_role', { role_name: 'both' }, { path: ['settings'], query: { tab: 'roles' } }],
    ['misspelt', { source: 'b', table: 't', name: 'n', definition: 1 }, { path: ['data', 'b', 'public.t'], query: { tab: 'json' } }],
    ['native_query', { source: 'b', name: 'n', definition: 1 }, { path: ['data', 'b'], query: {} }],
    ['opentelemetry', 'logs', undefined],
  ] as const)('leads from a %s to its page', (type, definition, place) => {
    expect(placeOf(type, 'some name', definition)).toEqual(place);
  });

  it('links each of several conflicting objects', () => {
    const { reason, objects } = readInconsistency(
      {
        reason: 'Conflicting objects: a field of both',
        objects: [
          { type: 'action', name: 'action a', definition: { name: 'a' } },
          { type: 'remote_schema', name: 'remote_schema r', definition: { name: 'r' } },
        ],
      },
      SOURCES,
    );
    expect(reason).toBe('Conflicting objects: a field of both');
    expect(objects.map(({ name, place }) => [name, place?.path])).toEqual([
      ['action a', ['actions', 'a']],
      ['remote_schema r', ['remote-schemas']],
    ]);
  });
});
