/** A subquery whose select list has the columns that the expressions around it read. */
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';

export interface Projection {
  /** Row of the subquery's alias. */
  readonly row: Row;
  /** Adds a value of the inner row. @returns its outer column */
  add(value: Sql): Sql;
  /** Returns the select list. Called last. */
  columns(): Sql;
}

/**
 * @param inner row inside of the subquery
 * @param alias alias of the subquery
 */
export function projection(inner: Row, alias: Sql): Projection {
  const items: Sql[] = [];
  const columns = new Map<string, Sql>();
  let whole: Sql | undefined;
  const put = (value: Sql, name: string): Sql => {
    items.push(sql`${value} as ${identifier(name)}`);
    return sql`${alias}.${identifier(name)}`;
  };
  // Names with a colon are reserved: a column with such a name gets a generated one.
  const fresh = (value: Sql): Sql => put(value, `:${items.length}`);
  return {
    row: {
      column(name) {
        let outside = columns.get(name);
        if (outside === undefined) {
          outside = name.startsWith(':') ? fresh(inner.column(name)) : put(inner.column(name), name);
          columns.set(name, outside);
        }
        return outside;
      },
      whole() {
        // `t.*` alone would be expanded in a select list.
        whole ??= fresh(sql`coalesce(${inner.whole()})`);
        return whole;
      },
    },
    add: fresh,
    columns: () => join(items, sql`, `),
  };
}
