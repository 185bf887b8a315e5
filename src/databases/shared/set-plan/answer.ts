/**
 * The answer to a query as relations that are joined on keys (ADR 16): the rows of each level are found by the keys of the level above,
 * and from the deepest level upwards the JSON for each key is joined to the rows with that key.
 */
import { SvcError } from '../../../errors/svc-error.ts';
import type { Join } from '../../../ir/relation.ts';
import {
  type AggregateField,
  type AggregateQuery,
  type Field,
  type SelectQuery,
  type RowsQuery,
  withoutConnection,
} from '../../../ir/select.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';
import { Columns, Named } from './columns.ts';
import { type LevelRows, relatedRows, rootRows } from './level.ts';
import {
  relatedConditionsOf,
  groupByKeys,
  type Joined,
  joinKeyColumns,
  keyName,
  maskReadsOtherTables,
  numbered,
  JoinBase,
  sourceOf,
} from './join-base.ts';
import type { Aggregates, Entry, LeafField, SetWriter } from './writer.ts';

const JSON_COLUMN = identifier('json');
const COMMA = sql`, `;

/** Compiles a root to a select of one row with the column `json`. */
export function rootAnswer(writer: SetWriter, root: SelectQuery): Sql {
  const query = withoutConnection(root);
  if (query.kind === 'aggregate') return rootAggregate(writer, query);
  if (query.shape === 'list') return listAnswer(writer, rootRows(writer, query), query.fields);
  const rows = rootRows(writer, { from: query.from, rows: { ...query.rows, limit: Math.min(query.rows.limit ?? 1, 1) } });
  const base = new JoinBase(writer, rows.rows);
  const object = rowObject(writer, query.fields, base);
  return sql`select ${writer.only(object)} as ${JSON_COLUMN} from ${base.from(false)}`;
}

/** Compiles rows to a select of one row with an array of their objects. */
function listAnswer(writer: SetWriter, rows: LevelRows, fields: readonly Field[]): Sql {
  const base = new JoinBase(writer, rows.rows);
  const object = rowObject(writer, fields, base);
  const array = writer.array(object, rows.order(base.alias), null);
  return sql`select ${writer.arrayOrEmpty(array)} as ${JSON_COLUMN} from ${base.from(writer.named)}`;
}

function leafOf(field: Exclude<Field, { readonly kind: 'related' }>): LeafField {
  if (field.kind === 'node-id') throw new Error('invariant: the kind has no connections');
  return field;
}

/** Compiles the JSON object of a row, to which related rows are joined. */
export function rowObject(writer: SetWriter, fields: readonly Field[], base: JoinBase): Sql {
  const relatedConditions = relatedConditionsOf(base);
  return writer.object(
    fields.map((field): Entry => {
      const value =
        field.kind === 'related'
          ? related(writer, withoutConnection(field.query), field.join, base)
          : writer.field(leafOf(field), base.row, relatedConditions);
      return { key: field.alias, value };
    }),
  );
}

/** Compiles the JSON of related rows; null for a single row that does not exist. */
export function related(writer: SetWriter, query: RowsQuery | AggregateQuery, on: Join | null, parent: JoinBase): Sql {
  if (on === null) throw new SvcError('not-supported', 'functions of rows cannot be called by this kind of database');
  return query.kind === 'rows' ? relatedObjects(writer, query, on, parent) : relatedAggregate(writer, query, on, parent);
}

function relatedObjects(writer: SetWriter, query: RowsQuery, on: Join, parent: JoinBase): Sql {
  const isList = query.shape === 'list';
  const rows = relatedRows(writer, query, on.columns, parent, isList ? 'all' : on.unique ? 'no' : 'first');
  const base = new JoinBase(writer, rows.rows);
  const keys = joinKeyColumns(on.columns, base.row);
  const object = rowObject(writer, query.fields, base);
  const json = isList ? writer.array(object, rows.order(base.alias), null) : object;
  const group = isList ? groupByKeys(on.columns, base.row) : EMPTY;
  const select = sql`select ${join([...keys, sql`${json} as ${JSON_COLUMN}`], COMMA)} from ${base.from(false)}${group}`;
  const value = parent.attach(on.columns, () => select)(JSON_COLUMN);
  return isList ? writer.arrayOrEmpty(value) : value;
}

type Nodes = Extract<AggregateField, { kind: 'nodes' }>;

function itemsOf(fields: readonly AggregateField[]): readonly Aggregates[] {
  return fields.flatMap((field) =>
    field.kind === 'aggregate' ? field.fields.filter((item): item is Aggregates => item.kind !== 'typename') : [],
  );
}

function rootAggregate(writer: SetWriter, query: AggregateQuery): Sql {
  const items = itemsOf(query.fields);
  const nodes = query.fields.filter((field): field is Nodes => field.kind === 'nodes');
  if (nodes.length === 0 && !items.some(isAggregate)) {
    return sql`select ${aggregateObject(writer, query.fields, null, null)} as ${JSON_COLUMN}`;
  }
  if (nodes.length === 0 && !isPaged(query) && writer.aggregatesInPlace(items) && !items.some(asksMasks)) {
    const source = sourceOf(writer, { from: query.from, where: query.rows.where }, [], null, false);
    const object = aggregateObject(writer, query.fields, (read) => writer.read(read, source.row, null), null);
    return sql`select ${object} as ${JSON_COLUMN} from ${source.body()}`;
  }
  const rows = rootRows(writer, nodes.length === 0 && !isPaged(query) ? withoutOrder(query) : query);
  const limited = query.nodesLimit === null || nodes.length === 0 ? null : withNumber(writer, rows);
  const base = new JoinBase(writer, limited?.rows ?? rows.rows);
  const object = aggregatesOver(writer, query, base, limited ?? rows);
  return sql`select ${object} as ${JSON_COLUMN} from ${base.from(writer.named)}`;
}

