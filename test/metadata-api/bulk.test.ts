import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { refusal, type TestAdministration, testAdministration } from './support.ts';

const SCHEMA = `
  create table author (id serial primary key, name text);
  create table article (id serial primary key, author_id int references author(id));
`;
const track = (table: string) => ({ type: 'pg_track_table', args: { table } });
const object = (using: string) => ({
  type: 'pg_create_object_relationship',
  args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: using } },
});

describe('bulk', () => {
  let api: TestAdministration;

  beforeAll(async () => {
    api = await testAdministration(SCHEMA);
  });
  afterAll(() => api.close());
  beforeEach(() => api.reset());

  const tracked = (): number => api.state.current().cache.sources.get('default')?.tables.size ?? 0;
  const version = (): number => api.state.current().resourceVersion;

  it('merges adjacent edits into one change', async () => {
    const before = version();
    expect(await api.metadata('bulk', [track('author'), track('article'), object('author_id')])).toEqual(
      Array(3).fill({ message: 'success' }),
    );
    expect(version()).toBe(before + 1);
  });

  it('stores all of its changes and makes them visible at once, whatever is between them', async () => {
    const before = api.state.current();
    const exported = { type: 'export_metadata', args: {} };
    const untrack = { type: 'pg_untrack_table', args: { table: 'author' } };
    const looked: number[] = [];
    const running = api.metadata('bulk', [track('author'), exported, untrack, exported, track('author'), track('article'), exported]);
    const looking = setInterval(() => looked.push(tracked()));
    const answers = (await running) as { sources: { tables: unknown[] }[] }[];
    clearInterval(looking);
    expect([1, 3, 6].map((i) => answers[i]?.sources[0]?.tables.length)).toEqual([1, 0, 2]);
    expect(api.state.current().resourceVersion).toBe(before.resourceVersion + 1);
    expect(looked).not.toContain(1);
  });

  it('reports the failing element', async () => {
    expect(await refusal(api.metadata('bulk', [track('author'), track('author')]))).toMatchObject({
      path: '$.args[1].args',
      code: 'already-tracked',
    });
    expect(tracked()).toBe(0);
  });

  it('reports the element whose object does not match the database', async () => {
    const request: Json = [
      track('author'),
      track('article'),
      object('id'),
      { type: 'pg_set_relationship_comment', args: { table: 'article', name: 'author', comment: 'c' } },
    ];
    expect(await refusal(api.metadata('bulk', request))).toMatchObject({ path: '$.args[2].args', code: 'invalid-configuration' });
    expect(tracked()).toBe(0);
  });

  it('decodes all elements before any of them runs', async () => {
    const request: Json = [
      { type: 'run_sql', args: { sql: 'create table never (id int)' } },
      { type: 'run_sql', args: {} },
    ];
    expect(await refusal(api.queryV2('bulk', request))).toMatchObject({
      path: '$.args[1].args',
      error: "the key 'sql' was not present",
      code: 'parse-failed',
    });
    expect(await api.queryV2('run_sql', { sql: `select to_regclass('never')` })).toMatchObject({ result: [['to_regclass'], ['NULL']] });
  });

  it('reverts changes that were checked before an operation with side effects', async () => {
    await api.metadata('pg_track_table', 'author');
    const request = {
      type: 'bulk',
      args: [
        { type: 'track_table', args: 'article' },
        { type: 'run_sql', args: { sql: 'select 1' } },
        { type: 'track_table', args: 'author' },
      ],
    };
    expect(await refusal(api.queryV1(request))).toMatchObject({ path: '$.args[2].args', code: 'already-tracked' });
    expect(tracked()).toBe(1);
  });

  it('shows each element the results of the elements before it', async () => {
    const request: Json = [
      track('article'),
      track('author'),
      object('author_id'),
      { type: 'export_metadata', args: {} },
      { type: 'pg_drop_relationship', args: { table: 'article', relationship: 'author' } },
    ];
    const answers = (await api.metadata('bulk', request)) as { sources?: { tables: unknown[] }[] }[];
    expect(answers[3]?.sources?.[0]?.tables).toHaveLength(2);
    expect(
      [...(api.state.current().metadata.sources.get('default')?.tables.values() ?? [])].every(
        (table) => table.objectRelationships.size === 0,
      ),
    ).toBe(true);
  });

  it('continues after errors, with errors among the results', async () => {
    expect(await api.metadata('bulk_keep_going', [track('author'), track('author'), track('article')])).toEqual([
      { message: 'success' },
      { path: '$.args[1].args', error: 'view/table already tracked: "author"', code: 'already-tracked' },
      { message: 'success' },
    ]);
    expect(tracked()).toBe(2);
  });

  it('checks the expected resource version once', async () => {
    const seen = version();
    await api.metadata('bulk_keep_going', [track('author'), track('article')], { resource_version: seen });
    expect(tracked()).toBe(2);
    expect(await refusal(api.metadata('pg_untrack_table', 'author', { resource_version: seen }))).toEqual({
      status: 409,
      path: '$',
      error: `metadata resource version referenced (${seen}) did not match current version`,
      code: 'conflict',
    });
  });

  it('applies atomic elements before it checks them', async () => {
    await api.metadata('bulk', [track('author'), track('article'), object('author_id')]);
    const drop = { type: 'pg_drop_relationship', args: { table: 'article', relationship: 'author' } };
    // One change, so one result.
    expect(await api.metadata('bulk_atomic', [drop, object('author_id')])).toEqual({ message: 'success' });
    expect(await refusal(api.metadata('bulk_atomic', [drop, object('id')]))).toMatchObject({
      code: 'bad-request',
      error: 'Schema inconsistency',
    });
    expect(await refusal(api.metadata('bulk_atomic', [track('author')]))).toMatchObject({
      status: 400,
      error: 'Bulk atomic does not support this command',
    });
  });

  it('runs only read-only statements concurrently', async () => {
    const read = { type: 'run_sql', args: { sql: 'select 1 as one', read_only: true } };
    expect(await api.queryV2('concurrent_bulk', [read, read])).toEqual(
      Array(2).fill({ result_type: 'TuplesOk', result: [['one'], ['1']] }),
    );
    expect(await refusal(api.queryV2('concurrent_bulk', [read, { type: 'run_sql', args: { sql: 'select 1' } }]))).toMatchObject({
      status: 400,
      error: 'Only read-only queries are allowed in a concurrent_bulk',
    });
  });
});
