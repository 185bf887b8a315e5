import { expect, it } from 'vitest';
import { migrations } from '../databases/postgresql/migrations/index.ts';
import { createdTables } from './schema-drift.ts';

const creates = (sql: string, ...names: string[]) =>
  names.map((name) => createdTables(migrations.scan(sql).statements, migrations.lexis)?.has(name));

it.each([
  'create table thing (id int primary key)',
  'create unlogged table if not exists public."Thing" (id int)',
  'CREATE /* a */ TABLE\n -- b\n shop . "THING" ()',
  'create or replace view thing as select 1',
  'create materialized view thing as select 1',
  'create recursive view thing (a) as select 1',
  'create foreign table thing (a int) server s',
  'create table thing partition of other default',
  'create schema shop create table thing (a int) create view other as select 1',
  'create algorithm=merge definer=`a`@`b` sql security invoker view `thing` as select 1',
  'alter table other rename to thing',
  'rename table other to thing, a to b',
  'alter table other rename thing',
  'create /*!50013 definer=`a`@`b` sql security invoker */ view thing as select 1',
  'create table a.thing (); create table b.thing (); drop table a.thing',
  'import foreign schema a limit to (thing, "else1") from server b into c',
  "set @s = 'create table thing (a int)'; prepare p from @s",
  'create table shop.other (); alter table only shop.other rename to "thing"',
  'select 1 as a into thing',
  "do $$ begin execute format('create table %I ()', 'thing'); end $$",
  "select make_table('public.thing')",
  'create function f() returns void language sql as $$ create table thing (a int) $$',
  'drop table thing; create table thing (a int)',
])('knows that %s creates the table', (sql) => {
  expect(creates(sql, 'thing', 'else')).toEqual([true, false]);
});

it.each([
  '',
  'create table things (thing int references thing)',
  "insert into thing values ('create view thing')",
  '-- create table thing ()',
  'create index on thing (a)',
  'create trigger t after insert on thing execute function f()',
  'create function f() returns trigger language plpgsql as $$ begin insert into thing values (1); return new; end $$',
  'alter table thing add a int',
  'create table thing (a int); alter table thing rename to other',
  'create table thing (a int); rename table thing to other',
  'select count(*) from thing',
  'with a as (select 1) insert into thing select * from a',
  'create temporary table thing (a int)',
  'alter index other rename to thing',
  'alter table other rename column a to thing',
  'alter type other rename to thing',
  'create table thing (a int); drop table if exists other, public."thing" cascade',
])('knows that %s does not create the table', (sql) => {
  expect(creates(sql, 'thing')).toEqual([false]);
});

it('assumes that what is imported exists', () => {
  expect(createdTables(migrations.scan('import foreign schema a from server b into c').statements, migrations.lexis)).toBeUndefined();
  const partitions = "do $$ begin for i in 1..3 loop execute format('create table thing_%s partition of thing', i); end loop; end $$";
  expect(creates(partitions, 'thing_1', 'thin_1')).toEqual([true, false]);
  expect(creates('create extension postgis', 'spatial_ref_sys', 'thing')).toEqual([true, false]);
  expect(creates('select 1', 'spatial_ref_sys')).toEqual([false]);
});
