import type { RowsQuery } from '../../../ir/select.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { rowObject } from '../../shared/set-plan/answer.ts';
import { rootRows } from '../../shared/set-plan/level.ts';
import { relatedConditionsOf, JoinBase } from '../../shared/set-plan/join-base.ts';
import type { StatementDraft } from './context.ts';
import { writerOf } from './writer.ts';
import type { Read } from '../../../ir/bool-exp.ts';

/** Compiles one row with the rows as a JSON array and the text of the last cursor value, which is null without rows. */
export function streamSql(draft: StatementDraft, query: RowsQuery, cursor: Read): Sql {
  const writer = writerOf(draft);
  const rows = rootRows(writer, query);
  const base = new JoinBase(writer, rows.rows);
  const object = rowObject(writer, query.fields, base);
  const order = rows.order(base.alias);
  const key = rows.firstKey === null ? writer.read(cursor, base.row, relatedConditionsOf(base)) : sql`${base.alias}.${rows.firstKey}`;
  const array = writer.arrayOrEmpty(writer.array(object, order, null));
  const sorted = order.length === 0 ? EMPTY : sql` order by ${join(order, sql`, `)}`;
  const keys = sql`array_agg(${key}::text${sorted})`;
  return sql`select ${array} as "json", (${keys})[count(*)] as "cursor" from ${base.from(true)}`;
}
