/**
 * Rows that a later statement of the same transaction reads. They are kept in a setting that ends
 * with the transaction, as the text of an array of the table's row type: what a type prints, it reads.
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
import type { Slot } from './program.ts';

const TEXT = baseType('text');
const COUNT = string('svc.rows');

/** A parameter, so that statements about different rows have the same text. */
export function setting(slot: Slot): Sql {
  return operandSql({ value: nameOf(slot), type: TEXT, list: false });
}

function nameOf(slot: Slot): Value {
  return { kind: 'literal', json: `svc.rows${slot}` };
}

/** Keeps an aggregate of rows; true or false as a value, so that the text does not travel. */
export function keepRows(slot: Slot, row: Sql): Sql {
  return sql`set_config(${setting(slot)}, coalesce(array_agg(${row})::text, '{}'), true) is null`;
}

/** Adds to the number of rows that a root field has changed, or begins with it. */
export function countRows(first: boolean): Sql {
  const sum = first ? sql`count(*)` : sql`current_setting(${COUNT})::int8 + count(*)`;
  return sql`set_config(${COUNT}, (${sum})::text, true) is null`;
}

/** Adds to the number rows that need not be written. */
export function countMore(rows: number): Sql {
  return sql`select set_config(${COUNT}, (current_setting(${COUNT})::int8 + ${integer(rows)})::text, true) is null`;
}

/** The number of rows that statements before have written and counted. */
export function countedRows(): Sql {
  return sql`current_setting(${COUNT})::int8`;
}

/** The rows of the slots, one after another. */
export function keptRows(context: Context, table: QualifiedName, slots: readonly Slot[]): RowSource {
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
    // A lone `t.*` would be expanded.
    from: sql`(select coalesce(${alias}.*) as ":row", row_number() over () as ":position" from ${from}) as ${outside}`,
    row: { column: (name) => sql`(${row}).${identifier(name)}`, whole: () => row },
    position: sql`${outside}.":position"`,
  };
}
