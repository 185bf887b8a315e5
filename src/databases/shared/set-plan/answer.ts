/**
 * The answer to a query as relations that meet on keys (ADR 16): the rows of a level, found by the keys of the level above; and from
 * the deepest level upwards the JSON of what belongs to a key, joined to the rows that have it.
 */
import { SvcError } from '../../../errors/svc-error.ts';
import type { Join } from '../../../ir/relation.ts';
import type { AggregateField, AggregateQuery, Field, RowsQuery } from '../../../ir/select.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';
import { Columns, Named } from './columns.ts';
import { type LevelRows, relatedRows, rootRows } from './level.ts';
import { asksOf, groupBy, type Joined, keyColumns, keyName, looksElsewhere, numbered, Place, sourceOf } from './place.ts';
import type { Aggregates, Entry, SetWriter } from './writer.ts';

const JSON_COLUMN = identifier('json');
const COMMA = sql`, `;

/** A select of one row with the column `json`. */
export function rootAnswer(writer: SetWriter, query: RowsQuery | AggregateQuery): Sql {
  if (query.kind === 'aggregate') return rootAggregate(writer, query);
  if (query.shape === 'list') return listAnswer(writer, rootRows(writer, query), query.fields);
  const rows = rootRows(writer, { from: query.from, rows: { ...query.rows, limit: Math.min(query.rows.limit ?? 1, 1) } });
  const place = new Place(writer, rows.rows);
  const object = objectOf(writer, query.fields, place);
  return sql`select ${writer.only(object)} as ${JSON_COLUMN} from ${place.from(false)}`;
}

/** The objects of rows as an array. */
export function listAnswer(writer: SetWriter, rows: LevelRows, fields: readonly Field[]): Sql {
  const place = new Place(writer, rows.rows);
  const object = objectOf(writer, fields, place);
  const array = writer.array(object, rows.order(place.alias), null);
  return sql`select ${writer.arrayOrEmpty(array)} as ${JSON_COLUMN} from ${place.from(writer.named)}`;
}

/** The JSON object of a row of a select; what belongs to the row is joined to it. */
export function objectOf(writer: SetWriter, fields: readonly Field[], place: Place): Sql {
  const asks = asksOf(place);
  return writer.object(
    fields.map((field): Entry => {
      const value = field.kind === 'related' ? related(writer, field.query, field.join, place) : writer.field(field, place.row, asks);
      return { key: field.alias, value };
    }),
  );
}

/** The JSON of what belongs to a row; null for a single row that is not there. */
export function related(writer: SetWriter, query: RowsQuery | AggregateQuery, on: Join | null, parent: Place): Sql {
  if (on === null) throw new SvcError('not-supported', 'functions of rows cannot be called by this kind of database');
  return query.kind === 'rows' ? relatedObjects(writer, query, on, parent) : relatedAggregate(writer, query, on, parent);
}

function relatedObjects(writer: SetWriter, query: RowsQuery, on: Join, parent: Place): Sql {
  const isList = query.shape === 'list';
  const rows = relatedRows(writer, query, on.columns, parent, isList ? 'all' : on.unique ? 'no' : 'first');
  const place = new Place(writer, rows.rows);
  const keys = keyColumns(on.columns, place.row);
  const object = objectOf(writer, query.fields, place);
  const json = isList ? writer.array(object, rows.order(place.alias), null) : object;
  const group = isList ? groupBy(on.columns, place.row) : EMPTY;
  const select = sql`select ${join([...keys, sql`${json} as ${JSON_COLUMN}`], COMMA)} from ${place.from(false)}${group}`;
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
  const place = new Place(writer, limited?.rows ?? rows.rows);
  const object = aggregatesOver(writer, query, place, limited ?? rows);
  return sql`select ${object} as ${JSON_COLUMN} from ${place.from(writer.named)}`;
}

function isPaged({ rows }: AggregateQuery): boolean {
  return rows.limit !== null || rows.offset !== null || rows.distinctOn.length > 0;
}

/** Without a page the order of the rows means nothing to aggregates. */
function withoutOrder(query: AggregateQuery): AggregateQuery {
  return { ...query, rows: { ...query.rows, orderBy: [] } };
}

function isAggregate(item: Aggregates): boolean {
  return item.kind === 'count' || item.fields.some(({ kind }) => kind === 'read');
}

function asksMasks(item: Aggregates): boolean {
  return item.kind === 'count'
    ? item.columns.some(looksElsewhere)
    : item.fields.some((field) => field.kind === 'read' && looksElsewhere(field.read));
}

const NUMBER = identifier(':number');

/** The rows of a root with their places in its order. */
function withNumber(writer: SetWriter, rows: LevelRows): LevelRows {
  const inside = new Place(writer, rows.rows);
  const columns = new Columns(inside.row);
  const number = numbered([], rows.order(inside.alias));
  const select = (): Sql => sql`select ${columns.list()}, ${number} as ${NUMBER} from ${inside.from(false)}`;
  const named = new Named(writer, columns, select, rows.rows.keys);
  return { rows: named, order: (alias) => [sql`${alias}.${NUMBER}`], before: null, number: NUMBER, firstKey: null };
}

/** Aggregates and nodes over the rows of a place, or of each of its groups. */
function aggregatesOver(writer: SetWriter, { fields, nodesLimit }: AggregateQuery, place: Place, rows: LevelRows): Sql {
  const asks = asksOf(place);
  return aggregateObject(
    writer,
    fields,
    (read) => writer.read(read, place.row, asks),
    (nodes) => {
      const object = objectOf(writer, nodes.fields, place);
      const bound = rows.before === null ? writer.rowLimit(nodesLimit ?? 0) : sql`${rows.before} + ${writer.rowLimit(nodesLimit ?? 0)}`;
      const only = nodesLimit === null || rows.number === null ? null : sql`${place.alias}.${rows.number} <= ${bound}`;
      return writer.arrayOrEmpty(writer.array(object, rows.order(place.alias), only));
    },
  );
}

function relatedAggregate(writer: SetWriter, query: AggregateQuery, on: Join, parent: Place): Sql {
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
    const place = new Place(writer, rows.rows);
    const object = aggregatesOver(writer, query, place, rows);
    found = attached(parent, on, place.row, object, place.from(!hasNodes && writer.named));
  }
  return writer.objectOr(found(JSON_COLUMN), found(keyName(0)), empty);
}

function attached(parent: Place, on: Join, row: Row, object: Sql, body: Sql): Joined {
  const columns = join([...keyColumns(on.columns, row), sql`${object} as ${JSON_COLUMN}`], COMMA);
  const select = sql`select ${columns} from ${body}${groupBy(on.columns, row)}`;
  return parent.attach(on.columns, () => select);
}

/** @param read a value of a row; null: there are no rows @param nodes null: there are none */
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
      if (field.kind === 'nodes') return { key, value: nodes === null ? writer.emptyArray : nodes(field) };
      const entries = field.fields.map((item): Entry => {
        return { key: item.alias, value: item.kind === 'typename' ? writer.typename(item.typeName) : writer.aggregated(item, read) };
      });
      return { key, value: writer.object(entries) };
    }),
  );
}
