/** Rows of a table: which ones, in what order, and what of each. */
import { SvcError } from '../../errors/svc-error.ts';
import { and } from '../../ir/bool-exp.ts';
import type { Field, OrderBy, OrderTerm, RowSet, RowsQuery } from '../../ir/select.ts';
import { type Codec, leaf, list, nonEmptyText, object, optional, required, wrongType } from '../../metadata/codec.ts';
import { isJsonObject } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { callFor, takesArguments } from '../../schema-cache/stages/computed-field.ts';
import { type OrderItem, type RowsArguments, rowsFields } from './arguments.ts';
import {
  masked,
  noSuchColumn,
  readableColumn,
  readableComputedField,
  readableRelationship,
  type ReadableRelationship,
  type ReadableTable,
} from './table-access.ts';
import { whereCondition } from './where.ts';

/** `"*"`, `"c"`, or a relationship with columns of its own. */
export type SelectItem = string | RelationshipItem;

export interface RelationshipItem extends RowsArguments {
  readonly name: string;
  readonly alias?: string | undefined;
  readonly columns: readonly SelectItem[];
}

const selectItem: Codec<SelectItem> = leaf(
  'SelCol',
  (json, path) => {
    if (typeof json === 'string') return nonEmptyText.decode(json, path);
    if (!isJsonObject(json)) throw wrongType('SelCol', 'Object', json, path);
    return relationshipItem.decode(json, path);
  },
  () => {
    throw new Error('invariant: columns of a select are only read');
  },
);

export const selectItems: Codec<readonly SelectItem[]> = list(selectItem);

const relationshipItem = object('SelColExtended', {
  name: required(nonEmptyText),
  alias: optional(nonEmptyText),
  columns: required(selectItems),
  ...rowsFields,
});

/** @param path of the arguments @throws SvcError */
export function rowsQuery(table: ReadableTable, columns: readonly SelectItem[], args: RowsArguments, path: Path): RowsQuery {
  const fields = selectedFields(table, columns, at(path, 'columns'));
  return { kind: 'rows', shape: 'list', from: table.relation, rows: rowSet(table, args, path), fields };
}

function rowSet(table: ReadableTable, { where, orderBy = [], limit, offset }: RowsArguments, path: Path): RowSet {
  refuseNegative(limit, at(path, 'limit'));
  refuseNegative(offset, at(path, 'offset'));
  return {
    where: where === undefined ? table.filter : and(table.filter, whereCondition(table, where, at(path, 'where'))),
    distinctOn: [],
    orderBy: orderBy.map((item) => ordered(table, item, at(path, 'order_by'))),
    limit: table.limit === null ? (limit ?? null) : Math.min(table.limit, limit ?? table.limit),
    offset: offset === undefined ? null : { kind: 'literal', json: offset },
  };
}

function refuseNegative(value: number | undefined, path: Path): void {
  if (value !== undefined && value < 0) throw new SvcError('not-supported', 'unexpected negative value', { path });
}

function ordered(table: ReadableTable, { column, direction, nulls }: OrderItem, path: Path): OrderBy {
  return { term: orderTerm(table, column, path), direction, nulls: nulls ?? (direction === 'desc' ? 'first' : 'last') };
}

/** A column, or a path to one through object relationships; a column with a dot in its name comes first. */
function orderTerm(table: ReadableTable, name: string, path: Path): OrderTerm {
  const dot = name.indexOf('.');
  const isColumn = table.info.catalog.columns.some((column) => column.name === name);
  if (dot > 0 && !isColumn) {
    const relationship = readableRelationship(table, name.slice(0, dot), path);
    if (relationship === undefined) throw new SvcError('not-exists', `"${name.slice(0, dot)}" does not exist`, { path });
    const { kind, join, target } = relationship;
    if (kind === 'array') {
      throw new SvcError('unexpected-payload', `array relationship "${name.slice(0, dot)}" cannot be used in order_by`, { path });
    }
    return { kind: 'related', join, from: target.relation, where: target.filter, term: orderTerm(target, name.slice(dot + 1), path) };
  }
  return { kind: 'read', read: readableColumn(table, name, path).read };
}

