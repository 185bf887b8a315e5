/**
 * Fields whose computation can fail because of the values of a row. The database flattens a subquery of one row that is joined to others,
 * and may then compute the fields before the conditions that exclude the row: a failure would reveal rows that are filtered out.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type {
  AggregateField,
  AggregateItem,
  AggregateQuery,
  ConnectionField,
  Field,
  GroupedRow,
  GroupField,
  GroupPart,
  GroupsField,
  HavingLeaf,
  OrderTerm,
  SelectQuery,
  RowSet,
  RowsQuery,
} from '../../../ir/select.ts';
import { someAggregate } from '../../../ir/select.ts';
import { ORDERLESS } from './aggregate-call.ts';
import { mayFail, readMayFail } from './may-fail.ts';
import { isSpatial } from './operand.ts';
import { isTotal } from './total-types.ts';
import type { Read } from '../../../ir/bool-exp.ts';

/** Returns whether a row's fields may fail, those of related rows included. */
export function fieldsMayFail(fields: readonly Field[]): boolean {
  return fields.some(fieldMayFail);
}

/** Returns whether fields of related rows may fail. */
export function relatedMayFail(fields: readonly Field[]): boolean {
  return fields.some((field) => field.kind === 'related' && fieldMayFail(field));
}

/** Returns whether a sort key may fail. */
export function termMayFail(term: OrderTerm): boolean {
  switch (term.kind) {
    case 'read':
      return readMayFail(term.read);
    case 'related':
      return isFunction(term.from) || mayFail(term.where) || termMayFail(term.term);
    case 'related-aggregate':
      return isFunction(term.from) || mayFail(term.where) || aggregationMayFail(term.function, term.arguments);
  }
}

function fieldMayFail(field: Field): boolean {
  switch (field.kind) {
    case 'typename':
      return false;
    case 'joined':
    case 'node-id':
      return field.keys.some(printingMayFail);
    case 'read':
      return printingMayFail(field.read);
    case 'related':
      return queryMayFail(field.query);
  }
}

function queryMayFail(query: SelectQuery): boolean {
  if (query.kind === 'aggregate') return aggregateMayFail(query);
  return rowsMayFail(query) || (query.kind === 'rows' ? fieldsMayFail(query.fields) : query.fields.some(connectionFieldMayFail));
}

function connectionFieldMayFail(field: ConnectionField): boolean {
  return field.kind === 'edges' && field.fields.some((each) => each.kind === 'node' && fieldsMayFail(each.fields));
}

function rowsMayFail({ from, rows }: Pick<SelectQuery, 'from' | 'rows'>): boolean {
  return isFunction(from) || rowSetMayFail(rows);
}

function rowSetMayFail({ where, orderBy, distinctOn }: RowSet): boolean {
  return (
    mayFail(where) || orderBy.some(({ term }) => termMayFail(term)) || distinctOn.some((read) => readMayFail(read) || !isTotal(read.type))
  );
}

function aggregateMayFail(query: AggregateQuery): boolean {
  return rowsMayFail(query) || query.fields.some(aggregateFieldMayFail);
}

function aggregateFieldMayFail(field: AggregateField): boolean {
  switch (field.kind) {
    case 'typename':
      return false;
    case 'nodes':
      return fieldsMayFail(field.fields);
    case 'aggregate':
      return field.fields.some(itemMayFail);
    case 'groups':
      return groupsMayFail(field);
  }
}

function groupsMayFail({ related, parts, having, orderBy, fields }: GroupsField): boolean {
  return (
    related.some(relatedRowMayFail) ||
    parts.some(partMayFail) ||
    (having !== null && someAggregate(having, leafMayFail)) ||
    orderBy.some(({ term }) => term.kind === 'aggregate' && aggregationMayFail(term.function, term.arguments)) ||
    fields.some(groupFieldMayFail)
  );
}

function groupFieldMayFail(field: GroupField): boolean {
  if (field.kind === 'nodes') return fieldsMayFail(field.fields) || (field.orderBy ?? []).some(({ term }) => termMayFail(term));
  return field.kind === 'aggregate' && field.fields.some(itemMayFail);
}

function leafMayFail({ function: name, arguments: reads, distinct, filter }: HavingLeaf): boolean {
  if (filter !== null && mayFail(filter)) return true;
  return aggregationMayFail(name, reads) || (distinct && reads.some(({ type }) => !isTotal(type)));
}

/** Returns whether a part of a group's key may fail. Periods may begin before the first moment of a type. */
export function partMayFail(part: GroupPart): boolean {
  return part.kind === 'read' && (part.bucket !== undefined || printingMayFail(part.read));
}

/** Returns whether parts of related rows may fail. */
export function relatedPartsMayFail(related: readonly GroupedRow[], parts: readonly GroupPart[]): boolean {
  return related.some(relatedRowMayFail) || parts.some((part) => part.row !== null && partMayFail(part));
}

function relatedRowMayFail({ from, where }: GroupedRow): boolean {
  return isFunction(from) || mayFail(where);
}

function itemMayFail(item: AggregateItem): boolean {
  switch (item.kind) {
    case 'typename':
      return false;
    case 'count':
      return item.columns.some((read) => readMayFail(read) || (item.distinct && !isTotal(read.type)));
    case 'function':
      return item.fields.some((field) => field.kind === 'read' && aggregationMayFail(item.function, [field.read]));
  }
}

/** Sums of floating point numbers overflow, and so do those of `money` and intervals. */
function aggregationMayFail(name: string, reads: readonly Read[]): boolean {
  return reads.some((read) => readMayFail(read) || (ORDERLESS.has(name) ? !isTotal(read.type) : !isExact(read.type)));
}

/** Returns whether sums of the type cannot overflow. */
function isExact({ schema, name, array }: CatalogType): boolean {
  return schema === 'pg_catalog' && !array && (name === 'int2' || name === 'int4' || name === 'int8' || name === 'numeric');
}

function isFunction(from: RowsQuery['from']): boolean {
  return from.kind === 'function';
}

/** Built-in types print all their values; the reference system of a geometry may be unknown. */
function printingMayFail(read: Read): boolean {
  return readMayFail(read) || isSpatial(read.type) || (read.type.schema !== 'pg_catalog' && !isTotal(read.type));
}
