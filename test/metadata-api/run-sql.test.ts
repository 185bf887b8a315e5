import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SCHEMA = `
  create schema other;
  create table author (id serial primary key, name text not null, age int, good boolean);
  create table article (id serial primary key, title text, author_id int references author, published boolean default false);
  create table note (id serial primary key, writer int);
  create function shout(author_row author) returns text language sql stable as $$ select upper(author_row.name) $$;
  create function adults() returns setof author language sql stable as $$ select * from author where age > 17 $$;
  insert into author (name, age) values ('Ann', 30), ('Bob', 10);
  insert into article (title, author_id, published) values ('A', 1, true), ('B', 2, false);
`;

const permission = (type: string, table: string, role: string, definition: JsonObject) => ({
  type: `pg_create_${type}_permission`,
  args: { table, role, permission: definition },
});

const METADATA: readonly Json[] = [
  ...['author', 'article', 'note'].map((table) => ({ type: 'pg_track_table', args: table })),
  { type: 'pg_create_object_relationship', args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } } },
  {
    type: 'pg_create_array_relationship',
    args: { table: 'author', name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } },
  },
  {
    type: 'pg_create_object_relationship',
    args: {
      table: 'note',
      name: 'person',
      using: { manual_configuration: { remote_table: 'author', column_mapping: { writer: 'id' } } },
    },
  },
  { type: 'pg_add_computed_field', args: { table: 'author', name: 'loud', definition: { function: 'shout' } } },
  { type: 'pg_track_function', args: 'adults' },
  permission('select', 'author', 'user', {
    columns: ['id', 'name', 'age'],
    filter: { _or: [{ age: { _gt: 17 } }, { id: 'X-Svc-User-Id' }, { age: { _cgt: 'id' } }] },
    computed_fields: ['loud'],
  }),
  permission('select', 'article', 'user', {
    columns: '*',
    filter: { $or: [{ author: { age: { _gt: 17 } } }, { _exists: { _table: 'author', _where: { id: { _ceq: ['$', 'author_id'] } } } }] },
  }),
  permission('insert', 'article', 'user', { columns: ['title'], check: {}, set: { author_id: 'X-Svc-User-Id' } }),
  permission('update', 'author', 'user', { columns: ['name'], filter: {}, check: null, set: { good: true } }),
  {
    type: 'pg_set_table_customization',
    args: { table: 'author', configuration: { column_config: { name: { custom_name: 'fullName' } } } },
  },
];

