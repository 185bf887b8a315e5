/** Rows that the keys of another answer lead to, and the holes that keys are found in. */
import type { Read } from '../../../ir/read.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import { identifier, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { baseType } from '../operators.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { aliasRow, type Row } from '../../../sql/row.ts';
import { fromTextSql, operandSql, textArraySql } from './operand.ts';

const HOLE_NAME = { value: { kind: 'hole-name' }, type: baseType('text'), list: false } as const;

/**
 * One row with one cell: the JSON for each key, with the name of the holes and a semicolon between each two. The keys come
 * as a list of texts per part, and are cast to the types of the columns that they are compared with.
 */
export function joinSql(context: Context, { query, columns, unique }: JoinToSource): Sql {
  const keys = context.alias();
  const texts = context.alias();
  const answer = context.alias();
  const names = columns.map((_, part) => identifier(`k${part}`));
  const parts = columns.map(({ type }, part) => sql`${fromTextSql(sql`${texts}.${names[part] as Sql}`, type)} as ${names[part] as Sql}`);
  const lists = columns.map((_, part) => textArraySql({ kind: 'join-keys', part }));
  const row: Row = aliasRow(keys);
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  return sql`select coalesce(string_agg(coalesce(${answer}."json"::text, 'null'), ${operandSql(HOLE_NAME)} || ';' order by ${keys}."i"), '')
 from (select ${join(parts, sql`, `)}, ${texts}."i" from unnest(${join(lists, sql`, `)}) with ordinality as ${texts} (${join(
   [...names, identifier('i')],
   sql`, `,
 )})) as ${keys} left join lateral (${context.query(query, row, on)}) as ${answer} on true`;
}

/** A hole: a JSON array of the name with the index of the join, and the texts of the key. */
export function holeSql(context: Context, index: number, keys: readonly Read[], row: Row): Sql {
  const texts = keys.map((read) => sql`(${readSql(context, read, row)})::text`);
  return sql`json_build_array(${join([sql`${operandSql(HOLE_NAME)} || ${string(`:${index}`)}`, ...texts], sql`, `)})`;
}
