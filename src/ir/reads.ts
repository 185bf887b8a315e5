/**
 * Decides whether the fields of an answer can be read by the statement that writes. Within that statement, everything is as it was before
 * the write, so whatever the write may have changed has to be read afterwards, by another statement.
 */
import { nameKey, type QualifiedName, sameName } from '../catalog/catalog.ts';
import { type BoolExp, type BoolExpLeaf, type Read, someLeaf } from './bool-exp.ts';
import type { FunctionCall } from './function-call.ts';
import type { Relation } from './relation.ts';
import { someAggregate } from './select.ts';
import type { AggregateField, AggregateItem, ConnectionField, Field, GroupsField, OrderTerm, SelectQuery } from './select.ts';

/** Tables that a write changes. */
export interface WrittenTables {
  /** `nameKey` of the tables that are written to. */
  readonly tables: ReadonlySet<string>;
  /** True if no other tables are changed. */
  readonly contained: boolean;
}

/** Returns true if the fields read more than the written rows and tables that the write cannot have changed. */
export function readsChangedTables(fields: readonly Field[], written: WrittenTables): boolean {
  const relation = (from: Relation): boolean =>
    from.kind === 'function' || !written.contained || from.stored !== true || written.tables.has(nameKey(from.name));
  return fields.some(reader({ relation, call: yes }).field);
}

/** Returns true if the fields read anything but the row itself. */
export function readsOtherRows(fields: readonly Field[]): boolean {
  return fields.some(reader({ relation: yes, call: yes }).field);
}

/** Returns true if a condition on a row of the table may read other rows of it. */
export function readsTable(condition: BoolExp, table: QualifiedName): boolean {
  const relation = (from: Relation): boolean => from.kind === 'function' || from.stored !== true || sameName(from.name, table);
  return reader({ relation, call: yes }).condition(condition);
}

/** Returns true if a condition may read tables that it does not name, through views and functions. */
export function readsUnnamedTables(condition: BoolExp): boolean {
  return reader({ relation: (from) => from.kind === 'function' || from.stored !== true, call: yes }).condition(condition);
}

/** Tables and functions that a query names, those of conditions and permissions included. */
export interface NamedObjects {
  readonly tables: readonly QualifiedName[];
  readonly functions: readonly QualifiedName[];
}

export function objectsRead(query: SelectQuery): NamedObjects {
  const tables: QualifiedName[] = [];
  const functions: QualifiedName[] = [];
  // Nothing counts, so that the walk ends nowhere before its end.
  const call = (of: FunctionCall): boolean => {
    functions.push(of.function);
    return false;
  };
  const relation = (from: Relation): boolean => {
    if (from.kind === 'function') return call(from.call);
    tables.push(from.name);
    return false;
  };
  reader({ relation, call }).query(query);
  return { tables, functions };
}

const yes = (): boolean => true;

interface Reader {
  query(of: SelectQuery): boolean;
  field(of: Field): boolean;
  condition(of: BoolExp): boolean;
}

/** Returns true for what counts as a read. */
interface Counting {
  relation(from: Relation): boolean;
  /** A call for a value of a row; a function may read any table. */
  call(of: FunctionCall): boolean;
}

function reader({ relation, call }: Counting): Reader {
  const read = (of: Read): boolean => {
    if (of.kind === 'cast') return read(of.read);
    return (of.kind === 'computed-field' && call(of.call)) || (of.mask !== undefined && condition(of.mask));
  };
  const condition = (exp: BoolExp): boolean => someLeaf(exp, leaf);
  const leaf = (exp: BoolExpLeaf): boolean => {
    switch (exp.kind) {
      case 'constant':
        return false;
      case 'compare':
      case 'is-null':
        return read(exp.left);
      case 'compare-columns':
        return read(exp.left) || read(exp.right);
      case 'exists':
        return relation(exp.from) || condition(exp.where);
      case 'aggregate-predicate':
        return relation(exp.from) || condition(exp.where) || exp.arguments.some(read);
    }
  };
  const term = (of: OrderTerm): boolean => {
    if (of.kind === 'read') return read(of.read);
    if (relation(of.from) || condition(of.where)) return true;
    return of.kind === 'related' ? term(of.term) : of.arguments.some(read);
  };
  const query = (of: SelectQuery): boolean =>
    relation(of.from) ||
    condition(of.rows.where) ||
    of.rows.distinctOn.some(read) ||
    of.rows.orderBy.some((item) => term(item.term)) ||
    fieldsOf(of);
  const fieldsOf = (of: SelectQuery): boolean => {
    if (of.kind === 'connection') return of.fields.some(connectionField);
    return of.kind === 'rows' ? of.fields.some(field) : of.fields.some(aggregateField);
  };
  const connectionField = (of: ConnectionField): boolean =>
    of.kind === 'edges' && of.fields.some((each) => each.kind === 'node' && each.fields.some(field));
  const field = (of: Field): boolean => {
    if (of.kind === 'typename') return false;
    if (of.kind === 'joined' || of.kind === 'node-id') return of.keys.some(read);
    return of.kind === 'read' ? read(of.read) : query(of.query);
  };
  const aggregateField = (of: AggregateField): boolean => {
    if (of.kind === 'typename') return false;
    if (of.kind === 'nodes') return of.fields.some(field);
    return of.kind === 'groups' ? groups(of) : of.fields.some(aggregateItem);
  };
  const aggregateItem = (item: AggregateItem): boolean => {
    if (item.kind === 'typename') return false;
    if (item.kind === 'count') return item.columns.some(read);
    return item.fields.some((entry) => entry.kind === 'read' && read(entry.read));
  };
  const groups = (of: GroupsField): boolean =>
    of.related.some((row) => relation(row.from) || condition(row.where)) ||
    of.parts.some((part) => part.kind === 'read' && read(part.read)) ||
    (of.having !== null &&
      someAggregate(of.having, (leaf) => leaf.arguments.some(read) || (leaf.filter !== null && condition(leaf.filter)))) ||
    of.orderBy.some((item) => item.term.kind === 'aggregate' && item.term.arguments.some(read)) ||
    of.fields.some((each) => {
      if (each.kind === 'nodes') return each.fields.some(field) || (each.orderBy ?? []).some((item) => term(item.term));
      return each.kind === 'aggregate' && each.fields.some(aggregateItem);
    });
  return { query, field, condition };
}
