/** `TConnection`: pages of rows with cursors. */
import type { OrderTerm, ConnectionField, ConnectionQuery, CursorKey, EdgeField, OrderBy, PageInfoField } from '../../ir/select.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Read } from '../../ir/bool-exp.ts';
import type {
  CollectedField,
  InputField,
  InputTypeRef,
  InputValue,
  ObjectType,
  OutputField,
  OutputTypeRef,
} from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { BOOLEAN_SCALAR, builtin, NON_NEGATIVE_INT, STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { at } from '../../util/path.ts';
import { lazyMap, smallerLimit } from '../fields/arguments.ts';
import { costOfBranch } from '../fields/related-cost.ts';
import { invalid, nonNullArgument } from '../fields/input.ts';
import type { ConnectionType, RoleTable } from '../fields/role-table.ts';
import { typenameField } from '../fields/typename.ts';
import { cursorValues } from './cursor.ts';

/** Maximum number of keys of a cursor; an index has as many. */
const MAX_KEYS = 32;
const NO_ARGS: ReadonlyMap<string, InputField> = new Map();

export function connectionType(table: RoleTable): ConnectionType {
  const edge = lazy(() => objectType(`${table.name}Edge`, edgeFields(table)));
  const type = objectType(`${table.name}Connection`, () => [
    inner('edges', listTypeRef(typeRef(`${table.name}Edge`, edge, true), true)),
    inner(
      'pageInfo',
      typeRef(PAGE_INFO.name, () => PAGE_INFO, true),
    ),
  ]);
  const fieldsOf = (parent: CollectedField): readonly ConnectionField[] =>
    parent.select(type).map((field): ConnectionField => {
      if (field.field === null) return typenameField(field);
      const alias = field.responseKey;
      if (field.name === 'edges') return { kind: 'edges', alias, fields: field.select(edge()).map((each) => edgeField(table, each)) };
      return { kind: 'page-info', alias, fields: field.select(PAGE_INFO).map(pageInfoField) };
    });
  return {
    type,
    args: lazyMap(() => connectionArguments(table)),
    query: (field, from) => ({ kind: 'connection', from, ...pageOf(table, field), fields: fieldsOf(field) }),
  };
}

function objectType(name: string, fields: () => readonly OutputField[]): ObjectType {
  return { kind: 'object', name, description: null, fields: lazy(() => new Map(fields().map((field) => [field.name, field]))) };
}

function inner(name: string, type: OutputTypeRef): OutputField {
  return { name, description: null, type, args: NO_ARGS, meaning: { kind: 'inner' } };
}

function edgeFields(table: RoleTable): () => readonly OutputField[] {
  return () => [
    inner('cursor', builtin(STRING_SCALAR, true)),
    inner(
      'node',
      typeRef(table.name, () => table.rows().type, true),
    ),
  ];
}

const PAGE_INFO: ObjectType = objectType('PageInfo', () => [
  inner('hasNextPage', builtin(BOOLEAN_SCALAR, true)),
  inner('hasPreviousPage', builtin(BOOLEAN_SCALAR, true)),
  inner('startCursor', builtin(STRING_SCALAR, true)),
  inner('endCursor', builtin(STRING_SCALAR, true)),
]);

const PAGE_INFO_PARTS = {
  hasNextPage: 'has-next',
  hasPreviousPage: 'has-previous',
  startCursor: 'start-cursor',
  endCursor: 'end-cursor',
} as const;

function edgeField(table: RoleTable, field: CollectedField): EdgeField {
  if (field.field === null) return typenameField(field);
  const alias = field.responseKey;
  return field.name === 'cursor' ? { kind: 'cursor', alias } : { kind: 'node', alias, fields: table.rows().fields(field) };
}

function pageInfoField(field: CollectedField): PageInfoField {
  if (field.field === null) return typenameField(field);
  return { kind: PAGE_INFO_PARTS[field.name as keyof typeof PAGE_INFO_PARTS], alias: field.responseKey };
}

/** The arguments of a list, with those of a connection in place of `limit` and `offset`. */
function connectionArguments(table: RoleTable): ReadonlyMap<string, InputField> {
  const own = new Map<string, InputField>();
  const add = (name: string, type: InputTypeRef, description: string): void => {
    own.set(name, { name, description, type });
  };
  add('after', builtin(STRING_SCALAR), 'the page begins behind this cursor');
  add('before', builtin(STRING_SCALAR), 'the page ends before this cursor');
  add('first', builtin(NON_NEGATIVE_INT), 'maximum number of edges, from the beginning');
  add('last', builtin(NON_NEGATIVE_INT), 'maximum number of edges, from the end');
  const left = new Set([table.source.field('limit'), table.source.field('offset')]);
  for (const [name, field] of table.selectArguments().args) if (!left.has(name)) own.set(name, field);
  return new Map([...own].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Page = Pick<ConnectionQuery, 'rows' | 'keys' | 'size' | 'isBackward' | 'cursor'>;

/** @throws SvcError validation-failed */
function pageOf(table: RoleTable, field: CollectedField): Page {
  const path = at(field.path, 'args');
  const argument = (name: string): InputValue | null => nonNullArgument(field.args, name);
  const rows = table.selectArguments().rows(field);
  const orderBy = argument(table.source.field('order_by'));
  const { order, keys } = totalOrder(table, rows.distinctOn, orderBy === null ? [] : withPaths(orderBy, rows.orderBy));
  if (keys.length > MAX_KEYS) throw invalid(`a connection can be ordered by at most ${MAX_KEYS} values`, path);
  const { types } = table.source.info.backend;
  const [first, last, after, before] = [argument('first'), argument('last'), argument('after'), argument('before')];
  if (first !== null && last !== null) throw invalid('"first" and "last" are not allowed at once', path);
  const valuesOf = (input: InputValue | null) => (input === null ? null : cursorValues(input, keys, types));
  const [afterValues, beforeValues] = [valuesOf(after), valuesOf(before)];
  (after ?? before)?.charge(keys.length * costOfBranch(rows.where));
  if (afterValues !== null && beforeValues !== null) throw invalid('"after" and "before" are not allowed at once', path);
  const values = afterValues ?? beforeValues;
  const count = first ?? last;
  return {
    rows: { ...rows, orderBy: order, limit: null, offset: null },
    keys,
    size: smallerLimit(count === null ? null : Number(count.json()), table.access.limit),
    isBackward: last !== null || (first === null && beforeValues !== null),
    cursor: values === null ? null : { side: afterValues !== null ? 'after' : 'before', values },
  };
}

interface OrderedKey {
  readonly item: OrderBy;
  readonly path: readonly string[];
}

/** Returns the items of an order with their places in `order_by`. */
function withPaths(orderBy: InputValue, items: readonly OrderBy[]): readonly OrderedKey[] {
  const paths = orderBy.items().flatMap((item) => (item.isNull() ? [] : pathsOf(item)));
  return items.map((item, i) => ({ item, path: paths[i] ?? [] }));
}

function pathsOf(input: InputValue): readonly (readonly string[])[] {
  return input.entries().flatMap(({ field, input: value }) => {
    if (value.isNull()) return [];
    const named = value.type.kind === 'named' ? value.type.type() : null;
    return named?.kind === 'input-object' ? pathsOf(value).map((path) => [field.name, ...path]) : [[field.name]];
  });
}

/** Completes an order by the primary key, without items that cannot decide. */
function totalOrder(
  table: RoleTable,
  distinctOn: readonly Read[],
  requested: readonly OrderedKey[],
): { readonly order: readonly OrderBy[]; readonly keys: readonly CursorKey[] } {
  const known = new Map<string, OrderedKey>();
  const left = new Map((table.node?.key ?? []).map((column) => [column.read.column, column]));
  const add = (entry: OrderedKey): void => {
    const key = JSON.stringify(entry.path);
    if (left.size === 0 || known.has(key)) return;
    known.set(key, entry);
    const { term } = entry.item;
    if (term.kind === 'read' && term.read.kind === 'column' && term.read.mask === undefined) left.delete(term.read.column);
  };
  // Rows of one distinct value are neighbours, whatever the request orders by.
  for (const entry of requested.length === 0 ? distinctOn.flatMap((read) => columnKey(table, read)) : requested) add(entry);
  for (const { name, read } of [...left.values()]) {
    // The role may order by a masked column of the key.
    add({ item: ascending(read), path: [known.has(JSON.stringify([name])) ? `:${name}` : name] });
  }
  const entries = [...known.values()];
  return {
    order: entries.map(({ item }) => item),
    keys: entries.map(({ item, path }) => ({ path, type: typeOf(table, item.term) })),
  };
}

function columnKey(table: RoleTable, read: Read): readonly OrderedKey[] {
  const column = [...table.columns.values()].find((each) => each.read === read);
  return column === undefined ? [] : [{ item: ascending(read), path: [column.name] }];
}

function ascending(read: Read): OrderBy {
  return { term: { kind: 'read', read }, direction: 'asc', nulls: 'last' };
}

/** Returns the type of the values of a key, or one to which all of them can be compared. */
function typeOf(table: RoleTable, term: OrderTerm): CatalogType {
  const { types } = table.source.info.backend;
  switch (term.kind) {
    case 'read':
      return term.read.type;
    case 'related':
      return typeOf(table, term.term);
    case 'related-aggregate': {
      const [operand] = term.arguments;
      if (operand === undefined) return types.basic.integer;
      const aggregate = types.aggregates.find(({ name }) => name === term.function);
      if (aggregate?.takes === 'comparable' || types.scalar(operand.type).sumsAsItself === true) return operand.type;
      return types.named('numeric') ?? operand.type;
    }
  }
}
