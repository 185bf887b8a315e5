import { withoutComments } from '../model/split-statements.ts';
import type { SqlLexis } from '../model/sql-lexis.ts';

/** A comment that is executed. */
const EXECUTED = /\/\*M?!\d*([\s\S]*?)\*\//g;

/**
 * Returns a statement without comments, with one blank in place of whitespace, and with the code of comments that are executed.
 * @param literal returns the replacement of a literal or a name in quotes
 */
export function bareSql(statement: string, lexis: SqlLexis, literal: (text: string) => string): string {
  const executed = lexis.executableComments ? statement.replace(EXECUTED, ' $1 ') : statement;
  return withoutComments(executed, literal, lexis).replace(/\s+/g, ' ');
}
