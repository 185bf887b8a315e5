/** Ranges of the statements in an SQL text. */
import type { SqlLexis } from '../../../packages/model/sql-lexis.ts';
import { placedStatements } from '../../../packages/model/split-statements.ts';

export { type SqlLexis, STANDARD_LEXIS } from '../../../packages/model/sql-lexis.ts';

export interface StatementRange {
  readonly from: number;
  readonly to: number;
}

/** @param lexis of the kind's console form */
export function statementsOf(text: string, lexis: SqlLexis): readonly StatementRange[] {
  return placedStatements(text, lexis).map(({ text: part, at }) => ({ from: at, to: at + part.length }));
}

/** Returns true if the text is a single statement, which can be the operand of another, such as one that explains it. */
export function isOneStatement(text: string, lexis: SqlLexis): boolean {
  return statementsOf(text, lexis).length === 1;
}

/** Returns the statement at a position, or the one before it. */
export function statementAt(text: string, at: number, lexis: SqlLexis): StatementRange | undefined {
  const all = statementsOf(text, lexis);
  return all.find(({ to }) => at <= to + 1) ?? all.at(-1);
}

/** Returns true if the text may create tables. */
export function mayDefine(text: string): boolean {
  return /\b(?:create|alter|drop|rename)\b/i.test(text);
}
