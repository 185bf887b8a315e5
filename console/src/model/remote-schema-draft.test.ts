import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { hasNames, missingOfRemoteSchema, remoteSchemaDraft, writtenRemoteSchema } from './remote-schema-draft.ts';

const ENTRIES: readonly JsonObject[] = [
  { name: 'plain', definition: { url: 'http://x/{{A}}', timeout_seconds: 60 } },
  {
    name: 'all',
    comment: 'What is known.',
    definition: {
      url_from_env: 'URL',
      timeout_seconds: 5,
      forward_client_headers: true,
      headers: [
        { name: 'a', value: 'b' },
        { name: 'c', value_from_env: 'D' },
      ],
      customization: {
        root_fields_namespace: 'world',
        type_names: { prefix: 'W', suffix: '_x', mapping: { Country: 'Land' } },
        field_names: [
          { parent_type: 'Query', prefix: 'w_', mapping: { country: 'land' } },
          { parent_type: 'Country', suffix: '_y' },
        ],
        kept: { of: 'another version' },
      },
      unknown: [1],
    },
  },
];

describe('the form of a remote schema', () => {
  it.each(ENTRIES)('writes $name as it was read, with what it does not show', (entry) => {
    expect(writtenRemoteSchema(remoteSchemaDraft(entry), entry)).toEqual(entry);
  });

  it('begins with a variable, and says what is missing', () => {
    const draft = remoteSchemaDraft();
    expect(draft).toMatchObject({ isFromEnvironment: true, timeout: '60' });
    expect(missingOfRemoteSchema(draft)).toBe('Give it a name');
    expect(missingOfRemoteSchema({ ...draft, name: 'a' })).toContain('variable');
    expect(missingOfRemoteSchema({ ...draft, name: 'a', isFromEnvironment: false })).toContain('URL');
    expect(missingOfRemoteSchema({ ...draft, name: 'a', variable: 'URL' })).toBeUndefined();
    expect(hasNames(draft)).toBe(false);
  });

  it('writes nothing of what was emptied, and one address', () => {
    const [, all = {}] = ENTRIES;
    const draft = remoteSchemaDraft(all);
    const written = writtenRemoteSchema(
      {
        ...draft,
        comment: ' ',
        isFromEnvironment: false,
        url: ' http://y ',
        forward: false,
        headers: [{ key: ' ', value: 'lost', isFromEnvironment: false }],
        namespace: '',
        types: { ...draft.types, prefix: '', suffix: '', mapping: [{ key: '', value: 'nothing' }] },
        fields: [],
      },
      all,
    );
    expect(written).toEqual({
      name: 'all',
      definition: { url: 'http://y', timeout_seconds: 5, customization: { kept: { of: 'another version' } }, unknown: [1] },
    });
  });

  it('refuses a time that is no number, and fields of no type', () => {
    const draft = remoteSchemaDraft(ENTRIES[0]);
    expect(() => writtenRemoteSchema({ ...draft, timeout: 'soon' })).toThrow('The time limit is a whole number.');
    const fields = [{ parentType: ' ', prefix: 'a', suffix: '', mapping: [], rest: {} }];
    expect(() => writtenRemoteSchema({ ...draft, fields })).toThrow('of which type');
  });
});
