/**
 * A page of rows with cursors. The rows behind a cursor are found by ranges of the keys, never by an offset. One row more than the page
 * has is found, which says whether there is another page. Its fields are not read.
 */
import type { Join } from '../../../ir/relation.ts';
import type { ConnectionField, ConnectionQuery, EdgeField, OrderBy, PageInfoField } from '../../../ir/select.ts';
import { EMPTY, identifier, integer, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { isJsonType } from '../coerce/encode.ts';
import type { Row } from '../../shared/row.ts';
import type { Context } from './context.ts';
import { fieldsOf } from './fields.ts';
import { builtObject, type Entry, objectShape } from './json-object.ts';
import { keysInOrder, type KeysetTerm, mirrored, type Range, rangesBehind } from './keyset.ts';
import { cursorSql, cursorValueSql } from './opaque-text.ts';
import { orderBySql } from './order-by.ts';
import { projection } from './projection.ts';
import { type CompiledRows, FENCE, rowSetOf } from './row-set.ts';
import { isTotal } from './total-types.ts';

/** Maximum number of ranges that are branches of a union, each with a copy of the filter. */
const MAX_RANGES = 16;

/** Compiles a select of one row with the column `json`. */
export function connectionSql(context: Context, query: ConnectionQuery, parent: Row | null, on: Join | null): Sql {
  const rows = rowSetOf(context, query, parent, on);
  const pages = pagesOf(context, query, rows);
  const edge = context.alias();
  const edges = query.fields.flatMap((field) => (field.kind === 'edges' ? [field] : []));
  const joins: Sql[] = [];
  const columns = edges.map((field, i) => sql`, ${edgeSql(context, field, pages, joins)} as ${edgeColumn(i)}`);
  const numbered = pages.numbered();
  const onPage = query.size === null ? EMPTY : sql` where ${pages.number} <= ${integer(query.size)}`;
  const each = sql`select ${pages.number} as "n", ${pages.cursor} as "cursor", ${pages.alias}.":count" as "count"${join(columns, EMPTY)} from (${
    numbered
  }) as ${pages.alias}${join(joins, EMPTY)}${onPage}`;
  const all = context.alias();
  const summary = sql`select ${join([...pageColumns(query, edge, pages), ...edges.map((_, i) => edgeList(query, edge, i))], sql`, `)} from (${each}) as ${edge}`;
  return sql`select ${builtObject(entriesOf(query, edges, all))} as "json" from (${summary}) as ${all}`;
}

interface Pages {
  readonly alias: Sql;
  readonly row: Row;
  /** Number of the row in its page, from 1, in the direction of the page. */
  readonly number: Sql;
  readonly cursor: Sql;
  /** Compiles the rows of the page and the one behind it. Called last. */
  numbered(): Sql;
  /** Compiles whether there are rows on the page or behind it. Called after `numbered`. */
  hasAny(): Sql;
  /** Compiles whether there are rows before the page: at the cursor, or beyond it. Called after `numbered`. */
  hasOthers(): Sql;
}

function pagesOf(context: Context, query: ConnectionQuery, rows: CompiledRows): Pages {
  const alias = context.alias();
  const page = projection(rows.row, alias);
  const { orderBy } = query.rows;
  const order = query.isBackward ? orderBy.map(mirrored) : orderBy;
  // Before the columns of the page are known.
  const outside = rows.keys.map((key) => (key.column === undefined ? page.add(key.value) : page.row.column(key.column)));
  const inside = rows.keys.map(({ value }) => value);
  const finder = isDirect(query, inside) ? direct(rows, alias, outside, inside) : indirect(query, rows, alias, outside);
  const limit = query.size === null ? null : query.size + 1;
  const ranges = query.cursor === null ? null : (keys: readonly Sql[]) => rangesOf(query, keys, false);
  const found = (most: number | null): Sql => finder(page.columns(), ranges, order, most);
  const number = sql`${alias}.":number"`;
  return {
    alias,
    row: page.row,
    number,
    cursor: cursorSql(query.keys, outside),
    numbered() {
      const row = sql`row_number() over (${orderBySql(keysInOrder(outside, order))})`;
      return sql`select ${alias}.*, ${row} as ":number", count(*) over () as ":count" from (${found(limit)}) as ${alias}`;
    },
    hasAny: () => sql`exists (select from (${found(1)}) as ${alias})`,
    hasOthers() {
      const toward = orderBy.map(query.cursor?.side === 'after' ? mirrored : (item) => item);
      const nearest = finder(page.columns(), (keys) => rangesOf(query, keys, true), toward, 1);
      // In a subquery of its own: `exists` drops orders and limits, without which the database would not use the index.
      return sql`exists (select from (${nearest}) as ${alias})`;
    },
  };
}

/**
 * Compiles rows in an order.
 * @param ranges returns the ranges of the keys; `null` for all rows
 */
type Finder = (
  columns: Sql,
  ranges: ((keys: readonly Sql[]) => readonly Range[]) | null,
  order: readonly OrderBy[],
  limit: number | null,
) => Sql;

/** One branch for each range, which the database reads in order from an index. */
function direct(rows: CompiledRows, alias: Sql, outside: readonly Sql[], inside: readonly Sql[]): Finder {
  return (columns, ranges, order, limit) => {
    const keys = keysInOrder(inside, order);
    const branches = ranges?.(inside) ?? [[]];
    const parts = branches.map((range) => rows.part(columns, range, keys, limit));
    const [only] = parts;
    if (only === undefined) return rows.part(columns, [sql`false`], [], null);
    if (parts.length === 1) return only;
    const union = join(
      parts.map((part) => sql`(${part})`),
      sql` union all `,
    );
    const cut = limit === null ? EMPTY : sql` limit ${integer(limit)}`;
    return sql`select ${alias}.* from (${union}) as ${alias}${orderBySql(keysInOrder(outside, order))}${cut}`;
  };
}

/**
 * The rows are a subquery whose filter holds before any key is compared, because keys are computed, or comparing them may fail. Distinct
 * rows and those of functions are found once.
 */
function indirect({ rows: { distinctOn } }: ConnectionQuery, rows: CompiledRows, alias: Sql, outside: readonly Sql[]): Finder {
  return (columns, ranges, order, limit) => {
    // Without the fence, the database would compare keys before it filters.
    const found = sql`${distinctOn.length > 0 ? rows.select(columns, []) : rows.part(columns, [], [], null)}${FENCE}`;
    const where = ranges === null ? EMPTY : sql` where ${anyOf(ranges(outside))}`;
    const cut = limit === null ? EMPTY : sql` limit ${integer(limit)}`;
    return sql`select ${alias}.* from (${found}) as ${alias}${where}${orderBySql(keysInOrder(outside, order))}${cut}`;
  };
}

function anyOf(ranges: readonly Range[]): Sql {
  if (ranges.length === 0) return sql`false`;
  const alternatives = ranges.map((range) => (range.length === 0 ? sql`true` : sql`(${join(range, sql` and `)})`));
  return sql`(${join(alternatives, sql` or `)})`;
}

/** Returns whether the rows can be read from an index of the keys. The text of a JSON value is parsed only when it is compared. */
function isDirect(query: ConnectionQuery, keys: readonly Sql[]): boolean {
  const { from, rows, cursor } = query;
  if (from.kind !== 'table' || rows.distinctOn.length > 0) return false;
  const isPlain = ({ term }: OrderBy): boolean => {
    if (term.kind !== 'read' || term.read.kind !== 'column' || term.read.mask !== undefined) return false;
    return isTotal(term.read.type) && !isJsonType(term.read.type);
  };
  return rows.orderBy.every(isPlain) && (cursor === null || rangesOf(query, keys, false).length <= MAX_RANGES);
}

/** @param others the rows on the other side of the cursor and that of the cursor, from the nearest on; otherwise those of the page */
function rangesOf({ rows: { orderBy }, cursor }: ConnectionQuery, keys: readonly Sql[], others: boolean): readonly Range[] {
  const isMirrored = (cursor?.side === 'before') !== others;
  const terms = orderBy.map((item, i): KeysetTerm => {
    const value = cursor?.values[i] ?? null;
    const { direction, nulls } = isMirrored ? mirrored(item) : item;
    const { term } = item;
    const notNull = term.kind === 'read' && term.read.kind === 'column' && term.read.notNull === true && term.read.mask === undefined;
    return { key: keys[i] as Sql, value: value === null ? null : cursorValueSql(value), direction, nulls, notNull };
  });
  return rangesBehind(terms, others);
}

function edgeColumn(index: number): Sql {
  return identifier(`edges${index}`);
}

type Edges = Extract<ConnectionField, { kind: 'edges' }>;

function edgeSql(context: Context, { fields }: Edges, pages: Pages, joins: Sql[]): Sql {
  return builtObject(fields.map((field): Entry => ({ key: field.alias, value: edgeValue(context, field, pages, joins) })));
}

function edgeValue(context: Context, field: EdgeField, pages: Pages, joins: Sql[]): Sql {
  switch (field.kind) {
    case 'typename':
      return typenameSql(field.typeName);
    case 'cursor':
      return pages.cursor;
    case 'node': {
      const fields = fieldsOf(context, field.fields, pages.row);
      const shape = objectShape(fields.entries);
      const alias = context.alias();
      joins.push(...fields.joins, sql` cross join lateral (select ${shape.columns}) as ${alias}`);
      return shape.json(alias);
    }
  }
}

function edgeList({ isBackward }: ConnectionQuery, edge: Sql, index: number): Sql {
  const order = sql` order by ${edge}."n"${isBackward ? sql` desc` : EMPTY}`;
  return sql`coalesce(json_agg(${edge}.${edgeColumn(index)}${order}), '[]') as ${edgeColumn(index)}`;
}

/** The cursors of the rows nearest to and farthest from where the page was begun, and whether there are more rows on both sides. */
function pageColumns(query: ConnectionQuery, edge: Sql, pages: Pages): readonly Sql[] {
  const { size, fields } = query;
  if (!fields.some(({ kind }) => kind === 'page-info')) return fields.some(({ kind }) => kind === 'edges') ? [] : [sql`count(*) as "more"`];
  const cursors = sql`(array_agg(${edge}."cursor" order by ${edge}."n"))`;
  const more = size === null ? sql`false` : size === 0 ? pages.hasAny() : sql`coalesce(max(${edge}."count") > ${integer(size)}, false)`;
  return [
    sql`coalesce(${cursors}[1], '') as "first"`,
    sql`coalesce(${cursors}[count(*)], '') as "last"`,
    sql`${more} as "more"`,
    ...(showsOthers(query) ? [sql`${pages.hasOthers()} as "others"`] : []),
  ];
}

/** Returns whether a field says that there are rows on the other side of the cursor. */
function showsOthers({ cursor, fields }: ConnectionQuery): boolean {
  const kind = cursor?.side === 'before' ? 'has-next' : 'has-previous';
  return cursor !== null && fields.some((field) => field.kind === 'page-info' && field.fields.some((part) => part.kind === kind));
}

function entriesOf(query: ConnectionQuery, edges: readonly Edges[], all: Sql): readonly Entry[] {
  return query.fields.map((field): Entry => ({ key: field.alias, value: fieldSql(query, field, edges, all) }));
}

function fieldSql(query: ConnectionQuery, field: ConnectionField, edges: readonly Edges[], all: Sql): Sql {
  switch (field.kind) {
    case 'typename':
      return typenameSql(field.typeName);
    case 'edges':
      return sql`${all}.${edgeColumn(edges.indexOf(field))}`;
    case 'page-info':
      return builtObject(field.fields.map((part): Entry => ({ key: part.alias, value: pageInfoSql(query, part, all) })));
  }
}

function pageInfoSql({ isBackward, cursor }: ConnectionQuery, field: PageInfoField, all: Sql): Sql {
  switch (field.kind) {
    case 'typename':
      return typenameSql(field.typeName);
    case 'start-cursor':
      return isBackward ? sql`${all}."last"` : sql`${all}."first"`;
    case 'end-cursor':
      return isBackward ? sql`${all}."first"` : sql`${all}."last"`;
    case 'has-next':
      return hasRows(all, !isBackward, cursor?.side === 'before');
    case 'has-previous':
      return hasRows(all, isBackward, cursor?.side === 'after');
  }
}

/** @param more whether the page was cut on this side @param others whether the cursor is on this side */
function hasRows(all: Sql, more: boolean, others: boolean): Sql {
  if (!others) return more ? sql`${all}."more"` : sql`false`;
  return more ? sql`(${all}."more" or ${all}."others")` : sql`${all}."others"`;
}

function typenameSql(name: string): Sql {
  return sql`${string(name)}::text`;
}
