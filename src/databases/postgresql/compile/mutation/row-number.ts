/**
 * Numbers of written rows in their source. In PostgreSQL `returning` cannot read the source (for `insert` not even in version 18), and the
 * order of returned rows is undefined. But it writes row by row: it reads a row from the source, writes it, and computes the returned
 * columns before it reads the next row. So each row of the source sets a setting to its number when it is read, and `returning` reads the
 * setting. Statements with numbers check that all numbers are present and different: if rows were read ahead, the last ones would have the
 * same number.
 */
import { string, type Sql, sql } from '../../../../sql/fragment.ts';

const ROW_NUMBER = string('svc.row');
/** Number of rows that no other row refers to. */
export const UNNUMBERED = -1;

/** A condition that always holds and sets the number of the row that is being read. */
export function setRowNumber(number: Sql): Sql {
  return sql`set_config(${ROW_NUMBER}, ${number}, true) is not null`;
}

/** The number of the row, for `returning`. */
export function currentRowNumber(): Sql {
  return sql`current_setting(${ROW_NUMBER})::int4`;
}