function isPaged({ rows }: AggregateQuery): boolean {
  return rows.limit !== null || rows.offset !== null || rows.distinctOn.length > 0;
}

/** Without a page, aggregates do not depend on the order of the rows. */
function withoutOrder(query: AggregateQuery): AggregateQuery {
  return { ...query, rows: { ...query.rows, orderBy: [] } };
}

function isAggregate(item: Aggregates): boolean {
  return item.kind === 'count' || item.fields.some(({ kind }) => kind === 'read');
}

function asksMasks(item: Aggregates): boolean {
  return item.kind === 'count'
    ? item.columns.some(maskReadsOtherTables)
    : item.fields.some((field) => field.kind === 'read' && maskReadsOtherTables(field.read));
}

const NUMBER = identifier(':number');

/** Numbers the rows of a root in their order. */
function withNumber(writer: SetWriter, rows: LevelRows): LevelRows {
  const inside = new JoinBase(writer, rows.rows);
  const columns = new Columns(inside.row);
  const number = numbered([], rows.order(inside.alias));
  const select = (): Sql => sql`select ${columns.list()}, ${number} as ${NUMBER} from ${inside.from(false)}`;
  const named = new Named(writer, columns, select, rows.rows.keys);
  return { rows: named, order: (alias) => [sql`${alias}.${NUMBER}`], before: null, number: NUMBER, firstKey: null };
}

/** Compiles aggregates and nodes over all rows of a select, or over each of its groups. */
function aggregatesOver(writer: SetWriter, { fields, nodesLimit }: AggregateQuery, base: JoinBase, rows: LevelRows): Sql {
  const relatedConditions = relatedConditionsOf(base);
  return aggregateObject(
    writer,
    fields,
    (read) => writer.read(read, base.row, relatedConditions),
    (nodes) => {
      const object = rowObject(writer, nodes.fields, base);
      const bound = rows.before === null ? writer.rowLimit(nodesLimit ?? 0) : sql`${rows.before} + ${writer.rowLimit(nodesLimit ?? 0)}`;
      const only = nodesLimit === null || rows.number === null ? null : sql`${base.alias}.${rows.number} <= ${bound}`;
      return writer.arrayOrEmpty(writer.array(object, rows.order(base.alias), only));
    },
  );
}

function relatedAggregate(writer: SetWriter, query: AggregateQuery, on: Join, parent: JoinBase): Sql {
  const items = itemsOf(query.fields);
  const hasNodes = query.fields.some(({ kind }) => kind === 'nodes');
  const empty = aggregateObject(writer, query.fields, null, null);
  if (!hasNodes && !items.some(isAggregate)) return empty;
  let found: Joined;
  if (!hasNodes && !isPaged(query) && writer.aggregatesInPlace(items) && !items.some(asksMasks)) {
    const source = sourceOf(writer, { from: query.from, where: query.rows.where }, on.columns, parent, false);
    const object = aggregateObject(writer, query.fields, (read) => writer.read(read, source.row, null), null);
    found = attached(parent, on, source.row, object, source.body());
  } else {
    const rows = relatedRows(writer, hasNodes || isPaged(query) ? query : withoutOrder(query), on.columns, parent, hasNodes ? 'all' : 'no');
    const base = new JoinBase(writer, rows.rows);
    const object = aggregatesOver(writer, query, base, rows);
    found = attached(parent, on, base.row, object, base.from(!hasNodes && writer.named));
  }
  return writer.objectOr(found(JSON_COLUMN), found(keyName(0)), empty);
}

function attached(parent: JoinBase, on: Join, row: Row, object: Sql, body: Sql): Joined {
  const columns = join([...joinKeyColumns(on.columns, row), sql`${object} as ${JSON_COLUMN}`], COMMA);
  const select = sql`select ${columns} from ${body}${groupByKeys(on.columns, row)}`;
  return parent.attach(on.columns, () => select);
}

/** @param read compiles a value of a row; `null` if there are no rows @param nodes `null` if there are no nodes */
function aggregateObject(
  writer: SetWriter,
  fields: readonly AggregateField[],
  read: ((read: Extract<Aggregates, { kind: 'count' }>['columns'][number]) => Sql) | null,
  nodes: ((field: Nodes) => Sql) | null,
): Sql {
  return writer.object(
    fields.map((field): Entry => {
      const { alias: key } = field;
      if (field.kind === 'typename') return { key, value: writer.typename(field.typeName) };
      if (field.kind === 'groups') throw new Error('invariant: the kind has no groups');
      if (field.kind === 'nodes') return { key, value: nodes === null ? writer.emptyArray : nodes(field) };
      const entries = field.fields.map((item): Entry => {
        return { key: item.alias, value: item.kind === 'typename' ? writer.typename(item.typeName) : writer.aggregated(item, read) };
      });
      return { key, value: writer.object(entries) };
    }),
  );
}
