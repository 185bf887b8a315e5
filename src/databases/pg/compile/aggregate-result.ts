/** The JSON object of an aggregate query, from the values of its rows. */
import type { Read } from '../../../ir/read.ts';
import type { AggregateField, AggregateItem } from '../../../ir/select.ts';
import { identifier, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import { builtObject, type Entry, fitsOneCall } from './json-object.ts';
import { isStringified } from './output.ts';

export interface AggregatedRows {
  /** A value of a row. */
  read(read: Read): Sql;
  /** The aggregate that is a `nodes` array. */
  nodes(field: Extract<AggregateField, { kind: 'nodes' }>): Sql;
  /** A select of aggregates over the rows; called last. */
  select(columns: Sql): Sql;
}

export function aggregateResult(context: Context, fields: readonly AggregateField[], rows: AggregatedRows): Sql {
  // Objects too wide for one call are built outside of the select that aggregates.
  const outside = fields.some(isWide) ? context.alias() : null;
  const columns: Sql[] = [];
  let aggregates = 0;
  const value = (aggregate: Sql): Sql => {
    aggregates++;
    if (outside === null) return aggregate;
    const name = identifier(`:${columns.length}`);
    columns.push(sql`${aggregate} as ${name}`);
    return sql`${outside}.${name}`;
  };
  const object = builtObject(
    fields.map((field): Entry => {
      switch (field.kind) {
        case 'typename':
          return typenameEntry(field);
        case 'nodes':
          return { key: field.alias, value: value(rows.nodes(field)) };
        case 'aggregate':
          return { key: field.alias, value: builtObject(field.fields.map((item) => itemEntry(context, item, rows, value))) };
      }
    }),
  );
  // Without an aggregate a select has as many rows as its source.
  if (aggregates === 0) return sql`select ${object} as "json"`;
  if (outside === null) return rows.select(sql`${object} as "json"`);
  return sql`select ${object} as "json" from (${rows.select(join(columns, sql`, `))}) as ${outside}`;
}

function isWide(field: AggregateField, _index: number, all: readonly AggregateField[]): boolean {
  if (!fitsOneCall(all)) return true;
  if (field.kind !== 'aggregate') return false;
  return !fitsOneCall(field.fields) || field.fields.some((item) => item.kind === 'function' && !fitsOneCall(item.fields));
}

function typenameEntry(field: { readonly alias: string; readonly typeName: string }): Entry {
  return { key: field.alias, value: sql`${string(field.typeName)}::text` };
}

function itemEntry(context: Context, item: AggregateItem, rows: AggregatedRows, value: (aggregate: Sql) => Sql): Entry {
  switch (item.kind) {
    case 'typename':
      return typenameEntry(item);
    case 'count':
      return { key: item.alias, value: value(aggregateCall('count', item.columns.map(rows.read), item.distinct)) };
    case 'function':
      return {
        key: item.alias,
        value: builtObject(
          item.fields.map((field): Entry => {
            if (field.kind === 'typename') return typenameEntry(field);
            const aggregate = value(aggregateCall(item.function, [rows.read(field.read)], false));
            const asText = context.options.stringifyNumericTypes && isStringified(field.columnType);
            return { key: field.alias, value: asText ? sql`(${aggregate})::text` : aggregate };
          }),
        ),
      };
  }
}
