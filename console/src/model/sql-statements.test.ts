import { describe, expect, it } from 'vitest';
import { statementAt, statementsOf } from './sql-statements.ts';

const texts = (sql: string, escapes = false) => statementsOf(sql, escapes).map(({ from, to }) => sql.slice(from, to));

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
    expect(texts('select `a;b`, "\\";"; select 2', true)).toEqual(['select `a;b`, "\\";"', 'select 2']);
    expect(texts('create function f() returns int begin atomic select 1; end; select 2')).toHaveLength(2);
  });

  it('are found at the cursor', () => {
    const sql = 'select 1;\nselect 2;\n';
    const at = (place: number) => {
      const found = statementAt(sql, place, false);
      return found && sql.slice(found.from, found.to);
    };
    expect([at(0), at(9), at(12), at(sql.length)]).toEqual(['select 1', 'select 1', 'select 2', 'select 2']);
  });
});
