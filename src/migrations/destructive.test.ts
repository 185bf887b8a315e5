import { expect, it } from 'vitest';
import { scanStatements } from '../databases/shared/scan-statements.ts';
import { LEXIS } from '../databases/mariadb/lexis.ts';
import { migrations } from '../databases/mariadb/migrations/index.ts';
import { STANDARD_LEXIS } from '../model/sql-lexis.ts';
import { destructiveStatements } from './destructive.ts';

const found = (sql: string) =>
  destructiveStatements(scanStatements(sql, /^begin\b/).statements, STANDARD_LEXIS).map(({ line, what }) => `${line} ${what}`);

it.each([
  ['drop table if exists a, "b c" cascade', ['1 drops the table a, "b c"']],
  ['-- why\n\ndrop schema old', ['3 drops the schema old']],
  ['truncate table public.a restart identity', ['1 deletes all rows of public.a']],
  ['delete from only a where id = 1', ['1 deletes rows of a']],
  [
    'alter table if exists only s.a drop b, drop column if exists "c", add d int',
    ['1 drops the column b of s.a', '1 drops the column "c" of s.a'],
  ],
  ['alter table a drop /* it */ partition p0', ['1 drops the partition p0 of a']],
  ['alter table a drop constraint b, alter c drop not null, alter d drop default', []],
  ["alter table a add b text default 'drop table c'", []],
  ["insert into a values ('delete from b')", []],
  ['with gone as (delete from a returning *) insert into b select * from gone', ['1 deletes rows of a']],
  ['drop index a; drop view b; drop function c()', []],
  ['create function f() returns void language sql as $$ delete from a $$', []],
])('finds what %j deletes', (sql, expected) => {
  expect(found(sql)).toEqual(expected);
});

it.each([
  [String.raw`alter table a add b varchar(9) default 'it\'s', drop column c`, ['1 drops the column c of a']],
  ['alter table a add b int # drop column c', []],
  ['alter table a /*! drop column b */', ['1 drops the column b of a']],
  ['alter table a drop column b /* why */, drop column c', ['1 drops the column b of a', '1 drops the column c of a']],
])('reads the SQL of MariaDB by its own rules: %j', (sql, expected) => {
  const found = destructiveStatements(migrations.scan(sql).statements, LEXIS).map(({ line, what }) => `${line} ${what}`);
  expect(found).toEqual(expected);
});
