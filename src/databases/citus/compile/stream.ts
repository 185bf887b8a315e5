import type { RowsQuery } from '../../../ir/select.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { objectOf } from '../../shared/set-plan/answer.ts';
import { rootRows } from '../../shared/set-plan/level.ts';
import { asksOf, Place } from '../../shared/set-plan/place.ts';
import type { Draft } from './context.ts';
import { writerOf } from './writer.ts';
import type { Read } from '../../../ir/bool-exp.ts';

/** One row with two columns: the rows as a JSON array, and the text of the last value that they are ordered by; null for no rows. */
export function streamSql(draft: Draft, query: RowsQuery, cursor: Read): Sql {
  const writer = writerOf(draft);
  const rows = rootRows(writer, query);
  const place = new Place(writer, rows.rows);
  const object = objectOf(writer, query.fields, place);
  const order = rows.order(place.alias);
  const key = rows.firstKey === null ? writer.read(cursor, place.row, asksOf(place)) : sql`${place.alias}.${rows.firstKey}`;
  const array = writer.arrayOrEmpty(writer.array(object, order, null));
  const sorted = order.length === 0 ? EMPTY : sql` order by ${join(order, sql`, `)}`;
  const keys = sql`array_agg(${key}::text${sorted})`;
  return sql`select ${array} as "json", (${keys})[count(*)] as "cursor" from ${place.from(true)}`;
}
