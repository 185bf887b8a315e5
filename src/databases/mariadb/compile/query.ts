/**
 * Compiles queries to scalar JSON expressions; related rows are correlated subqueries at any depth. The server only warns if it truncates
 * an answer, which the source checks.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Join } from '../../../ir/relation.ts';
import {
  type AggregateField,
  type AggregateItem,
  type AggregateQuery,
  type Field,
  type SelectQuery,
  type RowsQuery,
  withoutConnection,
} from '../../../ir/select.ts';
import type { Value } from '../../../ir/value.ts';
import { join, parameter, type Sql, sql, string } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';
import { isJsonArray, type Json } from '../../../util/json.ts';
import { jsonPathText } from '../coerce/json-path.ts';
import { DOUBLE, TEXT, baseType } from '../base-type.ts';
import { aggregateOf, readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { textSql } from './operand.ts';
import { orderBySql } from './order-by.ts';
import { outputSql, textOutputSql } from './output.ts';
import { rowSetOf } from './row-set.ts';

/** Compiles to an array, an object, or null for a missing single row. @param on join to `parent` */
export function querySql(context: Context, root: SelectQuery, parent: Row | null, on: Join | null): Sql {
  const query = withoutConnection(root);
  return query.kind === 'rows' ? rowsSql(context, query, parent, on) : aggregateSql(context, query, parent, on);
}

function rowsSql(context: Context, query: RowsQuery, parent: Row | null, on: Join | null): Sql {
  if (query.shape === 'list') {
    const { array, body } = listSql(context, query, parent, on);
    return sql`(select ${array} from ${body})`;
  }
  const { row, keys, body } = rowSetOf(context, query.from, query.rows, parent, on);
  return sql`(select ${rowObjectSql(context, query.fields, row)} from ${body}${orderBySql(keys)} limit 1)`;
}

/** Compiles the rows to a JSON array and the `from` that it is selected from. */
export function listSql(
  context: Context,
  query: RowsQuery,
  parent: Row | null,
  on: Join | null,
): { readonly array: Sql; readonly body: Sql } {
  const { row, keys, body } = rowSetOf(context, query.from, query.rows, parent, on);
  const object = rowObjectSql(context, query.fields, row);
  return { array: sql`coalesce(json_arrayagg(${object}${orderBySql(keys)}), json_array())`, body };
}

/** Compiles the fields of a row to a JSON object. */
export function rowObjectSql(context: Context, fields: readonly Field[], row: Row): Sql {
  return objectSql(fields.map((field) => [field.alias, fieldSql(context, field, row)]));
}

function objectSql(entries: readonly (readonly [key: string, value: Sql])[]): Sql {
  return sql`json_object(${join(
    entries.map(([key, value]) => sql`${string(key)}, ${value}`),
    sql`, `,
  )})`;
}

function fieldSql(context: Context, field: Field, row: Row): Sql {
  switch (field.kind) {
    case 'typename':
      return string(field.typeName);
    case 'related':
      return querySql(context, field.query, row, field.join);
    case 'node-id':
      throw new Error('invariant: the kind has no connections');
    case 'joined': {
      const texts = field.keys.map((read) => textOutputSql(readSql(context, read, row), read.type));
      return sql`json_array(${join([sql`concat(${textSql({ kind: 'placeholder-name' })}, ${string(`:${field.join}`)})`, ...texts], sql`, `)})`;
    }
    case 'read': {
      const value = readSql(context, field.read, row);
      if (field.jsonPath !== null) return sql`json_compact(json_extract(${value}, ${jsonPathSql(field.jsonPath)}))`;
      const printed = outputSql(context, value, field.read.type);
      return field.upperCase === true ? sql`upper(${printed})` : printed;
    }
  }
}

/** Compiles keys to a JSON path; numbers are array indexes. A null variable is the empty path. */
function jsonPathSql(value: Value): Sql {
  const encode = (json: Json): string => jsonPathText(isJsonArray(json) ? json : []);
  return parameter({ operand: { value, type: TEXT, list: true }, key: '', encode });
}

function aggregateSql(context: Context, query: AggregateQuery, parent: Row | null, on: Join | null): Sql {
  const fieldValue = (field: AggregateField): Sql => {
    switch (field.kind) {
      case 'typename':
        return string(field.typeName);
      case 'nodes':
        return nodesSql(context, query, field, parent, on);
      case 'aggregate':
        return aggregatesSql(context, query, field, parent, on);
      case 'groups':
        throw new Error('invariant: the kind has no groups');
    }
  };
  return objectSql(query.fields.map((field) => [field.alias, fieldValue(field)]));
}

type Nodes = Extract<AggregateField, { kind: 'nodes' }>;
type Aggregates = Extract<AggregateField, { kind: 'aggregate' }>;

function nodesSql(context: Context, { from, rows, nodesLimit }: AggregateQuery, field: Nodes, parent: Row | null, on: Join | null): Sql {
  const limit = nodesLimit === null || (rows.limit !== null && rows.limit <= nodesLimit) ? rows.limit : nodesLimit;
  return rowsSql(context, { kind: 'rows', shape: 'list', from, rows: { ...rows, limit }, fields: field.fields }, parent, on);
}

function aggregatesSql(context: Context, { from, rows }: AggregateQuery, field: Aggregates, parent: Row | null, on: Join | null): Sql {
  // Without paging, the order does not matter to aggregates.
  const isPaged = rows.limit !== null || rows.offset !== null || rows.distinctOn.length > 0;
  const { row, body } = rowSetOf(context, from, isPaged ? rows : { ...rows, orderBy: [] }, parent, on);
  const object = objectSql(field.fields.map((item) => [item.alias, itemSql(context, item, row)]));
  // Without an aggregate, the select would return all rows.
  return field.fields.some(isAggregate) ? sql`(select ${object} from ${body})` : object;
}

function isAggregate(item: AggregateItem): boolean {
  return item.kind === 'count' || (item.kind === 'function' && item.fields.some((field) => field.kind === 'read'));
}

function itemSql(context: Context, item: AggregateItem, row: Row): Sql {
  switch (item.kind) {
    case 'typename':
      return string(item.typeName);
    case 'count':
      return aggregateOf(context, 'count', item.columns, row, item.distinct);
    case 'function':
      return objectSql(
        item.fields.map((field): readonly [string, Sql] => {
          if (field.kind === 'typename') return [field.alias, string(field.typeName)];
          const value = aggregateOf(context, item.function, [field.read], row);
          return [field.alias, outputSql(context, value, resultType(item.function, field.read.type), field.columnType)];
        }),
      );
  }
}

/** `min` and `max` keep the type of their values, sums are decimals, all others doubles. */
function resultType(name: string, operand: CatalogType): CatalogType {
  if (name === 'max' || name === 'min') return operand;
  return name === 'sum' ? baseType('decimal') : DOUBLE;
}
