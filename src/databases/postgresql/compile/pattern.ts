/**
 * Patterns that a request brings are checked before any row is looked at. Left to the operators, a
 * wrong pattern would be found by the first row that gets so far, be it one that the role must not
 * know of; and whether the answer is an error would depend on the plan.
 */
import { Buffer } from 'node:buffer';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Operand } from '../../../ir/value.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import type { Operator } from '../../shared/operators.ts';
import { derivedSql } from './operand.ts';

/** For `operandSql`: texts that are no pattern. Undefined where there is nothing to check. */
export function patternRefusal(comparison: Operator, operand: Operand): ((text: string) => void) | undefined {
  if (comparison.pattern !== 'like' || operand.value.kind === 'session') return undefined;
  return (text) => {
    const pattern = meant(text, operand);
    const escapes = pattern.length - endWithout(pattern, '\\');
    if (escapes % 2 === 1) throw new SvcError('bad-request', 'LIKE pattern must not end with escape character');
  };
}

/**
 * A condition that holds for every valid regular expression. For any other one the statement fails
 * before it starts, with the operator's own words: the type of JSON paths reads the expression with
 * the same parser, and a parameter is read when it is bound.
 */
export function validitySql(comparison: Operator, operand: Operand): Sql | null {
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

/** The database takes blanks at the end of such a value for padding. */
function meant(text: string, operand: Operand): string {
  return operand.type.name === 'bpchar' ? text.slice(0, endWithout(text, ' ')) : text;
}

/** Where the text ends when this character is taken from its end. Not a regular expression: `/ +$/` looks at a run once for each of its characters. */
function endWithout(text: string, character: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return end;
}

/** As it is sent: half of a surrogate pair has become a replacement character. */
function quoted(text: string): string {
  return JSON.stringify(Buffer.from(text).toString());
}
