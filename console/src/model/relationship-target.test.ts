import { describe, expect, it } from 'vitest';
import { missingOf, NO_TARGET, targetDefinition, targetDraft } from './relationship-target.ts';
import type { JsonObject } from './json.ts';
import { labelOf } from './steps.ts';

const TABLE = { schema: 'public', name: 'customer' };

const DEFINITIONS: readonly JsonObject[] = [
  { to_source: { relationship_type: 'array', source: 'other', table: TABLE, field_mapping: { a: 'b', c: 'd' } } },
  {
    to_remote_schema: {
      remote_schema: 'countries',
      lhs_fields: ['code'],
      remote_field: { country: { arguments: { code: '$code' } } },
      batch: { match_field: 'code' },
    },
  },
];

describe('target of a relationship', () => {
  it.each(DEFINITIONS)('round-trips %j', (definition) => {
    expect(targetDefinition(targetDraft(definition, labelOf), TABLE, definition)).toEqual(definition);
  });

  it('reads the format before to_remote_schema', () => {
    const old = { remote_schema: 'countries', svc_fields: ['code'], remote_field: { country: { arguments: { code: '$code' } } } };
    expect(targetDraft(old, labelOf)).toMatchObject({ to: 'remote', remoteSchema: 'countries', field: 'country(code: $code)' });
  });

  it('names missing fields', () => {
    expect(missingOf(NO_TARGET)).toBe('Select a table');
    expect(missingOf({ ...NO_TARGET, source: 's', table: 't' })).toBe('Map at least one field');
    expect(missingOf({ ...NO_TARGET, to: 'remote', remoteSchema: 'r' })).toBe('Enter a field');
  });
});
