import { expect, it } from 'vitest';
import { endOfFirst, scanSql, terminated } from './scan.ts';

it.each([
  ['a name in backticks', "insert into `it's` values ('a; commit; b');"],
  ['an escaped quote', 'insert into t values (\'it\\\'s; commit; b\', "\\"; commit; """);'],
  ['a backslash at the end of a text', "insert into t values ('\\\\', '; commit; ');"],
  ['a comment after a hash', "select 1; # it's\ninsert into t values ('; commit; ');"],
  ['a dollar in names', "select a$$b, c$$d from t where a = '; commit; $$';"],
  ['a comment that does not nest', "/* /* */ select '; commit; ';"],
  ['two minus signs that start no comment', "select 5--3, '; commit; ';\n"],
  ['an executable comment', "/*!40101 set @a = ';' */; insert into t values ('; commit; ');"],
  ['a text that looks like a psql command', "insert into t values ('\n\\\\connect x');"],
])('keeps SQL unchanged for MariaDB: %s', (_, sql) => {
  expect(scanSql(sql)).toMatchObject({ control: [], foreign: [], joined: sql });
  expect(scanSql(`${sql}\n;commit;`).joined).toBe(`${sql}\n;       `);
});

it('finds commands of the client', () => {
  const sql =
    "insert into t values ('\ndelimiter //\n');\n/*\ndelimiter //\n*/\nDELIMITER //\ncreate procedure p() begin end//\ndelimiter ;";
  expect(scanSql(sql).foreign).toEqual([7, 9].map((line) => ({ line, what: 'delimiter', client: 'the mariadb client' })));
});

it('accepts a rollback to a savepoint in a transaction', () => {
  expect(scanSql('begin; rollback work to a; rollback to savepoint a; commit').unwrapped).toBeDefined();
});

it('keeps the bodies of routines', () => {
  const trigger = 'create trigger x before insert on t for each row begin set new.a = 1; set new.b = 2; end;';
  expect(scanSql(trigger)).toMatchObject({ control: [], joined: trigger });
  const routine = 'create or replace procedure p() begin if true then select 1; end if; commit; end;';
  expect(scanSql(routine)).toMatchObject({ unwrapped: undefined, joined: undefined });
});

it.each([
  ['select 1', 'select 1\n;\n'],
  ['select 1; -- done\n# and done\n/* all */\n', 'select 1;\n'],
  ["select 'a\n-- b';", "select 'a\n-- b';\n"],
  ["select 'a\n# b'", "select 'a\n# b'\n;\n"],
  ['-- nothing\n', ''],
  ['select 1 /*!', 'select 1 /*!\n;\n'],
])('terminates the last statement: %j', (sql, ended) => {
  expect(terminated(sql)).toBe(ended);
});

it.each([
  ['create table a (id int); select 1', ' select 1'],
  ['-- a; b\n/* ; */ insert into t values (\'a;\', "b;", `c;`) # ;\n; select 1', ' select 1'],
  ['create table a (id int)', undefined],
  ['drop table a, b; select 1', undefined],
  ['create procedure p() begin select 1; end;', undefined],
  ['/*!40101 set @a = 1 */; select 1', undefined],
  ['insert into t values (1) /* ;', undefined],
])('finds the end of a first statement that runs completely or not at all: %j', (sql, rest) => {
  const end = endOfFirst(sql);
  expect(end === undefined ? undefined : sql.slice(end)).toBe(rest);
});