const WILDCARD = /^\*(?:\.\*)*$/;

/** Keys of an object are unique: the last one with a name counts. */
function selectedFields(table: ReadableTable, items: readonly SelectItem[], path: Path): readonly Field[] {
  const fields = items.flatMap((item, i) => {
    if (typeof item !== 'string') return [relatedField(table, item, at(path, i))];
    return WILDCARD.test(item) ? everything(table, (item.length - 1) / 2, at(path, i)) : [plainField(table, item, at(path, i))];
  });
  return [...new Map(fields.map((field) => [field.alias, field])).values()];
}

/** `*` is all columns, `*.*` their relationships with all columns too, and so on. */
function everything(table: ReadableTable, depth: number, path: Path): readonly Field[] {
  const { size } = table.reader;
  size.addFields(table.columns.size);
  const columns: readonly Field[] = [...table.columns].map(([alias, { read }]) => ({ kind: 'read', alias, read, jsonPath: null }));
  if (depth === 0) return columns;
  const relationships = [...table.info.relationships.keys()].flatMap((name): readonly Field[] => {
    const relationship = readableIfAllowed(table, name, path);
    if (relationship === null) return [];
    size.addObject();
    return [related(name, relationship, everything(relationship.target, depth - 1, path), {}, path)];
  });
  return [...columns, ...relationships];
}

/** Null when the role may not select from the target. */
function readableIfAllowed(table: ReadableTable, name: string, path: Path): ReadableRelationship | null {
  try {
    return readableRelationship(table, name, path) ?? null;
  } catch (error) {
    if (error instanceof SvcError && error.code === 'permission-denied') return null;
    throw error;
  }
}

function plainField(table: ReadableTable, name: string, path: Path): Field {
  table.reader.size.addFields(1);
  const isColumn = table.info.catalog.columns.some((column) => column.name === name);
  const computed = isColumn ? undefined : readableComputedField(table, name, path);
  if (computed === undefined) {
    if (table.info.relationships.has(name)) {
      throw new SvcError('unexpected-payload', `relationship "${name}" has to be selected with its columns`, { path });
    }
    return { kind: 'read', alias: name, read: readableColumn(table, name, path).read, jsonPath: null };
  }
  const { info, mask } = computed;
  if (info.returns.kind === 'table' || takesArguments(info)) throw noSuchColumn(name, path);
  const read = { kind: 'computed-field', call: callFor(info), type: info.returns.type, ...masked(mask) } as const;
  return { kind: 'read', alias: name, read, jsonPath: null };
}

function relatedField(table: ReadableTable, item: RelationshipItem, path: Path): Field {
  const relationship = readableRelationship(table, item.name, path);
  if (relationship === undefined) throw new SvcError('not-exists', `"${item.name}" does not exist`, { path });
  table.reader.size.addObject();
  const fields = selectedFields(relationship.target, item.columns, at(path, 'columns'));
  return related(item.alias ?? item.name, relationship, fields, item, path);
}

function related(
  alias: string,
  { kind, join, target }: ReadableRelationship,
  fields: readonly Field[],
  args: RowsArguments,
  path: Path,
): Field {
  if (kind === 'object' && [args.where, args.orderBy, args.limit, args.offset].some((argument) => argument !== undefined)) {
    const message = "when selecting an object relationship 'where', 'order_by', 'limit' and 'offset' can't be used";
    throw new SvcError('unexpected-payload', message, { path });
  }
  // The permission's limit is about lists.
  const rows: RowSet =
    kind === 'object' ? { where: target.filter, distinctOn: [], orderBy: [], limit: null, offset: null } : rowSet(target, args, path);
  return {
    kind: 'related',
    alias,
    join,
    query: { kind: 'rows', shape: kind === 'object' ? 'single' : 'list', from: target.relation, rows, fields },
  };
}
