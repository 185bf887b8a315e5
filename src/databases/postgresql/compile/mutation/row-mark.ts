/**
 * Which row of its source a written row is. PostgreSQL neither lets `returning` see the source (an `insert` of version 18
 * still does not) nor promises the order of what it returns. But it writes row by row: it takes a row from the source,
 * writes it, and computes what is returned of it before it takes the next. So each row of the source, when it is taken,
 * puts its number into a setting, and `returning` reads the setting. Whoever uses the numbers makes sure that they are
 * all there and all different: were rows taken ahead of time, the last ones would have the same number.
 */
import { string, type Sql, sql } from '../../../../sql/fragment.ts';

const MARK = string('svc.row');
/** Of a row that nobody asks for. */
export const UNNUMBERED = -1;

/** A condition that always holds, and leaves the number of the row that is being taken. */
export function mark(number: Sql): Sql {
  return sql`set_config(${MARK}, ${number}, true) is not null`;
}

/** In `returning`: the number of the row. */
export function markedNumber(): Sql {
  return sql`current_setting(${MARK})::int4`;
}
