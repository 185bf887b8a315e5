import { describe, expect, it } from 'vitest';
import { isTransactionControl, placedStatements, transactionControlIn, withoutComments } from './split-statements.ts';

const splitStatements = (sql: string): readonly string[] => placedStatements(sql).map(({ text }) => text);

describe('placedStatements', () => {
  it.each<[what: string, sql: string, statements: readonly string[]]>([
    ['nothing', ' ;; -- only a comment\n; /* and ; another */ ', []],
    ['the last one without a semicolon', 'select 1; select 2', ['select 1', 'select 2']],
    ['strings and names', `select ';', 'it''s; ', "a;""b"; select 2;`, [`select ';', 'it''s; ', "a;""b"`, 'select 2']],
    ['backslashes, which end nothing', `select '\\'; select 2`, [`select '\\'`, 'select 2']],
    ['strings with escapes', `select E'\\';''\\''; select e'a'; select 3`, [`select E'\\';''\\''`, `select e'a'`, 'select 3']],
    ['a name that ends in e', `select name'x;' from t; select 2`, [`select name'x;' from t`, 'select 2']],
    ['dollar quotes', 'do $$ begin; end $$; do $a$ $$;$b$ $a$; select 3', ['do $$ begin; end $$', 'do $a$ $$;$b$ $a$', 'select 3']],
    ['dollars that quote nothing', 'select a$b, $1; select a$b$c; select 3', ['select a$b, $1', 'select a$b$c', 'select 3']],
    ['comments', 'select 1 -- a; b\n; /* ; /* ; */ ; */ select 2; -- the end', ['select 1 -- a; b', '/* ; /* ; */ ; */ select 2']],
    ['comments that end with a carriage return', 'select 1 -- a; b\rcommit; select 2', ['select 1 -- a; b\rcommit', 'select 2']],
    ['comments between', 'select 1; -- a; b\rcommit', ['select 1', '-- a; b\rcommit']],
    [
      'parentheses',
      'create rule r as on insert to t do also (select 1; select 2); select 3',
      ['create rule r as on insert to t do also (select 1; select 2)', 'select 3'],
    ],
    [
      'bodies without quotes',
      'create or replace function f() returns int begin atomic select 1; select case when true then 2 end; end; select 3',
      ['create or replace function f() returns int begin atomic select 1; select case when true then 2 end; end', 'select 3'],
    ],
    ['transactions', 'begin; select 1; end; select 2', ['begin', 'select 1', 'end', 'select 2']],
    ['what is never closed', `select 1; select 'a; b`, ['select 1', `select 'a; b`]],
  ])('%s', (_what, sql, statements) => {
    expect(splitStatements(sql)).toEqual(statements);
  });
});

it.each([
  ['commit and chain', true],
  ['-- done\rROLLBACK/* /* */ */', true],
  ['start\ntransaction', true],
  ['rollback to a', false],
  ['ROLLBACK  work to savepoint a', false],
  ['prepare a as select 1', false],
  ['savepoint a', false],
  ['ending', false],
])('%j begins or ends a transaction: %j', (statement, expected) => {
  expect(isTransactionControl(statement)).toBe(expected);
});

describe('transactionControlIn', () => {
  it.each<[what: string, sql: string, control: string | undefined]>([
    ['a routine called begin', 'create function begin() returns int as $$ $$; commit; select 1', 'commit'],
    ['a setting that is begin', 'create or replace function f() returns int set a to begin as $$ $$; COMMIT', 'COMMIT'],
    ['a body with a column called case', 'create function f() returns int begin atomic select 1 case; end; end; select 2', 'end'],
    ['a body of nothing', 'create procedure f() begin atomic end; end', 'end'],
    ['a column called atomic', 'select begin atomic from t; end', 'end'],
    ['a default of a parameter', 'create function f(a int = (select begin atomic from t)) returns int as $$ $$; end', 'end'],
    ['no more than a body', 'create function f(a int) returns int begin /* */ atomic select 1 as case; select 2; end; select 3', undefined],
    ['a string with escapes that goes on behind a line break', "select E'a'\n  '\\''; commit; select '1'", 'commit'],
    ['such a string behind a comment', "select e'a' -- b\n-- c\r'\\''; commit; select '1'", 'commit'],
    ['a string with escapes and another one on its line', "select E'a' '\\'; commit; select '1'", 'commit'],
    ['words in a string that goes on', "select E'a'\n'\\'; commit; '", undefined],
    ['words in quotes', `create procedure f() as 'begin atomic'; select 'commit; end', "a;end"`, undefined],
  ])('%s', (_what, sql, control) => {
    expect(transactionControlIn(sql)?.text).toBe(control);
  });
});

it('reads a string of many doubled quotes', () => {
  expect(splitStatements(`select E'${"''".repeat(100_000)}'; select 2`)).toHaveLength(2);
});

it.each([
  ['select 1 -- a\n\t/* /* b */ */ + 2', 'select 1 + 2'],
  [`select '--', 'image/*', "--"; -- a`, `select '--', 'image/*', "--"; `],
  [`select E'\\'--', 1 -- a`, `select E'\\'--', 1 `],
  ['select $$ -- a $$ -- b', 'select $$ -- a $$ '],
  ['create function f() as $f$ select $$ -- a $$ -- b\n $f$', 'create function f() as $f$ select $$ -- a $$ $f$'],
  ["do language plpgsql 'begin execute ''a -- b''; -- c'", "do language plpgsql 'begin execute ''a ''; '"],
  ["do 'begin -- a", "do 'begin -- a"],
])('%j without comments is %j', (sql, bare) => {
  expect(withoutComments(sql)).toBe(bare);
});

it('reads code that is nested in code to a limited depth', () => {
  const nested = Array.from({ length: 6000 }, (_, i) => `$q${i}$ as `).join('');
  const closed = Array.from({ length: 6000 }, (_, i) => `$q${5999 - i}$`).join('');
  expect(withoutComments(`do ${nested}${closed}`)).toContain('$q5999$');
  expect(withoutComments('do $a$ begin /* outer */ execute $b$ select 1 -- inner\n$b$; end $a$')).toBe(
    'do $a$ begin execute $b$ select 1 $b$; end $a$',
  );
});
