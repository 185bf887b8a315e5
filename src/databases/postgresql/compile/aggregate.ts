/**
 * Aggregates and `nodes` of the same rows in one pass: an inner select has the values and the JSON of each row, the outer one aggregates
 * both.
 */
import type { Join } from '../../../ir/relation.ts';
import { TRUE } from '../../../ir/bool-exp.ts';
import type { AggregateField, AggregateQuery, GroupsField, OrderBy, RowSet } from '../../../ir/select.ts';
import { EMPTY, integer, join, type Sql, sql } from '../../../sql/fragment.ts';
import { isSorted } from './aggregate-call.ts';
import { aggregateResult } from './aggregate-result.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import type { Row } from '../../shared/row.ts';
import { whereSql } from '../../shared/condition.ts';
import { fieldsOf, hasRelated } from './fields.ts';
import { groupsSql } from './groups.ts';
import { relatedMayFail } from './fields-may-fail.ts';
import { type ObjectShape, objectShape } from './json-object.ts';
import { keysOutside, orderBySql, type OrderKey } from './order-by.ts';
import { projection } from './projection.ts';
import { type CompiledRows, isBaseNeeded, isPaged, rowSetOf } from './row-set.ts';

type Nodes = Extract<AggregateField, { kind: 'nodes' }>;

/** Compiles the rows of a query. @param orderBy in place of its order */
type FindRows = (orderBy?: readonly OrderBy[]) => CompiledRows;

/** Compiles a select of one row with the column `json`. */
export function aggregateSql(context: Context, query: AggregateQuery, parent: Row | null, on: Join | null): Sql {
  const find: FindRows = (orderBy = query.rows.orderBy) =>
    rowSetOf(context, { from: query.from, rows: { ...query.rows, orderBy } }, parent, on);
  if (!readsRowsAgain(query)) return aggregatesOver(context, query, find);
  const { rows, alias, select } = sharedRows(context, find());
  const all: RowSet = { where: TRUE, distinctOn: [], orderBy: query.rows.orderBy, limit: null, offset: null };
  const answer = aggregatesOver(context, { ...query, rows: all }, () => rows);
  return sql`with ${alias} as materialized (${select()}) ${answer}`;
}

/** Returns whether several subqueries read rows that may not be the same when they are found again: a page, or the result of a function. */
function readsRowsAgain({ from, rows, fields }: AggregateQuery): boolean {
  if (!isPaged(rows) && from.kind === 'table') return false;
  const groups = fields.filter(({ kind }) => kind === 'groups').length;
  return groups > 1 || (groups === 1 && fields.some(({ kind }) => kind === 'nodes' || kind === 'aggregate'));
}

/** Rows that are found once, as a common table expression. @returns `select`, which is called last */
function sharedRows(
  context: Context,
  found: CompiledRows,
): { readonly rows: CompiledRows; readonly alias: Sql; readonly select: () => Sql } {
  const alias = context.alias();
  const page = projection(found.row, alias);
  const keys = keysOutside(found.keys, page);
  const number = sql`${alias}.":number"`;
  const rows: CompiledRows = {
    row: page.row,
    keys: [ascending(number)],
    select: (columns, joins, order = [ascending(number)]) => sql`select ${columns} from ${alias}${join(joins, EMPTY)}${orderBySql(order)}`,
    part: (columns, conditions, order, limit) =>
      sql`select ${columns} from ${alias}${whereSql(conditions)}${orderBySql(order)}${limit === null ? EMPTY : sql` limit ${integer(limit)}`}`,
    base: (columns) => sql`select ${columns} from ${alias}`,
  };
  return {
    rows,
    alias,
    select: () =>
      sql`select ${alias}.*, row_number() over (${orderBySql(keys)}) as ":number" from (${found.base(page.columns())}) as ${alias}`,
  };
}

function aggregatesOver(context: Context, query: AggregateQuery, find: FindRows): Sql {
  // Without a page, aggregates do not depend on the order of the rows.
  const findAll = (): CompiledRows => (isPaged(query.rows) ? find() : find([]));
  const groups = (field: GroupsField): Sql =>
    sql`(${context.planSeparately(() => groupsSql(context, field, { compiled: findAll(), rows: query.rows }))})`;
  if (query.fields.some((field) => field.kind === 'nodes')) return withNodes(context, query, find(), groups);
  if (!isPaged(query.rows)) {
    const rows = findAll();
    return aggregateResult(context, query.fields, {
      read: (read) => readSql(context, read, rows.row),
      nodes: () => EMPTY,
      groups,
      select: (columns) => rows.base(columns),
    });
  }
  const rows = find();
  const alias = context.alias();
  const page = projection(rows.row, alias);
  return aggregateResult(context, query.fields, {
    read: (read) => readSql(context, read, page.row),
    nodes: () => EMPTY,
    groups,
    select: (columns) => sql`select ${columns} from (${rows.base(page.columns())}) as ${alias}`,
  });
}

