/** Placeholders in an answer for fields that another source or server answers. */
import type { Operand } from '../../../ir/value.ts';
import { join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { TEXT } from '../base-type.ts';
import { operandSql } from './operand.ts';
import { textOutputSql } from './output.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export const PLACEHOLDER_NAME: Operand = { value: { kind: 'placeholder-name' }, type: TEXT, list: false };

/** Compiles a text of name, join index and key; if the key has several columns, an array of the name with the index and their texts. */
export function placeholderSql(index: number, keys: readonly Read[], read: (read: Read) => Sql): Sql {
  const texts = keys.map((key) => textOutputSql(read(key), key.type));
  const name = operandSql(PLACEHOLDER_NAME);
  const [text, ...more] = texts;
  if (text === undefined || more.length > 0) {
    const parts = texts.map((each) => sql`, ',', to_json_string(${each})`);
    return sql`concat('[', to_json_string(concat(${name}, ${string(`:${index}`)}))${join(parts, sql``)}, ']')`;
  }
  return sql`to_json_string(concat(${name}, ${string(`:${index}`)}, ifnull(concat(';', ${text}), '')))`;
}
