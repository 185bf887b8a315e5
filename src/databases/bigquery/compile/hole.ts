/** Marks in an answer, in the places of fields that another source or server answers. */
import type { Operand } from '../../../ir/value.ts';
import { join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { TEXT } from '../type-of.ts';
import type { Context } from './context.ts';
import { operandSql } from './operand.ts';
import { textOutputSql } from './output.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export const HOLE_NAME: Operand = { value: { kind: 'hole-name' }, type: TEXT, list: false };

/** A text of the name, the index of the join and the key; or where the key has several parts, an array of the name with the index and of their texts. */
export function holeSql(_context: Context, index: number, keys: readonly Read[], read: (read: Read) => Sql): Sql {
  const texts = keys.map((key) => textOutputSql(read(key), key.type));
  const name = operandSql(HOLE_NAME);
  const [text, ...more] = texts;
  if (text === undefined || more.length > 0) {
    const parts = texts.map((each) => sql`, ',', to_json_string(${each})`);
    return sql`concat('[', to_json_string(concat(${name}, ${string(`:${index}`)}))${join(parts, sql``)}, ']')`;
  }
  return sql`to_json_string(concat(${name}, ${string(`:${index}`)}, ifnull(concat(';', ${text}), '')))`;
}
