/**
 * Columns of rows that rows of other levels refer to. Like kept rows they stay in a setting of the transaction: as a
 * JSON array with an array of texts per row, where a row is found by its number at once, however many there are.
 */
import { identifier, integer, join, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Row } from '../../../shared/row.ts';
import { fromTextSql } from '../operand.ts';
import type { Fill } from './insert-level.ts';
import { setting } from './kept-rows.ts';
import type { Draft, KeepKeys, Slot } from './program.ts';
import { markedNumber } from './row-mark.ts';

const NUMBER = sql`":number"`;

/** What is to be returned of each row. */
export function keyColumnsSql(keys: KeepKeys, row: Row): readonly Sql[] {
  const texts = keys.columns.map((name, i) => {
    const column = row.column(name);
    // The output function, whatever a cast to text does.
    return sql`case when ${column} is not null then concat(${column}) end as ${keyName(i)}`;
  });
  return keys.marked ? [sql`${markedNumber()} as ${NUMBER}`, ...texts] : texts;
}

function keyName(index: number): Sql {
  return identifier(`:key${index}`);
}

/** Aggregates over what was returned: the first fails where a row is not there, the last keeps the keys. */
export function keepKeys(draft: Draft, rows: Sql, keys: KeepKeys): readonly Sql[] {
  const { slot, columns, first, absent, marked } = keys;
  const texts = sql`jsonb_build_array(${join(
    columns.map((_, i) => keyName(i)),
    sql`, `,
  )})`;
  const raised = draft.raiseOneOf(absent);
  const keep = (aggregate: Sql): Sql => {
    const all = first === 0 ? aggregate : sql`current_setting(${setting(slot)})::jsonb || ${aggregate}`;
    return sql`set_config(${setting(slot)}, (${all})::text, true) is null`;
  };
  if (!marked) return [sql`case when count(*) = 0 then ${raised(integer(0))} end`, keep(sql`jsonb_agg(${texts})`)];
  // Each apart: an aggregate that sorts its input may sort that of its neighbours as well.
  const of = (aggregate: Sql): Sql => sql`(select ${aggregate} from ${rows} where ${NUMBER} >= 0)`;
  const series = sql`generate_series(${integer(first)}, ${integer(first + absent.length - 1)})`;
  const missing = sql`(select min("n") - ${integer(first)} from ${series} as "s" ("n") where "n" not in (select ${NUMBER} from ${rows}))`;
  const twice = draft.raise({ code: 'unexpected', message: 'the database did not return rows one by one', path: keys.path });
  return [
    sql`case when ${of(sql`count(*) > count(distinct ${NUMBER})`)} then ${twice} end`,
    sql`case when ${of(sql`count(*)`)} < ${integer(absent.length)} then ${raised(missing)} end`,
    keep(of(sql`jsonb_agg(${texts} order by ${NUMBER})`)),
  ];
}

/** All keys of a level; as a sub-select they are read once per statement. */
export function keysSql(slot: Slot): Sql {
  return sql`(select current_setting(${setting(slot)})::jsonb)`;
}

/** The value of a column of a row that was written before. @param row number of that row */
export function filledSql(keys: Sql, { column, type }: Fill, row: Sql): Sql {
  return fromTextSql(sql`${keys} -> ${row} ->> ${integer(column)}`, type);
}
