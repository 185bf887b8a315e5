import { cpuOf } from '../../../test/support/cpu.ts';
import { expect, it } from 'vitest';
import { scanSql } from '../../databases/postgresql/migrations/scan.ts';
import { recordedSql } from './recorded-sql.ts';

const recorded = (sql: string, isTransactional = true): string | undefined => recordedSql(sql, scanSql(sql), isTransactional)?.text;

it.each([
  ['settings', "select set_config('app.password', 'SECRET', false)"],
  ['settings of a session', "set app.api_key = 'SECRET'"],
  ['code that puts SQL together', "do $$ begin execute format('alter %s bob password %L', 'role', 'SECRET'); end $$"],
  ['code that defines roles', "do $$ begin execute 'create role bob password ''SECRET'''; end $$"],
  ['functions with addresses', "create function f() returns text language sql as $$ select 'postgres://user:SECRET@host/db' $$"],
  ['comments with addresses', '/* postgres://user:SECRET@host */ create view v as select 1'],
  ['functions with connection strings', "create function f() returns text language sql as $$ select 'host=h password=SECRET' $$"],
  ['options', "alter foreign data wrapper w options (add password 'SECRET')"],
  ['columns', "update users set password = 'SECRET'; alter table users add a int"],
  ['rows', "insert into kept values ('SECRET')"],
  ['rows of a query', "with new as (insert into kept values ('SECRET') returning 1) select * from new"],
])('leaves secrets out of a migration, in %s', (_, sql) => {
  const text = recorded(`create table kept (a text); ${sql}; create table more ()`);
  expect(text).not.toContain('SECRET');
  expect(text).toContain('create table kept (a text);');
  expect(text).toContain('create table more ()');
  expect(text).toContain('-- left out: ');
});

it.each([
  ['comments on roles', 'comment on role bob is null'],
  ['memberships of roles', 'grant pg_monitor to bob'],
  ['revoked memberships', 'revoke "reads on" from bob'],
  ['groups', 'alter group readers rename to writers'],
  ['databases', 'grant connect on database a to bob'],
  ['settings of databases', "alter database a set search_path = 'b'"],
  ['temporary objects', 'create table pg_temp.t (id int)'],
  ['temporary functions', 'create or replace function "pg_temp".f() returns int language sql as $$ select 1 $$'],
  ['what was rolled back', 'begin; create table rb (id int); rollback'],
  ['what was rolled back with what is before begin', 'create table rb (id int); begin; select 1; rollback'],
  ['what was rolled back to a savepoint', 'begin; savepoint a; create table rb (id int); rollback to a; commit'],
  ['changes of rows only', 'insert into a values (1)'],
])('does not record %s', (_, sql) => {
  expect(recorded(sql)).toBeUndefined();
});

it('records what a rollback did not undo', () => {
  expect(recorded('create table a (); commit; begin; create table b (); rollback; create table c ()')).toMatch(
    /^create table a \(\); commit;\s+create table c \(\)$/,
  );
  expect(recorded('begin; create table a (); savepoint s; create table b (); rollback to savepoint s; commit')).not.toContain('table b');
  expect(recorded('create index concurrently i on a (b); begin; create table b (); rollback')).toMatch(/create index concurrently/);
  expect(recorded('begin; create table b (); rollback', false)).toBe('begin; create table b (); rollback');
});

it('records changes of rows that a definition behind them may need', () => {
  for (const sql of [
    'alter table a add b int; update a set b = 1; alter table a alter b set not null',
    'create table b (id int); insert into b select id from a; drop table a',
    'delete from a where id = 1; create unique index on a (id)',
  ])
    expect(recorded(sql)).toBe(sql);
});

it('records permissions of tables and ordinary functions', () => {
  for (const sql of [
    'grant select, insert, update (a, b), delete on t to bob',
    'alter default privileges grant select on tables to bob',
    'create function login(name text, password text) returns boolean language sql as $$ select crypt($2, hash) = hash from users $$',
    "select set_config('search_path', 'a', false); create table kept ()",
    "create table links (url text default 'https://example.com:443/a@b')",
  ])
    expect(recorded(sql)).toBe(sql);
});

it('scans SQL in time that grows with its length', async () => {
  const spent = await cpuOf(async () => {
    for (const unit of ['execute a ', 'password=', 'host=a ', 'a://b:', 'a.', 'token', "set_config('token", 'create role '])
      recorded(`create table a (); select 1 -- ${unit.repeat(20_000)}\n`);
  });
  expect(spent).toBeLessThan(5000);
});
