import { beforeEach, describe, expect, it } from 'vitest';
import { parseJson, type Json, type JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { refusal, type TestAdministration, testAdministration, USER } from './support.ts';

const SCHEMA = `
  create table author (id serial primary key, name text not null, data jsonb, tags text[], big numeric, docs jsonb[], born date default '2000-01-01');
  create table article (id serial primary key, title text, author_id int references author(id));
  create function shout(author_row author) returns text language sql stable as $$ select upper(author_row.name) $$;
  create function all_authors() returns setof author language sql stable as $$ select * from author $$;
`;

describe('SQL and rows', () => {
  let api: TestAdministration;

  beforeEach(async () => {
    api = await testAdministration(SCHEMA);
    await api.metadata('bulk', [
      { type: 'pg_track_table', args: 'author' },
      { type: 'pg_track_table', args: 'article' },
      {
        type: 'pg_create_object_relationship',
        args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
      },
    ]);
    return () => api.close();
  });

  const tables = (): string[] =>
    [...(api.state.current().metadata.sources.get('default')?.tables.values() ?? [])].map((table) => table.table.name).sort();

  it('returns all of many rows, with the status of the metadata', async () => {
    const many = await api.queryV2('run_sql', { sql: `select i, '"é' as t, null as n from generate_series(1, 1234) i`, cascade: true });
    const rows = Array.from({ length: 1234 }, (_, i) => [String(i + 1), '"é', 'NULL']);
    expect(many).toEqual({ result_type: 'TuplesOk', result: [['i', 't', 'n'], ...rows], affected: [] });
    expect(await api.queryV2('run_sql', { sql: 'select 1 as a where false' })).toEqual({ result_type: 'TuplesOk', result: [['a']] });
  });

  it.runIf(DEEP)('returns at most the requested rows, and reports that there were more', async () => {
    const run = (sql: string, max_rows: number, more: JsonObject = {}): Promise<Json> => api.queryV2('run_sql', { sql, max_rows, ...more });
    const many = 'select generate_series(1, 100000) n';
    expect(await run(many, 2)).toEqual({ result_type: 'TuplesOk', result: [['n'], ['1'], ['2']], truncated: true });
    expect(await run(many, 1, { read_only: true, cascade: true })).toMatchObject({ result: [['n'], ['1']], truncated: true });
    expect(await run('select 1 n union all select 2', 2)).toEqual({ result_type: 'TuplesOk', result: [['n'], ['1'], ['2']] });
    expect(await run(`${many}; select 7 m`, 1)).toEqual({ result_type: 'TuplesOk', result: [['m'], ['7']] });
    expect(await run('select 1 n', 0)).toEqual({ result_type: 'TuplesOk', result: [['n']], truncated: true });
    expect(await run('create table few (id int)', 1)).toEqual({ result_type: 'CommandOk', result: null });
    for (const wrong of [-1, 1.5, 1e9])
      expect(await refusal(run('select 1', wrong))).toMatchObject({ code: 'parse-failed', path: '$.args.max_rows' });
  });

  it.runIf(DEEP)('lets the database server end the transaction of checked SQL when its service stalls', async () => {
    const sql = `select current_setting('idle_in_transaction_session_timeout') as bound`;
    const run = (check_metadata_consistency: boolean): Promise<Json> => api.queryV2('run_sql', { sql, check_metadata_consistency });
    expect(await run(true)).toMatchObject({ result: [['bound'], ['1min']] });
    expect(await run(false)).toMatchObject({ result: [['bound'], ['0']] });
  });

  it('returns rows as text under a header, for the last result only', async () => {
    expect(await api.queryV2('run_sql', { sql: `select 1; select 1.50 as a, null as "b c", true as d` })).toEqual({
      result_type: 'TuplesOk',
      result: [
        ['a', 'b c', 'd'],
        ['1.50', 'NULL', 't'],
      ],
    });
    expect(await api.queryV2('pg_run_sql', { sql: `insert into author (name) values ('a')` })).toEqual({
      result_type: 'CommandOk',
      result: null,
    });
    expect(await api.queryV1({ type: 'run_sql', args: { sql: 'select count(*) from author' } })).toEqual({
      result_type: 'TuplesOk',
      result: [['count'], ['1']],
    });
  });

  it('returns the error of the database', async () => {
    expect(await refusal(api.queryV2('run_sql', { sql: 'select * from nothing' }))).toMatchObject({
      status: 400,
      path: '$.args',
      error: 'query execution failed',
      code: 'postgres-error',
      internal: {
        statement: 'select * from nothing',
        prepared: false,
        error: { status_code: '42P01', message: 'relation "nothing" does not exist' },
      },
    });
  });

  it('writes nothing in a read-only transaction, and nothing when a later statement fails', async () => {
    expect(await refusal(api.queryV2('run_sql', { sql: `insert into author (name) values ('a')`, read_only: true }))).toMatchObject({
      code: 'postgres-error',
      internal: { error: { status_code: '25006' } },
    });
    await refusal(api.queryV2('run_sql', { sql: `insert into author (name) values ('a'); select 1/0` }));
    expect(await api.queryV2('run_sql', { sql: 'select count(*) from author' })).toMatchObject({ result: [['count'], ['0']] });
  });

  it.runIf(DEEP)('rolls back what a read-only transaction writes nevertheless', async () => {
    for (const sql of ['explain analyze create table written as select 1', 'explain analyze select 1 as a into written'])
      expect(await api.queryV2('run_sql', { sql, read_only: true })).toMatchObject({ result_type: 'TuplesOk' });
    expect(await api.queryV2('run_sql', { sql: `select to_regclass('written')` })).toMatchObject({ result: [['to_regclass'], ['NULL']] });
  });

  it.runIf(DEEP)('parses read-only SQL as the database does, with any backslash setting', async () => {
    await api.queryV2('run_sql', {
      sql: `do $$ begin execute format('alter database %I set standard_conforming_strings = off', current_database()); end $$`,
    });
    const sql = `select '\\''; commit; delete from author; select '\\''`;
    await api.queryV2('run_sql', { sql: `insert into author (name) values ('a')` });
    await refusal(api.queryV2('run_sql', { sql, read_only: true }));
    expect(await api.queryV2('run_sql', { sql: 'select count(*) from author' })).toMatchObject({ result: [['count'], ['1']] });
  });

  it('rejects dropping what relationships need, except with cascade', async () => {
    for (const [sql, text] of [
      ['alter table article drop column author_id', 'relationship article.author in source "default"'],
      ['alter table article drop constraint article_author_id_fkey', 'relationship article.author in source "default"'],
      ['drop table author cascade', 'relationship article.author in source "default"'],
    ] as const) {
      expect(await refusal(api.queryV2('run_sql', { sql }))).toMatchObject({
        path: '$.args',
        error: `cannot drop due to the following dependent objects: ${text}`,
        code: 'dependency-error',
      });
    }
    expect(
      await api.queryV2('run_sql', { sql: `select count(*) from pg_constraint where conname = 'article_author_id_fkey'` }),
    ).toMatchObject({ result: [['count'], ['1']] });
    await api.queryV2('run_sql', { sql: 'drop table author cascade', cascade: true });
    expect(tables()).toEqual(['article']);
    expect(await api.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });

  it('untracks dropped tables and functions', async () => {
    await api.metadata('pg_track_function', 'all_authors');
    await api.queryV2('run_sql', { sql: 'drop function all_authors()' });
    expect(api.state.current().metadata.sources.get('default')?.functions.size).toBe(0);
    await api.queryV2('run_sql', { sql: 'drop function shout(author); drop table article; drop table author;' });
    expect(tables()).toEqual([]);
  });

  it.runIf(DEEP)('protects the functions of computed fields', async () => {
    await api.metadata('pg_add_computed_field', { table: 'author', name: 'loud', definition: { function: 'shout' } });
    expect(await refusal(api.queryV2('run_sql', { sql: 'drop function shout(author)' }))).toMatchObject({
      error: 'cannot drop due to the following dependent objects: computed field author.loud in source "default"',
    });
    await api.queryV2('run_sql', { sql: 'drop function shout(author)', cascade: true });
    expect(await api.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });

  it('inserts rows of any type, with defaults for missing values', async () => {
    const answer = await api.queryV1(
      parseJson(`{"type": "insert", "args": {"table": "author", "returning": ["id", "name", "data", "tags", "big", "docs", "born"], "objects": [
        {"name": "a'\\\\\\"", "data": {"k": [1, null, 12345678901234567890]}, "tags": ["x,y", "\\"q\\\\", null], "big": 12345678901234567890.12345},
        {"name": "b", "docs": [{"a": 1}, [2]], "data": "text", "born": null}
      ]}}`),
    );
    expect(answer).toMatchObject({ affected_rows: 2 });
    const [first, second] = (answer as { returning: Record<string, Json>[] }).returning;
    expect(first).toMatchObject({ id: 1, name: `a'\\"`, tags: ['x,y', '"q\\', null], docs: null, born: '2000-01-01' });
    expect(String(first?.['big'])).toBe('12345678901234567890.12345');
    const data = first?.['data'] as { k: Json[] };
    expect(String(data.k[2])).toBe('12345678901234567890');
    expect(second).toEqual({ id: 2, name: 'b', data: 'text', tags: null, big: null, docs: [{ a: 1 }, [2]], born: null });
  });

  it('inserts on conflict, and only into tracked tables and existing columns', async () => {
    const insert = (args: Json): Promise<Json> => api.queryV1({ type: 'insert', args });
    await insert({ table: 'author', objects: [{ id: 7, name: 'a' }] });
    expect(await insert({ table: 'author', objects: [{ id: 7, name: 'b' }], on_conflict: { action: 'ignore' } })).toEqual({
      affected_rows: 0,
    });
    expect(
      await insert({
        table: 'author',
        objects: [{ id: 7, name: 'c' }],
        on_conflict: { action: 'update', constraint_on: ['id'] },
        returning: ['name'],
      }),
    ).toEqual({ affected_rows: 1, returning: [{ name: 'c' }] });
    expect(await refusal(insert({ table: 'author', objects: [{ id: 7, name: 'c' }] }))).toMatchObject({
      path: '$.args',
      code: 'constraint-violation',
      error: expect.stringMatching(/^Uniqueness violation\. duplicate key/),
    });
    expect(await refusal(insert({ table: 'author', objects: [] }))).toMatchObject({
      error: 'objects should not be empty',
      path: '$.args.objects',
    });
    expect(await refusal(insert({ table: 'nothing', objects: [{}] }))).toMatchObject({
      error: 'table "nothing" does not exist',
      path: '$.args.table',
    });
    expect(await refusal(insert({ table: 'author', objects: [{ name: 'x', age: 1 }] }))).toMatchObject({
      error: 'no such column exists: "age"',
    });
    expect(await insert({ table: 'article', objects: [{}, {}] })).toEqual({ affected_rows: 2 });
    expect(
      await refusal(api.administration.queryV1({ type: 'insert', args: { table: 'author', objects: [{ name: 'x' }] } }, { session: USER })),
    ).toMatchObject({
      error: 'insert on "author" for role "user" is not allowed. ',
      code: 'permission-denied',
    });
  });

  it.runIf(DEEP)('inserts more values than one statement can hold', async () => {
    const objects = Array.from({ length: 31_000 }, (_, i) => ({ title: `t${i}`, author_id: null }));
    expect(await api.queryV1({ type: 'insert', args: { table: 'article', objects } })).toEqual({ affected_rows: 31_000 });
  });
});
