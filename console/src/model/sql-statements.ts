/** Ranges of the statements in an SQL text. */
import { placedStatements } from '../../../packages/model/split-statements.ts';

export interface StatementRange {
  readonly from: number;
  readonly to: number;
}

/** @param escapes true if backslashes escape in strings, from the console form of the kind */
export function statementsOf(text: string, escapes: boolean): readonly StatementRange[] {
  return placedStatements(text, escapes).map(({ text: part, at }) => ({ from: at, to: at + part.length }));
}

/** Returns the statement at a position, or the one before it. */
export function statementAt(text: string, at: number, escapes: boolean): StatementRange | undefined {
  const all = statementsOf(text, escapes);
  return all.find(({ to }) => at <= to + 1) ?? all.at(-1);
}

/** Returns true if the text may create tables. */
export function mayDefine(text: string): boolean {
  return /\b(?:create|alter|drop|rename)\b/i.test(text);
}
