/** The next rows of a stream, and the cursor after them. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { RowsQuery } from '../../../ir/select.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import { familyOf } from '../families.ts';
import type { Context } from './context.ts';
import { rowObjectSql } from './query.ts';
import { orderBySql, type OrderKey } from './order-by.ts';
import { rowSetOf } from './row-set.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export interface Stream {
  /** Rows as a JSON array. */
  readonly rows: Sql;
  /** Text of the last cursor value; null without rows. */
  readonly cursor: Sql;
  /** ` from …` for both. */
  readonly from: Sql;
}

export function streamSql(context: Context, query: RowsQuery, cursor: Read): Stream {
  const { row, keys, body } = rowSetOf(context, query.from, query.rows, null, null, (all) => all.map((key) => streamKey(key, cursor.type)));
  const [key] = keys;
  if (key === undefined) throw new Error('invariant: a stream is ordered by its cursor');
  const object = rowObjectSql(context, query.fields, row);
  const last = key.direction === 'asc' ? sql`max(${key.value})` : sql`min(${key.value})`;
  return {
    rows: sql`coalesce(json_arrayagg(${object}${orderBySql(keys)}), json_array())`,
    cursor: cursorText(last, cursor.type),
    from: sql` from ${body}`,
  };
}

/** Rows without a value are never after a cursor; their position is left to the database, so that it can use an index. */
function streamKey({ value, direction }: OrderKey, type: CatalogType): OrderKey {
  // Enums and sets sort by number but compare as texts.
  const isList = type.name === 'enum' || type.name === 'set';
  return { value: isList ? sql`concat(${value})` : value, direction, nulls: direction === 'asc' ? 'first' : 'last' };
}

/** Compiles the cursor to a text that its parameter type parses without loss. */
function cursorText(value: Sql, type: CatalogType): Sql {
  switch (familyOf(type).kind) {
    case 'bytes':
      return sql`to_base64(${value})`;
    // As a float it would be printed with at most six digits.
    case 'float':
      return sql`cast(${value} + 0e0 as char)`;
    case 'bits':
      return sql`cast(${value} + 0 as char)`;
    case 'text':
      return sql`convert(${value} using utf8mb4)`;
    default:
      return sql`cast(${value} as char)`;
  }
}
