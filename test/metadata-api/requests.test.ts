import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal, type TestAdministration, testAdministration } from './support.ts';

describe('requests that cannot be decoded', () => {
  let api: TestAdministration;

  beforeAll(async () => {
    api = await testAdministration('create table author (id serial primary key)');
  });
  afterAll(() => api.close());

  const failed = (path: string, error: string) => ({ status: 400, path, error, code: 'parse-failed' });
  const metadata = (body: never) =>
    refusal(api.administration.metadata(body, { session: { role: 'admin', variables: new Map(), backendOnly: false } }));

  it('require an object with a type and arguments', async () => {
    expect(await metadata([] as never)).toMatchObject({
      path: '$',
      code: 'parse-failed',
      suggestions: ['Send a list of operations as {"type": "bulk", "args": [...]}.'],
    });
    expect(await metadata({ args: {} } as never)).toEqual(failed('$', "the key 'type' was not present"));
    expect(await metadata({ type: 'export_metadata' } as never)).toEqual(failed('$', "the key 'args' was not present"));
    expect(await metadata({ type: 'export_metadata', args: {}, version: 3 } as never)).toEqual(
      failed('$.version', 'expected 1 or 2, encountered 3'),
    );
    expect(await metadata({ type: 'bulk', args: {} } as never)).toMatchObject({ path: '$.args', code: 'parse-failed' });
  });

  it('distinguish an unknown operation from an unknown kind', async () => {
    expect(await refusal(api.metadata('pg_nonsense', {}))).toEqual(failed('$', 'unknown metadata command "nonsense" for backend pg'));
    expect(await refusal(api.metadata('postgres_nonsense', {}))).toEqual(failed('$', 'unknown metadata command "nonsense" for backend pg'));
    expect(await refusal(api.metadata('pg_run_sql', {}))).toEqual(
      failed('$', 'unknown metadata command "run_sql" for backend pg; POST /v2/query takes SQL'),
    );
    expect(await refusal(api.metadata('foo_track_table', {}))).toEqual(
      failed('$', 'unknown metadata command "foo_track_table"; "foo" was not recognized as a valid backend name'),
    );
  });

  it('name the endpoint of an operation that was sent to the one for SQL', async () => {
    expect(await refusal(api.queryV2('pg_track_table', { table: 'author' }))).toEqual({
      ...failed('$.type', 'unknown query command "pg_track_table"'),
      suggestions: ['Send this operation to POST /v1/metadata.'],
    });
    expect(await refusal(api.queryV2('nonsense', {}))).toEqual(failed('$.type', 'unknown query command "nonsense"'));
  });

  it('report operations of later features as unsupported', async () => {
    for (const type of ['dbc_create_event_trigger', 'dwh_create_event_trigger', 'dwh_track_function']) {
      expect(await refusal(api.metadata(type, {}))).toMatchObject({ path: '$.args', code: 'not-supported' });
    }
  });

  it('contain the path of argument errors, and the operation name if it has a prefix', async () => {
    expect(await refusal(api.metadata('pg_create_object_relationship', { table: 'author', name: '', using: {} }))).toMatchObject({
      path: '$.args.name',
      error: expect.stringMatching(
        /^Error when parsing command create_object_relationship\.\n.*\nInternal error message: empty string not allowed$/,
      ),
    });
    expect(await refusal(api.metadata('rename_source', { name: 'a' }))).toEqual(failed('$.args', "the key 'new_name' was not present"));
    expect(await refusal(api.queryV1({ type: 'create_object_relationship', args: { table: 'author', name: '', using: {} } }))).toEqual(
      failed('$.name', 'empty string not allowed'),
    );
    expect(await refusal(api.queryV1({ type: 'bulk', args: [{ type: 'drop_relationship', args: { table: 'author' } }] }))).toEqual(
      failed('$[0]', "the key 'relationship' was not present"),
    );
    expect(await refusal(api.queryV1({ type: 'pg_track_table', args: 'author' }))).toMatchObject({ code: 'parse-failed', path: '$.type' });
  });

  it('every operation has a description', () => {
    const described = api.administration.describeOperations();
    expect(described.map(({ type }) => type)).toEqual([...described.map(({ type }) => type)].sort());
    expect(described.find(({ type }) => type === 'pg_track_table')).toMatchObject({
      version: 1,
      changes: 'metadata',
      summary: expect.any(String),
    });
    expect(described.filter(({ type }) => type === 'export_metadata').map(({ version }) => version)).toEqual([1, 2]);
  });
});
