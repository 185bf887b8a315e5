/**
 * Checks of the patterns of a request before any row is read. An operator would report an invalid pattern at the first row that it is
 * evaluated for, even if the role must not see that row, so an error would depend on the plan.
 */
import { Buffer } from 'node:buffer';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Operand } from '../../../ir/value.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import type { ComparisonOperator } from '../../shared/operators.ts';
import { derivedSql } from './operand.ts';

/** Returns the check of LIKE patterns for `operandSql`; `undefined` if there is nothing to check. */
export function patternRefusal(comparison: ComparisonOperator, operand: Operand): ((text: string) => void) | undefined {
  if (comparison.pattern !== 'like' || operand.value.kind === 'session') return undefined;
  return (text) => {
    const pattern = meant(text, operand);
    const escapes = pattern.length - endWithout(pattern, '\\');
    if (escapes % 2 === 1) throw new SvcError('bad-request', 'LIKE pattern must not end with escape character');
  };
}

/**
 * Returns a condition that holds for every valid regular expression. For an invalid one the statement fails before it starts, with the
 * operator's message: the type of JSON paths uses the same parser, and a parameter is parsed when it is bound.
 */
export function validitySql(comparison: ComparisonOperator, operand: Operand): Sql | null {
  const { pattern } = comparison;
  if ((pattern !== 'regex' && pattern !== 'iregex') || operand.value.kind === 'session') return null;
  const flags = pattern === 'iregex' ? 'is' : 's';
  const path = derivedSql(
    operand,
    ` ${pattern}`,
    sql`jsonpath`,
    (text) => `$ ? (@ like_regex ${quoted(meant(text, operand))} flag "${flags}")`,
  );
  return sql`${path} is not null`;
}

/** Removes trailing blanks of a `bpchar`, which the database ignores as padding. */
function meant(text: string, operand: Operand): string {
  return operand.type.name === 'bpchar' ? text.slice(0, endWithout(text, ' ')) : text;
}

/** Returns the length without the trailing occurrences of a character. The regular expression `/ +$/` would take quadratic time. */
function endWithout(text: string, character: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return end;
}

/** Quotes a text as it is sent: a lone surrogate becomes a replacement character. */
function quoted(text: string): string {
  return JSON.stringify(Buffer.from(text).toString());
}
