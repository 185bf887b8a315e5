import { expect, it } from 'vitest';
import { scanDbbSql, scanSql, terminated } from './scan-sql.ts';

it.each([
  ['plain', 'create table a (id int); commit; drop table a;'],
  ['behind a comment', 'create table a (id int); /* done */ commit; drop table a;'],
  ['behind comments that nest', 'create table a (id int); /* /* done */ */ commit; drop table a;'],
  ['behind a comment that a carriage return ends', 'create table a (id int); -- done\rcommit; drop table a;'],
  ['before a comment', 'create table a (id int); commit/* /* */ */; drop table a;'],
])('finds the end of a transaction: %s', (_, sql) => {
  expect(scanSql(sql).control.map(({ words }) => words)).toEqual([['commit']]);
});

it('takes transactions out of a text that is to be a part of one', () => {
  const own = 'set a = 1;\nbegin;\nselect 1;\ncommit; begin transaction ;\nselect 2; -- ;\nend;';
  expect(scanSql(own)).toMatchObject({
    unwrapped: undefined,
    joined: own.replace('begin;', '      ').replace('commit; begin transaction ;', ' '.repeat(27)).replace('-- ;\nend;', '    \n    '),
  });
  expect(scanSql('begin; select 1; commit').unwrapped).toBe('       select 1;       ');
  for (const other of ['begin; select 1; rollback;', 'begin isolation level serializable; commit'])
    expect(scanSql(other)).toMatchObject({ unwrapped: undefined, joined: undefined });
  expect(scanSql('select 1').joined).toBe('select 1');
  // A comment that reads as a statement is none, also where nothing else is between two semicolons.
  expect(scanSql('begin; select 1; /* commit */; commit;').joined).toBe('       select 1; /* commit */;        ');
  expect(scanSql('begin; set local role x; commit; select 1').joined).toBeUndefined();
  expect(scanSql('set local role x; select 1').joined).toBe('set local role x; select 1');
});

it('finds what psql alone understands', () => {
  const { foreign } = scanSql('--\n-- Data\n--\n\nCOPY public.a (id) FROM stdin;\n1\n\\.\n\\restrict x\n');
  expect(foreign).toEqual([
    { line: 7, what: '\\.' },
    { line: 8, what: '\\restrict' },
    { line: 5, what: 'copy from stdin' },
  ]);
});

it.each([
  ['a name in backticks', "insert into `it's` values ('a; commit; b');"],
  ['a quote behind a backslash', 'insert into t values (\'it\\\'s; commit; b\', "\\"; commit; """);'],
  ['a backslash at the end of a text', "insert into t values ('\\\\', '; commit; ');"],
  ['a comment behind a hash', "select 1; # it's\ninsert into t values ('; commit; ');"],
  ['a dollar in names', "select a$$b, c$$d from t where a = '; commit; $$';"],
  ['a comment that does not nest', "/* /* */ select '; commit; ';"],
  ['two signs that are no comment', "select 5--3, '; commit; ';\n"],
  ['a comment that is run', "/*!40101 set @a = ';' */; insert into t values ('; commit; ');"],
  ['a text that is a line of psql', "insert into t values ('\n\\\\connect x');"],
])('leaves a text for MariaDB as it is: %s', (_, sql) => {
  expect(scanDbbSql(sql)).toMatchObject({ control: [], foreign: [], joined: sql });
  expect(scanDbbSql(`${sql}\n;commit;`).joined).toBe(`${sql}\n;       `);
});

it('takes nothing out of routines of MariaDB', () => {
  const trigger = 'create trigger x before insert on t for each row begin set new.a = 1; set new.b = 2; end;';
  expect(scanDbbSql(trigger)).toMatchObject({ control: [], joined: trigger });
  const routine = 'create or replace procedure p() begin if true then select 1; end if; commit; end;';
  expect(scanDbbSql(routine)).toMatchObject({ unwrapped: undefined, joined: undefined });
});

it.each([
  ['select 1', 'select 1\n;\n'],
  ['select 1; -- done\n# and done\n/* all */\n', 'select 1;\n'],
  ["select 'a\n-- b';", "select 'a\n-- b';\n"],
  ["select 'a\n# b'", "select 'a\n# b'\n;\n"],
  ['-- nothing\n', ''],
  ['select 1 /*!', 'select 1 /*!\n;\n'],
])('ends a text for MariaDB behind what it says: %j', (sql, ended) => {
  expect(terminated(sql)).toBe(ended);
});
