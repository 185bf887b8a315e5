/**
 * Rows that a later statement of the same transaction reads. They are stored in a transaction-local setting, as the text of an array of the
 * table's row type.
 */
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { Value } from '../../../../ir/value.ts';
import { identifier, integer, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { baseType } from '../../operators.ts';
import type { Context } from '../context.ts';
import { aliasRow } from '../../../shared/row.ts';
import { operandSql } from '../operand.ts';
import { qualified } from '../type-name.ts';
import type { RowSource } from './answer.ts';
import type { SettingSlot } from './program.ts';

const TEXT = baseType('text');
const COUNT = string('svc.rows');

/** Compiles the name of a setting as a parameter, so that statements with different slots have the same text. */
export function setting(slot: SettingSlot): Sql {
  return operandSql({ value: nameOf(slot), type: TEXT, list: false });
}

function nameOf(slot: SettingSlot): Value {
  return { kind: 'literal', json: `svc.rows${slot}` };
}

/** Stores an aggregate of rows. Its value is a boolean, so that the text is not sent to the client. */
export function storeRows(slot: SettingSlot, row: Sql): Sql {
  return sql`set_config(${setting(slot)}, coalesce(array_agg(${row})::text, '{}'), true) is null`;
}

/** Adds rows to the number of rows that a root field has changed. @param first whether the count begins with them */
export function countRows(first: boolean): Sql {
  const sum = first ? sql`count(*)` : sql`current_setting(${COUNT})::int8 + count(*)`;
  return sql`set_config(${COUNT}, (${sum})::text, true) is null`;
}

/** Adds rows that need not be written to the count. */
export function countMore(rows: number): Sql {
  return sql`select set_config(${COUNT}, (current_setting(${COUNT})::int8 + ${integer(rows)})::text, true) is null`;
}

/** The number of rows that earlier statements have counted. */
export function countedRows(): Sql {
  return sql`current_setting(${COUNT})::int8`;
}

/** The rows of the slots in order. */
export function transactionLocalRows(context: Context, table: QualifiedName, slots: readonly SettingSlot[]): RowSource {
  const alias = context.alias();
  const [only] = slots;
  let from: Sql;
  if (slots.length === 1 && only !== undefined) {
    from = sql`${unnested(table, sql`current_setting(${setting(only)})`)} as ${alias}`;
  } else {
    const list = context.alias();
    const names = operandSql({ value: { kind: 'list', items: slots.map(nameOf) }, type: TEXT, list: true });
    from = sql`unnest(${names}) as ${list} ("name"), ${unnested(table, sql`current_setting(${list}."name")`)} as ${alias}`;
  }
  return { from, row: aliasRow(alias), ordered: () => numbered(context, from, alias) };
}

function unnested(table: QualifiedName, text: Sql): Sql {
  return sql`unnest(${text}::${qualified(table)}[])`;
}

function numbered(context: Context, from: Sql, alias: Sql): Omit<RowSource, 'ordered'> & { readonly position: Sql } {
  const outside = context.alias();
  const row = sql`${outside}.":row"`;
  return {
    // `t.*` alone would be expanded.
    from: sql`(select coalesce(${alias}.*) as ":row", row_number() over () as ":position" from ${from}) as ${outside}`,
    row: { column: (name) => sql`(${row}).${identifier(name)}`, whole: () => row },
    position: sql`${outside}.":position"`,
  };
}
