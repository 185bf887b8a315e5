import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { hasNames, missingInRemoteSchema, remoteSchemaDraft, remoteSchemaJson } from './remote-schema-draft.ts';

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
        futureKey: { of: 'another version' },
      },
      unknown: [1],
    },
  },
];

describe('form of a remote schema', () => {
  it.each(ENTRIES)('writes an unedited $name unchanged', (entry) => {
    expect(remoteSchemaJson(remoteSchemaDraft(entry), entry)).toEqual(entry);
  });

  it('starts with an environment variable, and names missing fields', () => {
    const draft = remoteSchemaDraft();
    expect(draft).toMatchObject({ isFromEnvironment: true, timeout: '60' });
    expect(missingInRemoteSchema(draft)).toBe('Enter a name');
    expect(missingInRemoteSchema({ ...draft, name: 'a' })).toContain('variable');
    expect(missingInRemoteSchema({ ...draft, name: 'a', isFromEnvironment: false })).toContain('URL');
    expect(missingInRemoteSchema({ ...draft, name: 'a', variable: 'URL' })).toBeUndefined();
    expect(hasNames(draft)).toBe(false);
  });

  it('omits emptied fields, and writes one URL', () => {
    const [, all = {}] = ENTRIES;
    const draft = remoteSchemaDraft(all);
    const json = remoteSchemaJson(
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
    expect(json).toEqual({
      name: 'all',
      definition: { url: 'http://y', timeout_seconds: 5, customization: { futureKey: { of: 'another version' } }, unknown: [1] },
    });
  });

  it('rejects an invalid timeout and renamed fields without a type', () => {
    const draft = remoteSchemaDraft(ENTRIES[0]);
    expect(() => remoteSchemaJson({ ...draft, timeout: 'soon' })).toThrow('Timeout: enter a whole number.');
    const fields = [{ parentType: ' ', prefix: 'a', suffix: '', mapping: [], rest: {} }];
    expect(() => remoteSchemaJson({ ...draft, fields })).toThrow('Enter the type');
  });
});
