/** Rows that expressions read from, and the nesting of conditions around them. */
import { identifier, type Sql, sql } from '../../sql/fragment.ts';

/** A row that expressions read from. */
export interface Row {
  column(name: string): Sql;
  /** Returns the whole row as an argument of a function. */
  whole(): Sql;
}

/** The current row, and the rows around the `exists` conditions that contain it. */
export interface Scope {
  readonly row: Row;
  readonly outer: Scope | null;
  /** Set inside of a condition that may fail for rows that its guard excludes. */
  readonly fenced?: boolean;
}

/** The row of a table alias (a table, a function or a common table expression). */
export function aliasRow(alias: Sql): Row {
  // A condition may read the same column thousands of times.
  const columns = new Map<string, Sql>();
  return {
    column(name) {
      let column = columns.get(name);
      if (column === undefined) {
        column = sql`${alias}.${identifier(name)}`;
        columns.set(name, column);
      }
      return column;
    },
    // `"t1"` alone would mean a column of that name.
    whole: () => sql`${alias}.*`,
  };
}

/** A scope without outer rows. */
export function ownScope(row: Row): Scope {
  return { row, outer: null };
}

/** The row `levels` conditions further out. */
export function rowOutside(scope: Scope, levels: number): Row {
  let at: Scope | null = scope;
  for (let i = 0; i < levels && at !== null; i++) at = at.outer;
  if (at === null) throw new Error('invariant: a column comparison looks beyond its rule');
  return at.row;
}
