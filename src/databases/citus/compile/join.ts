import type { JoinToSource } from '../../../ir/remote-join.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow } from '../../shared/row.ts';
import { related } from '../../shared/set-plan/answer.ts';
import { Columns, Named } from '../../shared/set-plan/columns.ts';
import { Place } from '../../shared/set-plan/place.ts';
import { HOLE_NAME } from '../../postgresql/compile/hole.ts';
import { fromTextSql, operandSql, textArraySql } from '../../postgresql/compile/operand.ts';
import type { Draft } from './context.ts';
import { writerOf } from './writer.ts';

/**
 * One row with one cell: the JSON for each key, with the name of the holes and a semicolon between each two. The keys are the level
 * above the rows; they come as a list of texts per part, and are cast to the types of the columns that they are compared with.
 */
export function joinSql(draft: Draft, { query, columns, unique }: JoinToSource): Sql {
  const writer = writerOf(draft);
  const texts = draft.context.alias();
  const names = columns.map((_, part) => identifier(`k${part}`));
  const lists = columns.map((_, part) => textArraySql({ kind: 'join-keys', part }));
  const parts = columns.map(({ type }, part) => sql`${fromTextSql(sql`${texts}.${names[part] as Sql}`, type)} as ${names[part] as Sql}`);
  const item = sql`unnest(${join(lists, sql`, `)}) with ordinality as ${texts} (${join([...names, identifier('i')], sql`, `)})`;
  const alias = draft.context.alias();
  const keys = new Columns(aliasRow(alias));
  const typed = sql`select ${join([...parts, sql`${texts}."i"`], sql`, `)} from ${item}`;
  const place = new Place(writer, new Named(writer, keys, () => sql`select ${keys.list()} from (${typed}) as ${alias}`));
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  const answer = related(writer, query, on, place);
  const separator = sql`${operandSql(HOLE_NAME)} || ';'`;
  const order = place.row.column('i');
  return sql`select coalesce(string_agg(coalesce(${answer}::text, 'null'), ${separator} order by ${order}), '') from ${place.from(true)}`;
}
