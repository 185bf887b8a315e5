/** The JSON object of an aggregate query. */
import type { AggregateField, AggregateItem, GroupsField } from '../../../ir/select.ts';
import { identifier, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import type { AggregateArgument } from '../../shared/aggregates.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import { builtObject, type Entry, fitsOneCall } from './json-object.ts';
import { isStringified } from './output.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export interface AggregatedRows {
  /** Compiles a value of a row. */
  read(read: Read): Sql;
  /** Compiles the aggregate of a `nodes` array. */
  nodes(field: Extract<AggregateField, { kind: 'nodes' }>): Sql;
  /** Compiles a subquery with the groups. */
  groups(field: GroupsField): Sql;
  /** Compiles a select of aggregates over the rows. Called last. */
  select(columns: Sql): Sql;
}

export function aggregateResult(context: Context, fields: readonly AggregateField[], rows: AggregatedRows): Sql {
  // Objects that are too wide for one call are built outside of the aggregating select.
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
  const fieldSql = (field: AggregateField): Sql => {
    switch (field.kind) {
      case 'typename':
        return typenameSql(field.typeName);
      case 'nodes':
        return value(rows.nodes(field));
      case 'groups':
        return rows.groups(field);
      case 'aggregate':
        return builtObject(field.fields.map((item) => ({ key: item.alias, value: itemSql(context, item, rows.read, value) })));
    }
  };
  const object = builtObject(fields.map((field) => ({ key: field.alias, value: fieldSql(field) })));
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

function typenameSql(typeName: string): Sql {
  return sql`${string(typeName)}::text`;
}

/**
 * Compiles aggregates.
 * @param readOf compiles a value of a row
 * @param value returns an aggregate as a part of the object
 */
export function itemSql(context: Context, item: AggregateItem, readOf: AggregatedRows['read'], value: (aggregate: Sql) => Sql): Sql {
  const operandOf = (read: Read): AggregateArgument => ({ value: readOf(read), type: read.type });
  switch (item.kind) {
    case 'typename':
      return typenameSql(item.typeName);
    case 'count':
      return value(aggregateCall('count', item.columns.map(operandOf), item.distinct));
    case 'function':
      return builtObject(
        item.fields.map((field): Entry => {
          if (field.kind === 'typename') return { key: field.alias, value: typenameSql(field.typeName) };
          const aggregate = value(aggregateCall(item.function, [operandOf(field.read)], false));
          const asText = context.options.stringifyNumericTypes && isStringified(field.columnType);
          if (!asText) return { key: field.alias, value: aggregate };
          return { key: field.alias, value: field.columnType.array ? sql`(${aggregate})::text[]` : sql`(${aggregate})::text` };
        }),
      );
  }
}
