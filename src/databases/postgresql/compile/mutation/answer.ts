/** The JSON of a mutation's answer, from the written rows. */
import type { MutationField, MutationOutput } from '../../../../ir/mutation.ts';
import type { Field } from '../../../../ir/select.ts';
import { EMPTY, join, string, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Context } from '../context.ts';
import type { Row } from '../../../shared/row.ts';
import { fieldsOf, hasRelated } from '../fields.ts';
import { builtObject, objectShape } from '../json-object.ts';

/** Written rows in their order. */
export interface RowSource {
  readonly from: Sql;
  readonly row: Row;
  /** Returns the rows with a position to sort by: joins to related rows may shuffle them. */
  ordered(): { readonly from: Sql; readonly row: Row; readonly position: Sql };
}

/** Compiles one JSON value; null if there is no row for `row`. */
export function answerSql(context: Context, output: MutationOutput, rows: RowSource, count: Sql): Sql {
  // In tables with inheritance a key may exist several times.
  if (output.kind === 'row') return sql`(${rowSql(context, output.fields, rows)} limit 1)`;
  return builtObject(output.fields.map((field) => ({ key: field.alias, value: fieldSql(context, field, rows, count) })));
}

function fieldSql(context: Context, field: MutationField, rows: RowSource, count: Sql): Sql {
  switch (field.kind) {
    case 'typename':
      return sql`${string(field.typeName)}::text`;
    case 'affected-rows':
      return count;
    case 'returning': {
      const { select, shape } = rowsSelect(context, field.fields, rows);
      const alias = context.alias();
      return sql`(select coalesce(json_agg(${shape.item(alias)}), '[]') from (${select}) as ${alias})`;
    }
  }
}

/** Compiles a select with the JSON of the one row, or without rows. */
export function rowSql(context: Context, fields: readonly Field[], rows: RowSource): Sql {
  const { select, shape } = rowsSelect(context, fields, { ...rows, ordered: null });
  const alias = context.alias();
  return sql`select ${shape.json(alias)} as "json" from (${select}) as ${alias}`;
}

function rowsSelect(
  context: Context,
  fields: readonly Field[],
  rows: Omit<RowSource, 'ordered'> & { readonly ordered: RowSource['ordered'] | null },
) {
  const ordered = hasRelated(fields) && rows.ordered !== null ? rows.ordered() : null;
  const { from, row } = ordered ?? rows;
  const { entries, joins } = fieldsOf(context, fields, row);
  const shape = objectShape(entries);
  const order = ordered === null ? EMPTY : sql` order by ${ordered.position}`;
  return { select: sql`select ${shape.columns} from ${from}${join(joins, EMPTY)}${order}`, shape };
}

export function countsRows(output: MutationOutput): boolean {
  return output.kind === 'response' && output.fields.some((field) => field.kind === 'affected-rows');
}
