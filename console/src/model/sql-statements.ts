/** Where the statements of an SQL text are. */
import { placedStatements } from '../../../packages/model/split-statements.ts';

export interface StatementRange {
  readonly from: number;
  readonly to: number;
}

/** @param escapes as in the console form of the kind */
export function statementsOf(text: string, escapes: boolean): readonly StatementRange[] {
  return placedStatements(text, escapes).map(({ text: part, at }) => ({ from: at, to: at + part.length }));
}

/** The statement at a place, or the one before it. */
export function statementAt(text: string, at: number, escapes: boolean): StatementRange | undefined {
  const all = statementsOf(text, escapes);
  return all.find(({ to }) => at <= to + 1) ?? all.at(-1);
}

/** Whether a text may define something, so that there may be new tables afterwards. */
export function mayDefine(text: string): boolean {
  return /\b(?:create|alter|drop|rename)\b/i.test(text);
}
