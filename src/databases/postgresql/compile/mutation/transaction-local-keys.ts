/**
 * Keys of rows that rows of other levels refer to. They are stored in a setting of the transaction: as a JSON array with an array of texts
 * per row, in which a row is found by its number in constant time.
 */
import { identifier, integer, join, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Row } from '../../../shared/row.ts';
import { fromTextSql } from '../operand.ts';
import type { Fill } from './insert-level.ts';
import { setting } from './transaction-local-rows.ts';
import type { MutationDraft, TransactionLocalKeys, SettingSlot } from './program.ts';
import { currentRowNumber } from './row-number.ts';

const NUMBER = sql`":number"`;

/** Compiles the columns that are returned for each row. */
export function keyColumnsSql(keys: TransactionLocalKeys, row: Row): readonly Sql[] {
  const texts = keys.columns.map((name, i) => {
    const column = row.column(name);
    // Calls the output function, which may differ from a cast to text.
    return sql`case when ${column} is not null then concat(${column}) end as ${keyName(i)}`;
  });
  return keys.isNumbered ? [sql`${currentRowNumber()} as ${NUMBER}`, ...texts] : texts;
}

function keyName(index: number): Sql {
  return identifier(`:key${index}`);
}

/** Compiles aggregates over the returned rows: the first fails if a row is missing, the last stores the keys. */
export function storeKeys(draft: MutationDraft, rows: Sql, keys: TransactionLocalKeys): readonly Sql[] {
  const { slot, columns, first, absent, isNumbered } = keys;
  const texts = sql`jsonb_build_array(${join(
    columns.map((_, i) => keyName(i)),
    sql`, `,
  )})`;
  const raised = draft.raiseOneOf(absent);
  const keep = (aggregate: Sql): Sql => {
    const all = first === 0 ? aggregate : sql`current_setting(${setting(slot)})::jsonb || ${aggregate}`;
    return sql`set_config(${setting(slot)}, (${all})::text, true) is null`;
  };
  if (!isNumbered) return [sql`case when count(*) = 0 then ${raised(integer(0))} end`, keep(sql`jsonb_agg(${texts})`)];
  // Separate subqueries: an aggregate that sorts its input may also sort that of other aggregates.
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

/** Compiles the keys of a level as a subquery, which is evaluated once per statement. */
export function keysSql(slot: SettingSlot): Sql {
  return sql`(select current_setting(${setting(slot)})::jsonb)`;
}

/** Compiles the value of a column of a row that was written before. @param row number of that row */
export function filledSql(keys: Sql, { column, type }: Fill, row: Sql): Sql {
  return fromTextSql(sql`${keys} -> ${row} ->> ${integer(column)}`, type);
}
