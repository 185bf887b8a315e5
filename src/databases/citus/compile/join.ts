import type { JoinToSource } from '../../../ir/remote-join.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow } from '../../shared/row.ts';
import { related } from '../../shared/set-plan/answer.ts';
import { Columns, Named } from '../../shared/set-plan/columns.ts';
import { JoinBase } from '../../shared/set-plan/join-base.ts';
import { PLACEHOLDER_NAME } from '../../postgresql/compile/placeholder.ts';
import { fromTextSql, operandSql, textArraySql } from '../../postgresql/compile/operand.ts';
import type { StatementDraft } from './context.ts';
import { writerOf } from './writer.ts';

/**
 * Compiles one row with one cell: the JSON for each key, separated by the name of the placeholders and a semicolon. The keys are the level
 * above the rows: a list of texts per part, cast to the types of the columns that they are compared with.
 */
export function joinSql(draft: StatementDraft, { query, columns, unique }: JoinToSource): Sql {
  const writer = writerOf(draft);
  const texts = draft.context.alias();
  const names = columns.map((_, part) => identifier(`k${part}`));
  const lists = columns.map((_, part) => textArraySql({ kind: 'join-keys', part }));
  const parts = columns.map(({ type }, part) => sql`${fromTextSql(sql`${texts}.${names[part] as Sql}`, type)} as ${names[part] as Sql}`);
  const item = sql`unnest(${join(lists, sql`, `)}) with ordinality as ${texts} (${join([...names, identifier('i')], sql`, `)})`;
  const alias = draft.context.alias();
  const keys = new Columns(aliasRow(alias));
  const typed = sql`select ${join([...parts, sql`${texts}."i"`], sql`, `)} from ${item}`;
  const base = new JoinBase(writer, new Named(writer, keys, () => sql`select ${keys.list()} from (${typed}) as ${alias}`));
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  const answer = related(writer, query, on, base);
  const separator = sql`${operandSql(PLACEHOLDER_NAME)} || ';'`;
  const order = base.row.column('i');
  return sql`select coalesce(string_agg(coalesce(${answer}::text, 'null'), ${separator} order by ${order}), '') from ${base.from(true)}`;
}
