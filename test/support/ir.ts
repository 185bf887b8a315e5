/** Shorthands for IR in tests of compilers. */
import type { CatalogType } from '../../src/catalog/catalog.ts';
import { type BoolExp, type ColumnRead, type Read, TRUE } from '../../src/ir/bool-exp.ts';
import type { Join, Relation } from '../../src/ir/relation.ts';
import type { AggregateField, AggregateItem, AggregateQuery, Field, OrderBy, OrderTerm, RowSet, RowsQuery } from '../../src/ir/select.ts';
import type { Operand, Value } from '../../src/ir/value.ts';
import type { Json } from '../../src/util/json.ts';
import { ROOT } from '../../src/util/path.ts';
import type { FunctionArgument } from '../../src/ir/function-call.ts';

/** `int4`, `text[]`; in `pg_catalog` by default. */
export function type(name: string, schema = 'pg_catalog', kind: CatalogType['kind'] = 'base'): CatalogType {
  const array = name.endsWith('[]');
  return { schema, name: array ? name.slice(0, -2) : name, kind, array };
}

export const int = type('int4');
export const text = type('text');

export function table(name: string): Relation {
  return { kind: 'table', name: { schema: 'public', name } };
}

export function call(name: string, args: readonly FunctionArgument[], volatile?: boolean): Extract<Relation, { kind: 'function' }> {
  return {
    kind: 'function',
    call: { function: { schema: 'public', name }, arguments: args, ...(volatile === undefined ? {} : { volatile }) },
  };
}

export function column(name: string, of: CatalogType = int, mask?: BoolExp): ColumnRead {
  return { kind: 'column', column: name, type: of, ...(mask === undefined ? {} : { mask }) };
}

export function literal(json: Json): Value {
  return { kind: 'literal', json };
}

export function variable(name: string): Value {
  return { kind: 'variable', name, path: [], at: ROOT, check: (json) => json };
}

export function operand(value: Value, of: CatalogType, list = false): Operand {
  return { value, type: of, list };
}

export function compare(
  left: Read,
  operator: string,
  json: Json | Value,
  of: CatalogType = left.type,
  list = false,
  nullSafe = false,
): BoolExp {
  const value = isValue(json) ? json : literal(json);
  return { kind: 'compare', left, operator, argument: { kind: 'operand', operand: operand(value, of, list) }, nullSafe };
}

function isValue(json: Json | Value): json is Value {
  return typeof json === 'object' && json !== null && 'kind' in json;
}

export function all(...items: readonly BoolExp[]): BoolExp {
  return { kind: 'and', items };
}

export function any(...items: readonly BoolExp[]): BoolExp {
  return { kind: 'or', items };
}

export function joined(local: string, remote: string, unique: boolean): Join {
  return { columns: [{ local, remote }], unique };
}

export function exists(join: Join | null, from: Relation, where: BoolExp = TRUE): BoolExp {
  return { kind: 'exists', join, from, where };
}

export function rowSet(set: Partial<RowSet> = {}): RowSet {
  return { where: TRUE, distinctOn: [], orderBy: [], limit: null, offset: null, ...set };
}

export function rows(from: Relation, fields: readonly Field[], set: Partial<RowSet> = {}, shape: RowsQuery['shape'] = 'list'): RowsQuery {
  return { kind: 'rows', shape, from, rows: rowSet(set), fields };
}

export function aggregate(
  from: Relation,
  fields: readonly AggregateField[],
  set: Partial<RowSet> = {},
  nodesLimit: number | null = null,
): AggregateQuery {
  return { kind: 'aggregate', from, rows: rowSet(set), nodesLimit, fields };
}

export function field(name: string, of: CatalogType = int, alias = name, jsonPath: Value | null = null): Field {
  return { kind: 'read', alias, read: column(name, of), jsonPath };
}

export function related(alias: string, join: Join | null, query: RowsQuery | AggregateQuery): Field {
  return { kind: 'related', alias, join, query };
}

export function count(alias = 'count', columns: readonly Read[] = [], distinct = false): AggregateItem {
  return { kind: 'count', alias, columns, distinct };
}

export function aggregated(name: string, ...columns: readonly ColumnRead[]): AggregateItem {
  return {
    kind: 'function',
    alias: name,
    function: name,
    fields: columns.map((read) => ({ kind: 'read', alias: read.column, read, columnType: read.type })),
  };
}

export function by(read: Read | OrderTerm, direction: OrderBy['direction'] = 'asc'): OrderBy {
  const term: OrderTerm =
    read.kind === 'related' || read.kind === 'related-aggregate' || read.kind === 'read' ? read : { kind: 'read', read };
  return { term, direction, nulls: direction === 'asc' ? 'last' : 'first' };
}
