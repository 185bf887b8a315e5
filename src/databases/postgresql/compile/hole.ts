/** Marks in an answer, in the places of fields that another source or server answers. */
import { join, string, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';
import { baseType } from '../operators.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { derivedSql, operandSql } from './operand.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export const HOLE_NAME = { value: { kind: 'hole-name' }, type: baseType('text'), list: false } as const;

/** Made once for a request and not for each row. */
function nameThen(more: string): Sql {
  return derivedSql(HOLE_NAME, more, sql`text`, (name) => name + more);
}

/**
 * A hole: a text of the name, the index of the join and the key; or where the key has several parts, an array of the name with the index
 * and of their texts. Making an array costs twice as much.
 */
export function holeSql(context: Context, index: number, keys: readonly Read[], row: Row): Sql {
  const [text, ...more] = keys.map((read) => sql`(${readSql(context, read, row)})::text`);
  if (text === undefined || more.length > 0) {
    const texts = text === undefined ? [] : [text, ...more];
    return sql`json_build_array(${join([sql`${operandSql(HOLE_NAME)} || ${string(`:${index}`)}`, ...texts], sql`, `)})`;
  }
  return sql`coalesce(${nameThen(`:${index};`)} || ${text}, ${nameThen(`:${index}`)})`;
}
