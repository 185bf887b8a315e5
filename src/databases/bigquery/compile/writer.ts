/** Set plans of BigQuery, with derived tables and JSON as text. */
import { SvcError } from '../../../errors/svc-error.ts';
import type { Read } from '../../../ir/bool-exp.ts';
import type { OrderTerm } from '../../../ir/select.ts';
import { EMPTY, integer, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { ownScope } from '../../shared/row.ts';
import { type Aggregates, type Entry, type LeafField, type SetWriter, withRelatedConditions } from '../../shared/set-plan/writer.ts';
import { isKeyType, isOrdered } from '../families.ts';
import { types } from '../types.ts';
import { aggregateCall, aggregateResultType } from './aggregate-call.ts';
import { aggregateHolds, aggregateOfNothing, conditionsOf, readSql, tuple } from './bool-exp.ts';
import type { Context } from './context.ts';
import { placeholderSql } from './placeholder.ts';
import { rowLimitSql, rowOffsetSql } from './operand.ts';
import { outputSql } from './output.ts';
import { relationSql } from './relation.ts';

/** Maximum arguments of a call of `concat`; larger objects are concatenated in groups. */
const MAX_PARTS = 100;

export function writerOf(context: Context): SetWriter {
  const writer: SetWriter = {
    alias: () => context.alias(),
    relation: (select) => sql`(${select()})`,
    named: false,
    from: (relation) => relationSql(context, relation),
    conditions: (exp, row) => conditionsOf(context, exp, ownScope(row)),
    read: (read, row, relatedConditions) => withRelatedConditions(context, relatedConditions, () => readSql(context, read, row)),
    distinctKey(read, row, relatedConditions) {
      const value = writer.read(read, row, relatedConditions);
      if (!isOrdered(read.type)) throw unordered('distinct_on', read.type);
      return isKeyType(read.type) ? value : sql`cast(${value} as string)`;
    },
    field: (field, row, relatedConditions) =>
      withRelatedConditions(context, relatedConditions, () => leafSql(context, field, (read) => readSql(context, read, row))),
    among: (columns, values, from) => sql`(${tuple(columns)} in (select ${tuple(values)} from ${from}))`,
    orderKey(value, { term, direction, nulls }) {
      const { read } = { read: readOf(term) };
      if (read !== null && !isOrdered(read.type)) throw unordered('order_by', read.type);
      const key = direction === 'asc' ? value : sql`${value} desc`;
      // Nulls sort first by default; another order needs a key of its own, as inside aggregates.
      if ((direction === 'asc') === (nulls === 'first')) return key;
      return nulls === 'last' ? sql`(${value} is null), ${key}` : sql`(${value} is not null), ${key}`;
    },
    page(limit, _ties, offset) {
      const rows = limit === null ? sql` limit 9223372036854775807` : sql` limit ${writer.rowLimit(limit)}`;
      return offset === null ? rows : sql`${rows} offset ${rowOffsetSql(offset)}`;
    },
    rowLimit: (limit) => (limit <= 1 ? integer(limit) : rowLimitSql(limit)),
    count: rowOffsetSql,
    aggregate: aggregateCall,
    aggregateHolds: (comparisons, aggregate) => aggregateHolds(context, comparisons, aggregate),
    aggregateOfNothing,
    aggregated: (item, of) => aggregatedSql(context, item, of),
    aggregatesInPlace: () => true,
    object: objectSql,
    typename: typenameSql,
    array(item, order, only) {
      const value = only === null ? item : sql`if(${only}, ${item}, null)`;
      const sorted = order.length === 0 ? EMPTY : sql` order by ${join(order, sql`, `)}`;
      return sql`concat('[', string_agg(${value}, ','${sorted}), ']')`;
    },
    only: (object) => sql`any_value(${object})`,
    emptyArray: sql`'[]'`,
    arrayOrEmpty: (array) => sql`ifnull(${array}, '[]')`,
    objectOr: (object, _there, empty) => sql`ifnull(${object}, ${empty})`,
  };
  return writer;
}

function aggregatedSql(context: Context, item: Aggregates, of: ((read: Read) => Sql) | null): Sql {
  if (item.kind === 'count') {
    if (of === null) return sql`'0'`;
    const operands = item.columns.map((read) => ({ value: of(read), type: read.type }));
    return sql`cast(${aggregateCall('count', operands, item.distinct)} as string)`;
  }
  return objectSql(
    item.fields.map((field): Entry => {
      if (field.kind === 'typename') return { key: field.alias, value: typenameSql(field.typeName) };
      if (of === null) return { key: field.alias, value: sql`'null'` };
      const { type } = field.read;
      const aggregate = aggregateCall(item.function, [{ value: of(field.read), type }], false);
      return { key: field.alias, value: outputSql(context, aggregate, aggregateResultType(item.function, type), field.columnType) };
    }),
  );
}

function readOf(term: OrderTerm): Extract<OrderTerm, { kind: 'read' }>['read'] | null {
  if (term.kind === 'related') return readOf(term.term);
  return term.kind === 'read' ? term.read : null;
}

function unordered(argument: string, type: Parameters<typeof types.print>[0]): SvcError {
  return new SvcError(
    'not-supported',
    `BigQuery cannot order values of type ${types.print(type)}: ${argument} must not name such a column`,
  );
}

function typenameSql(name: string): Sql {
  return string(JSON.stringify(name));
}

function leafSql(context: Context, field: LeafField, read: (read: Extract<LeafField, { kind: 'read' }>['read']) => Sql): Sql {
  switch (field.kind) {
    case 'typename':
      return typenameSql(field.typeName);
    case 'read': {
      const printed = outputSql(context, read(field.read), field.read.type);
      return field.upperCase === true ? sql`upper(${printed})` : printed;
    }
    case 'joined':
      return placeholderSql(field.join, field.keys, read);
  }
}

/** Compiles an object to a text that is never null. */
function objectSql(entries: readonly Entry[]): Sql {
  if (entries.length === 0) return sql`'{}'`;
  const parts = entries.flatMap(({ key, value }, i) => [string(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`), present(value)]);
  return concatenated([...parts, sql`'}'`]);
}

function present(value: Sql): Sql {
  return value.kind === 'string' ? value : sql`ifnull(${value}, 'null')`;
}

function concatenated(parts: readonly Sql[]): Sql {
  if (parts.length <= MAX_PARTS) return sql`concat(${join(parts, sql`, `)})`;
  const groups: Sql[] = [];
  for (let start = 0; start < parts.length; start += MAX_PARTS) groups.push(concatenated(parts.slice(start, start + MAX_PARTS)));
  return concatenated(groups);
}
