/** Set plans of SQLite, with derived tables and JSON as text. */
import type { CompilerOptions } from '../../../src/backend/backend.ts';
import type { CatalogType } from '../../../src/catalog/catalog.ts';
import { ownScope } from '../../../src/databases/shared/row.ts';
import type { Entry, LeafField, SetWriter } from '../../../src/databases/shared/set-plan/writer.ts';
import type { Read } from '../../../src/ir/bool-exp.ts';
import { EMPTY, integer, join, string, type Sql, sql } from '../../../src/sql/fragment.ts';
import { aggregateCall, aggregateHolds, type Aliases, conditionsOf, readSql, relationSql } from './conditions.ts';
import { countSql, textSql } from './operand.ts';
import { REAL, TEXT } from './types.ts';

/** Maximum arguments of a function call. */
const MAX_PARTS = 100;

export function writerOf(aliases: Aliases, options: CompilerOptions): SetWriter {
  const output = (value: Sql, type: CatalogType, column = type): Sql =>
    options.stringifyNumericTypes && column.name !== TEXT.name ? sql`json_quote(${plainText(value, type)})` : sql`json_quote(${value})`;
  const writer: SetWriter = {
    alias: aliases,
    relation: (select) => sql`(${select()})`,
    named: false,
    from: (relation) => relationSql(aliases, relation),
    conditions: (exp, row) => conditionsOf(aliases, exp, ownScope(row)),
    // Conditions of masks are correlated subqueries.
    read: (read, row) => readSql(aliases, read, row),
    distinctKey: (read, row) => readSql(aliases, read, row),
    field: (field, row) => leafSql(field, (read) => readSql(aliases, read, row), output),
    among: (columns, values, from) => sql`(${join(columns, COMMA)}) in (select ${join(values, COMMA)} from ${from})`,
    orderKey: (value, { direction, nulls }) =>
      sql`${value} ${direction === 'asc' ? sql`asc` : sql`desc`} nulls ${nulls === 'first' ? sql`first` : sql`last`}`,
    page(limit, _ties, offset) {
      const rows = sql` limit ${integer(limit ?? -1)}`;
      return offset === null ? rows : sql`${rows} offset ${countSql(offset)}`;
    },
    rowLimit: integer,
    count: countSql,
    aggregate: aggregateCall,
    aggregateHolds: (predicate, aggregate) => aggregateHolds(aliases, predicate, aggregate),
    aggregateOfNothing: (exp) => (exp.function === 'count' ? sql`0` : sql`null`),
    aggregated(item, of) {
      if (item.kind === 'count') {
        if (of === null) return sql`'0'`;
        const operands = item.columns.map((read) => ({ value: of(read), type: read.type }));
        return sql`cast(${aggregateCall('count', operands, item.distinct)} as text)`;
      }
      return objectSql(
        item.fields.map((field): Entry => {
          if (field.kind === 'typename') return { key: field.alias, value: writer.typename(field.typeName) };
          if (of === null) return { key: field.alias, value: sql`'null'` };
          const { type } = field.read;
          const aggregate = aggregateCall(item.function, [{ value: of(field.read), type }], false);
          return { key: field.alias, value: output(aggregate, item.function === 'avg' ? REAL : type, field.columnType) };
        }),
      );
    },
    aggregatesInPlace: () => true,
    object: objectSql,
    typename: (name) => string(JSON.stringify(name)),
    array(item, order, only) {
      const sorted = order.length === 0 ? EMPTY : sql` order by ${join(order, COMMA)}`;
      return sql`concat('[', group_concat(${item}, ','${sorted})${only === null ? EMPTY : sql` filter (where ${only})`}, ']')`;
    },
    only: (object) => sql`max(${object})`,
    emptyArray: sql`'[]'`,
    arrayOrEmpty: (array) => sql`ifnull(${array}, '[]')`,
    objectOr: (object, _there, empty) => sql`ifnull(${object}, ${empty})`,
  };
  return writer;
}

const COMMA = sql`, `;

function leafSql(field: LeafField, read: (read: Read) => Sql, output: (value: Sql, type: CatalogType) => Sql): Sql {
  switch (field.kind) {
    case 'typename':
      return string(JSON.stringify(field.typeName));
    case 'read':
      return output(read(field.read), field.read.type);
    case 'joined':
      return placeholderSql(
        field.join,
        field.keys.map((key) => plainText(read(key), key.type)),
      );
  }
}

/** Prints a value with all of its digits: a cast would keep 15. */
function plainText(value: Sql, { name }: CatalogType): Sql {
  return name === TEXT.name ? value : sql`('' || json_quote(${value}))`;
}

/** Placeholder of a field that another source answers; see `src/execute/placeholders.ts`. */
function placeholderSql(index: number, texts: readonly Sql[]): Sql {
  const name = sql`concat(${textSql({ kind: 'placeholder-name' })}, ${string(`:${index}`)})`;
  const [text, ...more] = texts;
  // `concat` treats null as an empty text.
  if (text !== undefined && more.length === 0) return sql`json_quote(concat(${name}, ';' || ${text}))`;
  const parts = texts.map((each) => sql`, ',', json_quote(${each})`);
  return sql`concat('[', json_quote(${name})${join(parts, EMPTY)}, ']')`;
}

/** Compiles an object to a text that is never null. */
function objectSql(entries: readonly Entry[]): Sql {
  if (entries.length === 0) return sql`'{}'`;
  const parts = entries.flatMap(({ key, value }, i) => [
    string(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    value.kind === 'string' ? value : sql`ifnull(${value}, 'null')`,
  ]);
  return concatenated([...parts, sql`'}'`]);
}

function concatenated(parts: readonly Sql[]): Sql {
  if (parts.length <= MAX_PARTS) return sql`concat(${join(parts, COMMA)})`;
  const groups: Sql[] = [];
  for (let start = 0; start < parts.length; start += MAX_PARTS) groups.push(concatenated(parts.slice(start, start + MAX_PARTS)));
  return concatenated(groups);
}