describe('run_sql', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await startTestService();
    await service.sql(SCHEMA, { check_metadata_consistency: false });
    await service.metadata('bulk', METADATA);
  });
  afterEach(() => service.stop());

  const send = async (args: JsonObject, path = '/v1/query') => {
    const answer = await service.send(path, { method: 'POST', body: JSON.stringify({ type: 'run_sql', args }) });
    return { status: answer.status, body: answer.json as JsonObject };
  };
  const tables = async (): Promise<readonly JsonObject[]> => {
    const document = (await service.metadata('export_metadata', {})) as { sources: { tables: JsonObject[] }[] };
    return document.sources[0]?.tables ?? [];
  };
  const table = async (name: string, schema = 'public'): Promise<JsonObject | undefined> =>
    (await tables()).find((each) => (each['table'] as JsonObject)['name'] === name && (each['table'] as JsonObject)['schema'] === schema);
  const consistent = async (): Promise<Json> =>
    ((await service.metadata('get_inconsistent_metadata', {})) as JsonObject)['is_consistent'] ?? null;
  const value = async (sql: string): Promise<Json> =>
    ((await service.sql(sql, { read_only: true })) as { result: string[][] }).result[1]?.[0] ?? null;

  it('applies the new name and schema of a table to all references in the metadata', async () => {
    await service.sql('alter table author rename to writer; alter table writer set schema other');
    expect(await consistent()).toBe(true);
    expect(await table('author')).toBeUndefined();
    expect(await table('writer', 'other')).toMatchObject({
      configuration: { column_config: { name: { custom_name: 'fullName' } } },
      computed_fields: [{ name: 'loud' }],
    });
    expect(await table('note')).toMatchObject({
      object_relationships: [{ using: { manual_configuration: { remote_table: { schema: 'other', name: 'writer' } } } }],
    });
    expect(await table('article')).toMatchObject({
      select_permissions: [{ permission: { filter: { $or: [{}, { _exists: { _table: { schema: 'other', name: 'writer' } } }] } } }],
    });
    const answer = await service.graphql('{ article(order_by: {id: asc}) { title author { fullName } } }', {
      role: 'user',
      session: { 'user-id': '2' },
    });
    expect(answer).toEqual({
      data: {
        article: [
          { title: 'A', author: { fullName: 'Ann' } },
          { title: 'B', author: { fullName: 'Bob' } },
        ],
      },
    });
    expect(await service.graphql('{ other_writer(order_by: {id: asc}) { loud articles { title } } }')).toEqual({
      data: {
        other_writer: [
          { loud: 'ANN', articles: [{ title: 'A' }] },
          { loud: 'BOB', articles: [{ title: 'B' }] },
        ],
      },
    });
  });

  it('applies new column names to lists, presets, expressions, relationships and settings', async () => {
    await service.sql(`
      alter table author rename column id to author_id;
      alter table author rename column name to title;
      alter table author rename column age to years;
      alter table author rename column good to nice;
      alter table article rename column author_id to writer;
      alter table note rename column writer to person_id`);
    expect(await consistent()).toBe(true);
    expect(await table('author')).toMatchObject({
      configuration: { column_config: { title: { custom_name: 'fullName' } } },
      array_relationships: [{ using: { foreign_key_constraint_on: { column: 'writer' } } }],
      select_permissions: [
        {
          permission: {
            columns: ['author_id', 'title', 'years'],
            computed_fields: ['loud'],
            filter: { _or: [{ years: { _gt: 17 } }, { author_id: 'X-Svc-User-Id' }, { years: { _cgt: 'author_id' } }] },
          },
        },
      ],
      update_permissions: [{ permission: { columns: ['title'], set: { nice: true } } }],
    });
    expect(await table('article')).toMatchObject({
      object_relationships: [{ using: { foreign_key_constraint_on: 'writer' } }],
      insert_permissions: [{ permission: { columns: ['title'], set: { writer: 'X-Svc-User-Id' } } }],
      select_permissions: [
        {
          permission: {
            columns: '*',
            filter: { $or: [{ author: { years: { _gt: 17 } } }, { _exists: { _where: { author_id: { _ceq: ['$', 'writer'] } } } }] },
          },
        },
      ],
    });
    expect(await table('note')).toMatchObject({
      object_relationships: [{ using: { manual_configuration: { column_mapping: { person_id: 'author_id' } } } }],
    });
    // Two columns that swap names.
    await service.sql(`alter table author rename column title to x; alter table author rename column nice to title;
      alter table author rename column x to nice`);
    expect(await table('author')).toMatchObject({ update_permissions: [{ permission: { columns: ['nice'], set: { title: true } } }] });
  });

  it('applies new names to event triggers and remote relationships', async () => {
    const document = (await service.metadata('export_metadata', {})) as { sources: { tables: JsonObject[] }[] };
    const [source] = document.sources;
    const extended = source?.tables.map((each) =>
      (each['table'] as JsonObject)['name'] !== 'article'
        ? each
        : {
            ...each,
            event_triggers: [
              {
                name: 'on_article',
                definition: { enable_manual: false, update: { columns: ['title'], payload: ['id', 'title'] } },
                webhook: 'http://hooks.example',
                ordering: ['title'],
              },
            ],
            remote_relationships: [
              {
                name: 'twin',
                definition: { to_source: { source: 'default', table: 'note', relationship_type: 'array', field_mapping: { title: 'id' } } },
              },
            ],
          },
    );
    await service.metadata('replace_metadata', {
      allow_inconsistent_metadata: true,
      metadata: { ...document, sources: [{ ...source, tables: extended }] },
    } as Json);
    await service.sql(`alter table article rename column title to heading; alter table note rename column id to note_id;
      alter table note rename to remark; alter table article rename to paper`);
    expect(await table('paper')).toMatchObject({
      event_triggers: [{ definition: { update: { columns: ['heading'], payload: ['id', 'heading'] } }, ordering: ['heading'] }],
      remote_relationships: [
        { definition: { to_source: { table: { schema: 'public', name: 'remark' }, field_mapping: { heading: 'note_id' } } } },
      ],
    });
  });

  it('rejects new names that conflict, and rolls the SQL back', async () => {
    expect(await send({ sql: 'alter table article rename column title to author' })).toMatchObject({
      status: 400,
      body: {
        path: '$.args',
        code: 'already-exists',
        error: 'cannot rename column "title" to "author" in table "article" as a relationship with the name already exists',
      },
    });
    await service.metadata('pg_set_table_customization', {
      table: 'note',
      configuration: { custom_root_fields: { select: 'memo' } },
    });
    expect(await send({ sql: 'alter table article rename to memo' })).toMatchObject({
      status: 400,
      body: { path: '$.args', code: 'remote-schema-conflicts', error: 'node memo already exists in current graphql schema' },
    });
    expect(await value(`select count(title) from article`)).toBe('2');
    expect(await consistent()).toBe(true);
  });

  it('rejects another type for a column that is compared with a literal, even with cascade', async () => {
    const refused = async (sql: string, cascade = false) => (await send({ sql, cascade })).body;
    expect(await refused('alter table author alter column age type text', true)).toEqual({
      path: '$.args',
      code: 'dependency-error',
      error:
        'cannot change type of column "age" in table "author" because of the following dependencies: ' +
        'permission article.user.select in source "default", permission author.user.select in source "default"',
    });
    expect(await refused('alter table author alter column good type text')).toMatchObject({
      error: expect.stringMatching(/dependencies: permission author\.user\.update in source "default"$/),
    });
    // Session variables are read in the type of the column.
    await service.sql('alter table article drop constraint article_author_id_fkey', { cascade: true });
    expect((await send({ sql: 'alter table article alter column author_id type bigint' })).status).toBe(200);
    expect(await value(`select data_type from information_schema.columns where table_name = 'author' and column_name = 'age'`)).toBe(
      'integer',
    );
  });

  it('rejects dropping objects that the metadata needs, and cascades on request', async () => {
    for (const [sql, dependents] of [
      ['alter table author drop column age', ['permission article.user.select', 'permission author.user.select']],
      [
        'alter table article drop column author_id',
        ['permission article.user.insert', 'permission article.user.select', 'relationship article.author', 'relationship author.articles'],
      ],
      [
        'alter table article drop constraint article_author_id_fkey',
        ['permission article.user.select', 'relationship article.author', 'relationship author.articles'],
      ],
      ['drop function shout(author)', ['computed field author.loud', 'permission author.user.select']],
      ['alter function shout(author) rename to cry', ['computed field author.loud', 'permission author.user.select']],
    ] as const) {
      const texts = dependents.map((each) => `${each} in source "default"`).join(', ');
      expect(await send({ sql }), sql).toMatchObject({
        status: 400,
        body: { code: 'dependency-error', path: '$.args', error: `cannot drop due to the following dependent objects: ${texts}` },
      });
    }
    await service.sql('alter table author drop column age; drop function shout(author)', { cascade: true });
    expect(await consistent()).toBe(true);
    expect(await table('author')).not.toHaveProperty('computed_fields');
    expect(await table('article')).not.toHaveProperty('select_permissions');
    // The settings of the other columns stay, those of a dropped one are removed.
    await service.sql('alter table author drop column name', { cascade: true });
    expect(await table('author')).not.toHaveProperty('configuration');
  });

  it('lists what a cascade removes, and keeps permissions that only list a dropped column', async () => {
    await service.sql('create table shelf (id int primary key, label text, room int)');
    const permission = (type: string, role: string, definition: JsonObject) => ({
      type: `pg_create_${type}_permission`,
      args: { table: 'shelf', role, permission: definition },
    });
    await service.metadata('bulk', [
      { type: 'pg_track_table', args: { table: 'shelf' } },
      permission('select', 'lister', { columns: ['id', 'room'], filter: {} }),
      permission('select', 'all', { columns: '*', filter: {} }),
      permission('select', 'reader', { columns: ['id', 'room'], filter: { room: { _gt: 1 } } }),
      permission('insert', 'lister', { columns: ['id', 'room'], check: {} }),
      permission('insert', 'presetter', { columns: ['id'], check: {}, set: { room: 1 } }),
      permission('update', 'lister', { columns: ['room'], filter: {}, check: null }),
      permission('update', 'checker', { columns: ['label'], filter: {}, check: { room: 1 } }),
    ]);
    expect((await send({ sql: 'alter table shelf drop column room' })).status).toBe(400);
    const affected = (name: string, change: string) => ({ object: `permission shelf.${name} in source "default"`, change });
    const { status, body } = await send({ sql: 'alter table shelf drop column room', cascade: true });
    expect({ status, ...body }).toEqual({
      status: 200,
      result_type: 'CommandOk',
      result: null,
      affected: [
        affected('checker.update', 'dropped'),
        affected('lister.insert', 'changed'),
        affected('lister.select', 'changed'),
        affected('lister.update', 'changed'),
        affected('presetter.insert', 'dropped'),
        affected('reader.select', 'dropped'),
      ],
    });
    expect(await table('shelf')).toMatchObject({
      select_permissions: [
        { role: 'all', permission: { columns: '*' } },
        { role: 'lister', permission: { columns: ['id'] } },
      ],
      insert_permissions: [{ role: 'lister', permission: { columns: ['id'] } }],
      update_permissions: [{ role: 'lister', permission: { columns: [] } }],
    });
    expect((await send({ sql: 'drop table shelf', cascade: true })).body).toMatchObject({
      affected: [{ object: 'table shelf in source "default"', change: 'dropped' }],
    });
    expect((await send({ sql: 'select 1', cascade: true })).body).toMatchObject({ result_type: 'TuplesOk', affected: [] });
    expect((await send({ sql: 'select 1' })).body).not.toHaveProperty('affected');
    expect(await consistent()).toBe(true);
  });

  it('explains why a cascade is impossible if more objects would be inconsistent', async () => {
    await service.sql(`create table pen (id int primary key, ink text, "Ink" text);
      create function pens() returns setof pen language sql stable as $$ select * from pen $$`);
    await service.metadata('bulk', [
      { type: 'pg_track_table', args: { table: 'pen', configuration: { column_config: { Ink: { custom_name: 'colour' } } } } },
      {
        type: 'pg_create_select_permission',
        args: { table: 'pen', role: 'user', permission: { columns: ['id'], filter: { ink: 'blue' } } },
      },
      { type: 'pg_track_function', args: { function: 'pens' } },
      { type: 'pg_create_function_permission', args: { function: 'pens', role: 'user' } },
    ]);
    const leftover = await send({ sql: 'alter table pen drop column ink', cascade: true });
    expect(leftover.status, JSON.stringify(leftover.body)).toBe(400);
    expect(leftover.body['error']).toMatch(/newly found inconsistent metadata: .*permission/);
    const clash = await send({ sql: 'alter table pen rename column ink to colour' });
    expect(clash.status, JSON.stringify(clash.body)).toBe(400);
    expect(clash.body['error']).toMatch(/"colour"/);
    await service.sql('drop function pens(); drop table pen', { cascade: true });
    expect(await consistent()).toBe(true);
  });

  it('keeps recreated objects: a table under its name, a foreign key under another', async () => {
    await service.sql(`alter table article drop constraint article_author_id_fkey;
      alter table article add constraint wrote foreign key (author_id) references author (id)`);
    await service.sql('drop table note; create table note (id serial primary key, writer int, more text)');
    expect(await consistent()).toBe(true);
    expect(await table('note')).toHaveProperty('object_relationships');
    expect(await service.graphql('{ __type(name: "note") { fields { name } } }')).toMatchObject({
      data: { __type: { fields: expect.arrayContaining([{ name: 'more' }]) } },
    });
  });

  it('untracks dropped functions, follows renamed ones, and rejects overloads and functions that write', async () => {
    const functions = async () =>
      (
        (await service.metadata('export_metadata', {})) as { sources: { functions?: { function: JsonObject }[] }[] }
      ).sources[0]?.functions?.map((each) => each.function['name']);
    const refused = async (sql: string) => {
      const { status, body } = await send({ sql, check_metadata_consistency: true });
      expect(status).toBe(400);
      return `${String(body['code'])}: ${String(body['error'])}`;
    };
    expect(await refused('create function adults(int) returns setof author language sql stable as $$ select * from author $$')).toBe(
      'not-supported: the following tracked function(s) cannot be overloaded: adults',
    );
    expect(await refused('alter function adults() volatile')).toBe(
      'not-supported: type of function "adults" is altered to "VOLATILE" which is not supported now',
    );
    expect(await refused('create function shout(int) returns int language sql as $$ select 1 $$')).toBe(
      'not-supported: The function "shout" associated with computed field"loud" of table "author" is being overloaded',
    );
    expect(await refused('alter function shout(author) volatile')).toBe(
      'not-supported: The type of function "shout" associated with computed field "loud" of table "author" is being altered to "VOLATILE"',
    );
    await service.sql('alter function adults() rename to grown_ups');
    expect(await functions()).toEqual(['grown_ups']);
    await service.sql('drop function grown_ups()');
    expect(await functions()).toBeUndefined();
    expect(await consistent()).toBe(true);
  });

  it('rolls back SQL that makes other objects inconsistent', async () => {
    await service.sql('create view named as select id, name from author');
    await service.metadata('pg_track_table', 'named');
    await service.metadata('pg_create_update_permission', { table: 'named', role: 'user', permission: { columns: ['name'], filter: {} } });
    const { status, body } = await send({ sql: 'create or replace view named as select distinct id, name from author' });
    expect({ status, ...body }).toMatchObject({
      status: 400,
      code: 'unexpected',
      error: expect.stringMatching(/^cannot continue due to newly found inconsistent metadata: ./),
      internal: [{ type: 'update_permission' }],
    });
    expect(await value(`select is_updatable from information_schema.views where table_name = 'named'`)).toBe('YES');
    expect(await consistent()).toBe(true);
  });

  it('compares catalogs if the SQL or the caller requires it', async () => {
    await service.sql('alter table note rename to remark', { check_metadata_consistency: false });
    expect(await table('note')).toBeDefined();
    // External changes are not attributed to this SQL.
    await service.sql('select 1', { check_metadata_consistency: true });
    expect(await table('note')).toBeDefined();
    expect(await table('remark')).toBeUndefined();
  });

  it('runs statements one by one without a transaction, in one session', async () => {
    expect(
      await send({
        sql: `set application_name to 'one; session';
          create table big (id int); -- the index; not in a transaction
          create index concurrently big_id on big (id);
          do $$ begin perform 1; end $$;
          select current_setting('application_name') as name`,
        no_transaction: true,
      }),
    ).toEqual({ status: 200, body: { result_type: 'TuplesOk', result: [['name'], ['one; session']] } });
    expect(
      await send({ sql: 'insert into big values (1); insert into big values (1 / 0); insert into big values (3)', no_transaction: true }),
    ).toMatchObject({
      status: 400,
      body: {
        code: 'postgres-error',
        error: 'query execution failed',
        internal: { statement: 'insert into big values (1 / 0)', error: { status_code: '22012' } },
      },
    });
    expect(await value('select array_agg(id)::text from big')).toBe('{1}');
    expect(await send({ sql: ' -- nothing', no_transaction: true })).toEqual({
      status: 200,
      body: { result_type: 'CommandOk', result: null },
    });
    // An open transaction or a setting does not leak into the pool.
    await service.sql('begin; insert into big values (4)', { no_transaction: true });
    expect(await value('select array_agg(id)::text from big')).toBe('{1}');
    expect(await value(`select current_setting('application_name')`)).not.toBe('one; session');
  });

  it('cannot roll back what ran without a transaction, but reports what no longer fits', async () => {
    expect(await send({ sql: 'alter table note rename to remark; drop function shout(author)', no_transaction: true })).toMatchObject({
      status: 400,
      body: { code: 'dependency-error' },
    });
    expect(await consistent()).toBe(false);
    expect(await table('author')).toHaveProperty('computed_fields');
    await service.sql('drop table article', { no_transaction: true, cascade: true });
    expect(await table('article')).toBeUndefined();
  });

  it('rejects roles, unknown sources, and malformed arguments', async () => {
    const as = async (body: Json, path: string, role?: string) => {
      const answer = await service.send(path, {
        method: 'POST',
        headers: role === undefined ? {} : { 'x-svc-role': role },
        body: JSON.stringify(body),
      });
      return { status: answer.status, ...(answer.json as JsonObject) };
    };
    const select = { type: 'run_sql', args: { sql: 'select 1' } };
    for (const path of ['/v1/query', '/v2/query']) {
      expect(await as(select, path, 'user')).toEqual({
        status: 400,
        path: '$.args',
        code: 'access-denied',
        error: 'restricted access : admin only',
      });
    }
    expect(await as({ type: 'bulk', args: [select] }, '/v1/query', 'user')).toMatchObject({ code: 'access-denied' });
    expect(await as({ type: 'run_sql', args: { sql: 'select 1', source: 'x' } }, '/v2/query')).toMatchObject({
      status: 400,
      code: 'not-exists',
    });
    expect(await as({ type: 'run_sql', args: {} }, '/v2/query')).toMatchObject({ code: 'parse-failed', path: '$.args' });
    expect(await as({ type: 'run_sql', args: { sql: 1 } }, '/v1/query')).toMatchObject({ code: 'parse-failed', path: '$.sql' });
  });
});
