/**
 * A sub-select whose columns are found while what stands around it is compiled: reads from its row
 * are noted down and become its select list.
 */
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';

export interface Projection {
  /** The row as seen from outside. */
  readonly row: Row;
  /** Makes a value of the inner row visible; @returns its name outside. */
  add(value: Sql): Sql;
  /** The select list: call it last. */
  columns(): Sql;
}

/**
 * @param inner the row inside the sub-select
 * @param alias alias of the sub-select outside
 */
export function projection(inner: Row, alias: Sql): Projection {
  const items: Sql[] = [];
  const columns = new Map<string, Sql>();
  let whole: Sql | undefined;
  const put = (value: Sql, name: string): Sql => {
    items.push(sql`${value} as ${identifier(name)}`);
    return sql`${alias}.${identifier(name)}`;
  };
  // Names with a colon are ours; a column that has one itself gets one of ours.
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
        // A lone `t.*` in a select list would be expanded.
        whole ??= fresh(sql`coalesce(${inner.whole()})`);
        return whole;
      },
    },
    add: fresh,
    columns: () => join(items, sql`, `),
  };
}
