/** Rows that expressions read from, and how conditions nest around them. */
import { identifier, type Sql, sql } from '../../sql/fragment.ts';

/** A row that expressions read from. */
export interface Row {
  column(name: string): Sql;
  /** The whole row as an argument of a function. */
  whole(): Sql;
}

/** The row at hand, and the rows around the `exists` conditions that lead to it. */
export interface Scope {
  readonly row: Row;
  readonly outer: Scope | null;
  /** Inside a condition that may fail for other rows than the ones it is asked of. */
  readonly fenced?: true;
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
    // `"t1"` alone would mean a column of that name if there is one.
    whole: () => sql`${alias}.*`,
  };
}

/** A scope with nothing around. */
export function ownScope(row: Row): Scope {
  return { row, outer: null };
}

/** The row that lies `levels` conditions outwards. */
export function rowOutside(scope: Scope, levels: number): Row {
  let at: Scope | null = scope;
  for (let i = 0; i < levels && at !== null; i++) at = at.outer;
  if (at === null) throw new Error('invariant: a column comparison looks beyond its rule');
  return at.row;
}
