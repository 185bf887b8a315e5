/** Placeholders in an answer for fields that another source or server answers. */
import { join, string, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';
import { baseType } from '../operators.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { derivedSql, operandSql } from './operand.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export const PLACEHOLDER_NAME = { value: { kind: 'placeholder-name' }, type: baseType('text'), list: false } as const;

/** Compiles the name and a constant text to one parameter, which is built once per request and not per row. */
function nameThen(more: string): Sql {
  return derivedSql(PLACEHOLDER_NAME, more, sql`text`, (name) => name + more);
}

/**
 * Compiles a placeholder: a text of name, join index and key; if the key has several parts, an array of the name with the index and of
 * their texts. An array costs twice as much.
 */
export function placeholderSql(context: Context, index: number, keys: readonly Read[], row: Row): Sql {
  const [text, ...more] = keys.map((read) => sql`(${readSql(context, read, row)})::text`);
  if (text === undefined || more.length > 0) {
    const texts = text === undefined ? [] : [text, ...more];
    return sql`json_build_array(${join([sql`${operandSql(PLACEHOLDER_NAME)} || ${string(`:${index}`)}`, ...texts], sql`, `)})`;
  }
  return sql`coalesce(${nameThen(`:${index};`)} || ${text}, ${nameThen(`:${index}`)})`;
}
