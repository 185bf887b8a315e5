/** Selected rows of a table: filter, order, page and fields. */
import { SvcError } from '../errors/svc-error.ts';
import { TRUE } from '../ir/bool-exp.ts';
import type { Field, OrderBy, OrderTerm, RowSet, RowsQuery } from '../ir/select.ts';
import { type Codec, leaf, list, nonEmptyText, object, optional, required, wrongType } from '../metadata/codec.ts';
import { isJsonObject } from '../util/json.ts';
import { at, type Path, ROOT } from '../util/path.ts';
import { takesArguments } from '../schema-cache/stages/computed-field.ts';
import { narrowedRows, rejectUnsortable } from '../schema/fields/arguments.ts';
import { relatedTerm } from '../schema/fields/order-by.ts';
import { chargeReads } from '../schema/fields/related-cost.ts';
import type { RoleRelationship, RoleTable } from '../schema/fields/role-table.ts';
import { singleRow, withinLimit } from '../schema/fields/select.ts';
import { type OrderItem, type RowsArguments, rowsFields } from './arguments.ts';
import { type Requester, requiredColumn, findComputedField, findRelationship, unknownColumn, unknownField } from './data-names.ts';
import { whereCondition } from './where.ts';

/** `"*"`, `"c"`, or a relationship with its columns. */
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
  { description: 'The name of a column, `"*"`, or an object for a relationship.' },
);

export const selectItems: Codec<readonly SelectItem[]> = list(selectItem);

const relationshipItem = object('SelColExtended', {
  name: required(nonEmptyText),
  alias: optional(nonEmptyText),
  columns: required(selectItems),
  ...rowsFields,
});

interface Selection extends RowsArguments {
  readonly columns: readonly SelectItem[];
}

/** @param path path of the arguments @throws SvcError */
export function selectedRows(requester: Requester, table: RoleTable, args: Selection, path: Path): RowsQuery {
  requester.size.addNode(1);
  const fields = new SelectionReader(requester).fields(table, args.columns, 2, at(path, 'columns'));
  return { kind: 'rows', shape: 'list', from: table.relation, rows: rowSet(requester, table, args, path), fields };
}

function rowSet(requester: Requester, table: RoleTable, { where, orderBy = [], limit, offset }: RowsArguments, path: Path): RowSet {
  refuseNegative(limit, at(path, 'limit'));
  refuseNegative(offset, at(path, 'offset'));
  const rows = narrowedRows(table, {
    where: where === undefined ? TRUE : whereCondition(requester, table, where, at(path, 'where')),
    distinctOn: [],
    orderBy: orderBy.map((item) => ordered(requester, table, item, at(path, 'order_by'))),
    limit: limit ?? null,
    offset: offset === undefined ? null : { kind: 'literal', json: offset },
  });
  return withinLimit(table, rows);
}

function refuseNegative(value: number | undefined, path: Path): void {
  if (value !== undefined && value < 0) throw new SvcError('not-supported', 'unexpected negative value', { path });
}

function ordered(requester: Requester, table: RoleTable, { column, direction, nulls }: OrderItem, path: Path): OrderBy {
  return { term: orderTerm(requester, table, column, path), direction, nulls: nulls ?? (direction === 'desc' ? 'first' : 'last') };
}

/** Returns a column, or a path to one through object relationships. A column with a dot in its name takes precedence. */
function orderTerm(requester: Requester, table: RoleTable, name: string, path: Path): OrderTerm {
  requester.size.addJson(name);
  const joins: RoleRelationship[] = [];
  let inner = table;
  let rest = name;
  while (!inner.columns.has(rest)) {
    const dot = rest.indexOf('.');
    if (dot <= 0) break;
    const first = rest.slice(0, dot);
    const relationship = findRelationship(inner, first);
    if (relationship === undefined) throw unknownField(requester, first, path);
    if (relationship.info.kind === 'array') {
      throw new SvcError('unexpected-payload', `array relationship "${first}" cannot be used in order_by`, { path });
    }
    requester.size.addJson(null, joins.length + 2);
    joins.push(relationship);
    inner = relationship.target;
    rest = rest.slice(dot + 1);
  }
  const column = requiredColumn(requester, inner, rest, path);
  rejectUnsortable(inner, column, path, 'unexpected-payload');
  const { read } = column;
  chargeReads(requester.size, read, 1);
  return joins.reduceRight<OrderTerm>((term, { info, target }) => relatedTerm(requester.size, info.join, target, term), {
    kind: 'read',
    read,
  });
}

