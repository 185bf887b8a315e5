/** The next rows of a stream, and the cursor after them. */
import type { RowsQuery } from '../../../ir/select.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { fieldsOf } from './fields.ts';
import { objectShape } from './json-object.ts';
import { projection } from './projection.ts';
import { rowSetOf } from './row-set.ts';
import type { Read } from '../../../ir/bool-exp.ts';

/** Compiles one row with the rows as a JSON array and the text of the last cursor value, which is null without rows. */
export function streamSql(context: Context, query: RowsQuery, cursor: Read): Sql {
  const rows = rowSetOf(context, query, null, null);
  const [page, object, item] = [context.alias(), context.alias(), context.alias()];
  const inner = projection(rows.row, page);
  // The same expression as the sort key: a mask that is compiled twice differs in its aliases.
  const key = inner.add(rows.keys[0]?.value ?? readSql(context, cursor, rows.row));
  const fields = fieldsOf(context, query.fields, inner.row);
  const shape = objectShape(fields.entries);
  const base = rows.base(inner.columns());
  const direction = rows.keys[0]?.direction ?? EMPTY;
  const json = sql`(select ${shape.json(object)} from (select ${shape.columns}) as ${object})`;
  return sql`select coalesce(json_agg(${item}."json" order by ${item}."key"${direction}), '[]') as "json", (array_agg(${item}."key"::text order by ${item}."key"${
    direction
  }))[count(*)] as "cursor" from (select ${json} as "json", ${key} as "key" from (${base}) as ${page}${join(fields.joins, EMPTY)}) as ${item}`;
}