/** Rows from which nodes are computed. */
interface Source {
  readonly row: Row;
  /** Number of a row in the order, if `nodes` has a limit. */
  readonly number: Sql | null;
  /** Sort keys as the select list reads them. */
  readonly keys: readonly OrderKey[];
  select(columns: Sql, joins: readonly Sql[]): Sql;
}

function withNodes(context: Context, query: AggregateQuery, rows: CompiledRows, groups: (field: GroupsField) => Sql): Sql {
  const source = sourceOf(context, query, rows);
  const joins: Sql[] = [];
  if (rows.keys.length === 0 && source.number === null) {
    return aggregateResult(context, query.fields, {
      read: (read) => readSql(context, read, source.row),
      nodes(field) {
        const { shape, alias } = nodeOf(context, field, source, null, joins);
        return sql`coalesce(json_agg(${shape.item(alias)}), '[]')`;
      },
      groups,
      select: (columns) => source.select(columns, joins),
    });
  }
  // Aggregates read rows in the order of the subquery.
  const alias = context.alias();
  const values = projection(source.row, alias);
  const number = source.number === null ? null : values.add(source.number);
  const limit = number === null ? EMPTY : sql` filter (where ${number} <= ${integer(query.nodesLimit as number)})`;
  // The database sorts the rows for some aggregates, and all others then read them in that order.
  const order = query.fields.some(sortsRows) ? orderBySql(number === null ? keysOutside(source.keys, values) : [ascending(number)]) : EMPTY;
  return aggregateResult(context, query.fields, {
    read: (read) => readSql(context, read, values.row),
    nodes(field) {
      const node = nodeOf(context, field, source, query.nodesLimit, joins);
      return sql`coalesce(json_agg(${values.add(node.shape.record(node.alias))}${order})${limit}, '[]')`;
    },
    groups,
    select: (columns) => sql`select ${columns} from (${source.select(values.columns(), joins)}) as ${alias}`,
  });
}

function sortsRows(field: AggregateField): boolean {
  if (field.kind !== 'aggregate') return false;
  return field.fields.some((item) => {
    if (item.kind === 'typename') return false;
    if (item.kind === 'count') {
      const types = item.columns.map(({ type }) => type);
      return isSorted('count', types, item.distinct);
    }
    return item.fields.some((each) => each.kind === 'read' && isSorted(item.function, [each.read.type], false));
  });
}

function ascending(value: Sql): OrderKey {
  return { value, direction: EMPTY };
}

/**
 * Pages, rows with conditions on other tables and numbered rows are a subquery, so that related rows are joined only to the remaining rows.
 */
function sourceOf(context: Context, query: AggregateQuery, rows: CompiledRows): Source {
  const hasRelatedNodes = query.fields.some((field) => field.kind === 'nodes' && hasRelated(field.fields));
  const isFenced = query.fields.some((field) => field.kind === 'nodes' && relatedMayFail(field.fields));
  const isDirect = query.nodesLimit === null && !(hasRelatedNodes ? isBaseNeeded(query.rows) : isPaged(query.rows));
  if (isDirect) return { row: rows.row, number: null, keys: rows.keys, select: rows.select };
  const alias = context.alias();
  const page = projection(rows.row, alias);
  const keys = keysOutside(rows.keys, page);
  const order = orderBySql(keys);
  if (query.nodesLimit === null) {
    return {
      row: page.row,
      number: null,
      keys,
      select: (columns, joins) =>
        sql`select ${columns} from (${rows.base(page.columns(), isFenced)}) as ${alias}${join(joins, EMPTY)}${order}`,
    };
  }
  const number = sql`${alias}.":number"`;
  return {
    row: page.row,
    number,
    keys: [ascending(number)],
    select(columns, joins) {
      const numbered = sql`select ${alias}.*, row_number() over (${order}) as ":number" from (${rows.base(page.columns())}) as ${alias}`;
      return sql`select ${columns} from (${numbered}) as ${alias}${join(joins, EMPTY)} order by ${number}`;
    },
  };
}

/** Compiles a row whose columns are the fields of a node, and adds the joins that it reads. */
function nodeOf(
  context: Context,
  field: Nodes,
  source: Source,
  nodesLimit: number | null,
  joins: Sql[],
): { shape: ObjectShape; alias: Sql } {
  const fields = fieldsOf(context, field.fields, source.row);
  const shape = objectShape(fields.entries);
  const alias = context.alias();
  if (source.number !== null && hasRelated(field.fields)) {
    // Related rows are not read for rows beyond the limit of `nodes`.
    const gate = sql`(select where ${source.number} <= ${integer(nodesLimit as number)}) as ${context.alias()}`;
    joins.push(sql` left join lateral (select ${shape.columns} from ${gate}${join(fields.joins, EMPTY)}) as ${alias} on true`);
  } else {
    joins.push(...fields.joins, sql` cross join lateral (select ${shape.columns}) as ${alias}`);
  }
  return { shape, alias };
}