const WILDCARD = /^\*(?:\.\*)*$/;

class SelectionReader {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** Returns the fields. The last one with a name wins, because keys of an object are unique. */
  fields(table: RoleTable, items: readonly SelectItem[], level: number, path: Path): readonly Field[] {
    const fields = items.flatMap((item, i) => {
      const place = at(path, i);
      if (typeof item !== 'string') return [this.#relatedItem(table, item, level, place)];
      return WILDCARD.test(item) ? this.#wildcard(table, (item.length - 1) / 2, level) : [this.#plain(table, item, level, place)];
    });
    return [...new Map(fields.map((field) => [field.alias, field])).values()];
  }

  /** Expands a wildcard: `*` is all columns, `*.*` also all relationships with all of their columns, and so on. */
  #wildcard(table: RoleTable, depth: number, level: number): readonly Field[] {
    const { size } = this.#requester;
    size.addFields(table.columns.size, level);
    const columns: readonly Field[] = [...table.columns].map(([alias, { read }]) => ({ kind: 'read', alias, read, jsonPath: null }));
    if (depth === 0) return columns;
    const relationships = table.relationships.map((relationship) => {
      const { info, target } = relationship;
      size.addNode(level);
      const rows = info.kind === 'object' ? singleRow(target) : rowSet(this.#requester, target, {}, ROOT);
      return related(info.name, relationship, rows, this.#wildcard(target, depth - 1, level + 1));
    });
    return [...columns, ...relationships];
  }

  #plain(table: RoleTable, name: string, level: number, path: Path): Field {
    this.#requester.size.addFields(1, level);
    const column = table.columns.get(name);
    if (column !== undefined) return { kind: 'read', alias: name, read: column.read, jsonPath: null };
    if (findRelationship(table, name) !== undefined) {
      throw new SvcError('unexpected-payload', `relationship "${name}" has to be selected with its columns`, { path });
    }
    const computed = findComputedField(table, name);
    const call = computed?.arguments.plain ?? null;
    if (computed?.kind !== 'scalar' || call === null || takesArguments(computed.info)) {
      throw unknownColumn(this.#requester, name, 'select', path);
    }
    return { kind: 'read', alias: name, read: computed.read(call), jsonPath: null };
  }

  #relatedItem(table: RoleTable, item: RelationshipItem, level: number, path: Path): Field {
    const relationship = findRelationship(table, item.name);
    if (relationship === undefined) throw unknownField(this.#requester, item.name, path);
    const { info, target } = relationship;
    const single = info.kind === 'object';
    if (single && [item.where, item.orderBy, item.limit, item.offset].some((argument) => argument !== undefined)) {
      const message = "when selecting an object relationship 'where', 'order_by', 'limit' and 'offset' can't be used";
      throw new SvcError('unexpected-payload', message, { path });
    }
    this.#requester.size.addNode(level);
    if (item.alias !== undefined) this.#requester.size.addAlias();
    const fields = this.fields(target, item.columns, level + 1, at(path, 'columns'));
    return related(item.alias ?? item.name, relationship, single ? singleRow(target) : rowSet(this.#requester, target, item, path), fields);
  }
}

function related(alias: string, { info, target }: RoleRelationship, rows: RowSet, fields: readonly Field[]): Field {
  const shape = info.kind === 'object' ? 'single' : 'list';
  return { kind: 'related', alias, join: info.join, query: { kind: 'rows', shape, from: target.relation, rows, fields } };
}
