import { describe, expect, it } from 'vitest';
import { statementAt, statementsOf } from './sql-statements.ts';

const texts = (sql: string) => statementsOf(sql).map(({ from, to }) => sql.slice(from, to));

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

  it('are found by the cursor', () => {
    const sql = 'select 1;\nselect 2;\n';
    const at = (place: number) => {
      const found = statementAt(sql, place);
      return found && sql.slice(found.from, found.to);
    };
    expect([at(0), at(9), at(12), at(sql.length)]).toEqual(['select 1', 'select 1', 'select 2', 'select 2']);
  });
});
