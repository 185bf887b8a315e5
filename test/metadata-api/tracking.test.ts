import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusal, type TestAdministration, testAdministration, USER } from './support.ts';

const SCHEMA = `
  create table author (id serial primary key, name text);
  create table article (id serial primary key, title text, author_id int references author(id), published_on date);
  create table color (value text primary key, comment text);
  insert into color values ('red', 'warm'), ('blue', null);
  create view titles as select title from article;
  create function find_articles(query text) returns setof article language sql stable as $$ select * from article where title = query $$;
  create function shout(author_row author) returns text language sql stable as $$ select upper(author_row.name) $$;
`;

describe('tracking and describing tables', () => {
  let api: TestAdministration;

  beforeAll(async () => {
    api = await testAdministration(SCHEMA);
  });
  afterAll(() => api.close());
  beforeEach(() => api.reset());

  const success = { message: 'success' };
  const exported = async (): Promise<unknown> => ((await api.metadata('export_metadata', {})) as { sources: unknown[] }).sources[0];

  it('tracks a table by name, by object, and under the alias of the kind', async () => {
    expect(await api.metadata('pg_track_table', 'author')).toEqual(success);
    expect(await api.metadata('postgres_track_table', { table: { schema: 'public', name: 'article' } })).toEqual(success);
    expect(await api.metadata('pg_track_table', { schema: 'public', name: 'titles' })).toEqual(success);
    const tables = api.state.current().cache.sources.get('default')?.tables;
    expect([...(tables?.values() ?? [])].map((table) => table.name.name).sort()).toEqual(['article', 'author', 'titles']);
  });

  it('rejects tracked and unknown tables and those of another source', async () => {
    await api.metadata('pg_track_table', 'author');
    expect(await refusal(api.metadata('pg_track_table', 'author'))).toEqual({
      status: 400,
      path: '$.args',
      error: 'view/table already tracked: "author"',
      code: 'already-tracked',
    });
    expect(await refusal(api.metadata('pg_track_table', 'nothing'))).toMatchObject({
      path: '$.args',
      error: 'Inconsistent object: no such table/view exists in source: "nothing"',
      code: 'invalid-configuration',
      internal: [{ type: 'table', name: 'table nothing in source default' }],
    });
    expect(await refusal(api.metadata('pg_track_table', { table: 'author', source: 'other' }))).toMatchObject({
      path: '$.args',
      error: 'source with name "other" does not exist',
      code: 'not-exists',
    });
    expect(await refusal(api.metadata('pg_untrack_table', { table: 'article' }))).toMatchObject({
      error: 'view/table already untracked: "article"',
      code: 'already-untracked',
    });
    expect(await refusal(api.metadata('pg_set_table_customization', { table: 'article', configuration: {} }))).toMatchObject({
      path: '$.args',
      error: 'table "article" does not exist in source: default',
      code: 'not-exists',
    });
  });

  it('changes nothing when an operation fails', async () => {
    await api.metadata('pg_track_table', 'author');
    const before = await api.metadata('export_metadata', {}, { version: 2 });
    await refusal(api.metadata('pg_track_table', 'nothing'));
    expect(await api.metadata('export_metadata', {}, { version: 2 })).toEqual(before);
  });

  it('introspects a table again that was created after its source was added', async () => {
    await api.queryV2('run_sql', { sql: 'create table late (id int primary key)' });
    expect(await api.metadata('pg_track_table', 'late')).toEqual(success);
    await api.queryV2('run_sql', { sql: 'alter table late add column more text' });
    const late = api.state.current().cache.sources.get('default')?.tables.values().next().value;
    expect([...(late?.columns.keys() ?? [])]).toEqual(['id', 'more']);
    await api.queryV2('run_sql', { sql: 'drop table late' });
    expect(await api.metadata('get_inconsistent_metadata', {})).toEqual({ is_consistent: true, inconsistent_objects: [] });
  });

  it('stores and replaces customizations, creates enum tables', async () => {
    await api.metadata('pg_track_table', { table: 'author', configuration: { custom_name: 'writer' } });
    await api.metadata('pg_set_table_customization', {
      table: 'author',
      configuration: { column_config: { id: { custom_name: 'writerId' } } },
    });
    await api.metadata('pg_track_table', { table: 'color', is_enum: true });
    expect(await exported()).toMatchObject({
      tables: [
        { table: { name: 'author', schema: 'public' }, configuration: { column_config: { id: { custom_name: 'writerId' } } } },
        { table: { name: 'color', schema: 'public' }, is_enum: true },
      ],
    });
    expect(await refusal(api.metadata('pg_set_table_is_enum', { table: 'author', is_enum: true }))).toMatchObject({
      code: 'invalid-configuration',
      path: '$.args',
    });
    expect(await api.metadata('pg_set_table_is_enum', { table: 'color', is_enum: false })).toEqual(success);
  });

  it('tracks many tables and warns about invalid ones', async () => {
    expect(await api.metadata('pg_track_tables', { tables: [{ table: 'author' }, { table: 'nothing' }, { table: 'article' }] })).toEqual({
      message: 'success',
      warnings: [
        {
          message: 'Inconsistent object: no such table/view exists in source: "nothing"',
          type: 'table',
          name: 'table nothing in source default',
          code: 'track-table-failed',
        },
      ],
    });
    expect(await refusal(api.metadata('pg_track_tables', { tables: [{ table: 'nothing' }] }))).toMatchObject({
      path: '$.args',
      error: 'all tables failed to track',
      code: 'invalid-configuration',
    });
    expect(await refusal(api.metadata('pg_track_tables', { tables: [{ table: 'color' }, { table: 'color' }] }))).toMatchObject({
      path: '$.args.tables',
      error: 'The following tables occur more than once in the request: default.color',
      code: 'bad-request',
    });
    expect(
      await refusal(api.metadata('pg_track_tables', { tables: [{ table: 'color' }, { table: 'nothing' }], allow_warnings: false })),
    ).toMatchObject({
      code: 'metadata-warnings',
    });
    expect(((await exported()) as { tables: unknown[] }).tables).toHaveLength(2);
    expect(await api.metadata('pg_untrack_tables', { tables: [{ table: 'author' }, { table: 'article' }] })).toEqual(success);
  });

  it('creates, comments, renames and drops relationships', async () => {
    await api.metadata('bulk', [
      { type: 'pg_track_table', args: 'author' },
      { type: 'pg_track_table', args: 'article' },
      {
        type: 'pg_create_object_relationship',
        args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
      },
      {
        type: 'pg_create_array_relationship',
        args: { table: 'author', name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } },
      },
      {
        type: 'pg_create_select_permission',
        args: {
          table: 'article',
          role: 'user',
          permission: {
            columns: '*',
            filter: { _or: [{ author: { name: 'X-Svc-Name' } }, { _exists: { _table: 'author', _where: { articles: { title: 'a' } } } }] },
          },
        },
      },
    ]);
    expect(
      await refusal(
        api.metadata('pg_create_object_relationship', {
          table: 'article',
          name: 'title',
          using: { foreign_key_constraint_on: 'author_id' },
        }),
      ),
    ).toMatchObject({
      path: '$.args',
      error: 'field with name "title" already exists in table "article"',
      code: 'already-exists',
    });
    expect(
      await refusal(
        api.metadata('pg_create_object_relationship', {
          table: 'article',
          name: 'other',
          using: { foreign_key_constraint_on: 'published_on' },
        }),
      ),
    ).toMatchObject({
      path: '$.args',
      code: 'invalid-configuration',
      error: 'Inconsistent object: in table "article": in relationship "other": no foreign constraint exists on the given column(s)',
    });
    expect(await api.metadata('pg_set_relationship_comment', { table: 'article', name: 'author', comment: 'who' })).toEqual(success);
    expect(await refusal(api.metadata('pg_rename_relationship', { table: 'article', name: 'author', new_name: 'title' }))).toMatchObject({
      error: 'cannot rename relationship "author" to "title" in table "article" as a column/relationship with the name already exists',
      code: 'already-exists',
    });
    expect(await api.metadata('pg_rename_relationship', { table: 'article', name: 'author', new_name: 'writer' })).toEqual(success);
    expect(await api.metadata('pg_rename_relationship', { table: 'author', name: 'articles', new_name: 'works' })).toEqual(success);
    expect(await exported()).toMatchObject({
      tables: [
        {
          table: { name: 'article' },
          object_relationships: [{ name: 'writer', comment: 'who' }],
          select_permissions: [
            {
              permission: {
                filter: { _or: [{ writer: { name: 'X-Svc-Name' } }, { _exists: { _table: 'author', _where: { works: { title: 'a' } } } }] },
              },
            },
          ],
        },
        { table: { name: 'author' }, array_relationships: [{ name: 'works' }] },
      ],
    });
    expect(await refusal(api.metadata('pg_drop_relationship', { table: 'article', relationship: 'author' }))).toMatchObject({
      error: 'relationship "author" does not exist',
      code: 'not-exists',
    });
    expect(await refusal(api.metadata('pg_drop_relationship', { table: 'article', relationship: 'writer' }))).toMatchObject({
      path: '$.args',
      error: 'cannot drop due to the following dependent objects: permission article.user.select in source "default"',
      code: 'dependency-error',
    });
    expect(await api.metadata('pg_drop_relationship', { table: 'article', relationship: 'writer', cascade: true })).toEqual(success);
    const article = api.state.current().metadata.sources.get('default')?.tables.values().next().value;
    expect([article?.objectRelationships.size, article?.selectPermissions.size]).toEqual([0, 0]);
  });

  it('rejects untracking a table that others depend on', async () => {
    await api.metadata('bulk', [
      { type: 'pg_track_table', args: 'author' },
      { type: 'pg_track_table', args: 'article' },
      {
        type: 'pg_create_object_relationship',
        args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
      },
    ]);
    expect(await refusal(api.metadata('pg_untrack_table', { table: 'author' }))).toMatchObject({
      code: 'dependency-error',
      error: 'cannot drop due to the following dependent objects: relationship article.author in source "default"',
    });
    expect(await api.metadata('pg_untrack_tables', { tables: [{ table: 'author' }, { table: 'article' }] })).toEqual(success);
    await api.metadata('pg_track_table', 'author');
    expect(await api.metadata('pg_untrack_table', { table: 'author' })).toEqual(success);
  });

  it('rejects other roles than admin, whatever the body contains', async () => {
    for (const body of [{ type: 'clear_metadata', args: {} }, { type: 'nonsense', args: {} }, []]) {
      expect(await refusal(api.administration.metadata(body, { session: USER }))).toEqual({
        status: 400,
        path: '$.args',
        error: 'restricted access : admin only',
        code: 'access-denied',
      });
    }
    expect(await refusal(api.administration.queryV1({ type: 'track_table', args: 'author' }, { session: USER }))).toMatchObject({
      code: 'access-denied',
    });
    expect(await refusal(api.administration.queryV2({ type: 'run_sql', args: { sql: 'select 1' } }, { session: USER }))).toMatchObject({
      code: 'access-denied',
    });
  });
});
