import { describe, expect, it } from 'vitest';
import { KINDS } from './kinds.generated.ts';
import { isOneStatement, type SqlLexis, STANDARD_LEXIS, statementAt, statementsOf } from './sql-statements.ts';

const texts = (sql: string, lexis: SqlLexis = STANDARD_LEXIS) => statementsOf(sql, lexis).map(({ from, to }) => sql.slice(from, to));

describe('statements of an SQL text', () => {
  it('end at semicolons outside of quotes and comments', () => {
    expect(texts(`select ';'; -- one; two\nselect "a;b" /* ; */; do $x$ begin; end $x$;\n select 'it''s;'`)).toEqual([
      `select ';'`,
      `-- one; two\nselect "a;b" /* ; */`,
      'do $x$ begin; end $x$',
      `select 'it''s;'`,
    ]);
    expect(texts(' ;; -- nothing\n;')).toEqual([]);
  });

  it('follow the quoting rules of the kind', () => {
    expect(texts(String.raw`select '\'; select 2`)).toEqual([String.raw`select '\'`, 'select 2']);
    expect(texts('create function f() returns int begin atomic select 1; end; select 2')).toHaveLength(2);
  });

  it.each<[string, string, readonly string[]]>([
    ['dbb', 'select `a;b`, "\\";"; select 2', ['select `a;b`, "\\";"', 'select 2']],
    ['dbb', "# it's\nselect 1; select 2", ["# it's\nselect 1", 'select 2']],
    ['dbb', 'select 5--1; select 2', ['select 5--1', 'select 2']],
    ['dbb', 'select 5 -- 1; select\n; select 2', ['select 5 -- 1; select', 'select 2']],
    ['dbb', '/* /* */ select 1; select 2', ['/* /* */ select 1', 'select 2']],
    ['dbb', '/*!50000 set @a = 1; */; select 2', ['/*!50000 set @a = 1; */', 'select 2']],
    ['dbb', 'select 1 as $a; select 2 as $b', ['select 1 as $a', 'select 2 as $b']],
    ['dbb', "select e'\\'; select 2'; select 3", ["select e'\\'; select 2'", 'select 3']],
    ['dwh', "# it's\nselect '''a';b'''; select 2", ["# it's\nselect '''a';b'''", 'select 2']],
    ['dwh', 'select r"""a"; """; select 2', ['select r"""a"; """', 'select 2']],
    ['dwh', '/* /* */ select 1; select 2--1; select 3', ['/* /* */ select 1', 'select 2--1; select 3']],
  ])('follow the rules of %s: %s', (kind, sql, expected) => {
    expect(texts(sql, KINDS[kind]?.lexis)).toEqual(expected);
  });

  it.each([
    ['select 1', true],
    ["-- a; b\nselect ';';\n", true],
    ['select 1; select pg_terminate_backend(1)', false],
    ['select 1;;select 2;', false],
    ['-- nothing;', false],
  ])('are counted: %s', (sql, isOne) => {
    expect(isOneStatement(sql, STANDARD_LEXIS)).toBe(isOne);
  });

  it('are found at the cursor', () => {
    const sql = 'select 1;\nselect 2;\n';
    const at = (place: number) => {
      const found = statementAt(sql, place, STANDARD_LEXIS);
      return found && sql.slice(found.from, found.to);
    };
    expect([at(0), at(9), at(12), at(sql.length)]).toEqual(['select 1', 'select 1', 'select 2', 'select 2']);
  });
});
