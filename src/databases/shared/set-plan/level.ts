/** The rows of a level as a relation: filtered, restricted to the keys of the level above, sorted, and paginated per key. */
import type { Relation } from '../../../ir/relation.ts';
import type { OrderBy, RowSet } from '../../../ir/select.ts';
import { EMPTY, identifier, type Sql, sql } from '../../../sql/fragment.ts';
import { Columns, type Keys, Named } from './columns.ts';
import { isRelatedTerm, type OrderKey, orderKeys } from './order.ts';
import {
  andAll,
  rowBounds,
  isRepeatable,
  type JoinColumns,
  maskReadsOtherTables,
  numbered,
  orderedBy,
  type JoinBase,
  sourceOf,
} from './join-base.ts';
import type { SetWriter } from './writer.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export interface LevelRows {
  readonly rows: Named;
  /** Returns the sort keys of the rows under an outer alias; empty without an order. */
  order(alias: Sql): readonly Sql[];
  /** Number of skipped rows per key; `null` for 0. */
  readonly before: Sql | null;
  /** Column with the number of a row among those of its key, if they are numbered. */
  readonly number: Sql | null;
  /** Column with the first sort key, if any. */
  readonly firstKey: Sql | null;
}

interface Of {
  readonly from: Relation;
  readonly rows: RowSet;
}

const NUMBER = identifier(':n');
const FIRST = identifier(':first');

function needsBase({ rows }: Of): boolean {
  return rows.orderBy.some(({ term }) => isRelatedTerm(term)) || rows.distinctOn.some(maskReadsOtherTables);
}

/** Compiles the rows of a root, whose select has the page. */
export function rootRows(writer: SetWriter, of: Of): LevelRows {
  const { rows } = of;
  const source = sourceOf(writer, { from: of.from, where: rows.where }, [], null, needsBase(of));
  const keys = orderKeys(writer, rows.orderBy, source);
  const distinct = rows.distinctOn.map((read) => writer.distinctKey(read, source.row, source.relatedConditions));
  source.seal();
  const isCut = rows.limit !== null || rows.offset !== null;
  const page = isCut ? writer.page(rows.limit, rows.ties === true, rows.offset) : EMPTY;
  // Columns that make the order total, so that the page has the same keys when it is read again.
  const tieBreakers: string[] = [];
  const columns = new Columns(source.row);
  const named = (shown: Columns): readonly Sql[] => keys.map((key, i) => nameOfKey(shown, key, rows.orderBy[i]?.term));
  const orderOf = (names: readonly Sql[], alias: Sql): readonly Sql[] =>
    names.map((name, i) => writer.orderKey(sql`${alias}.${name}`, (keys[i] as OrderKey).order));
  const names = named(columns);
  const paged = (shown: Columns, shownNames: readonly Sql[]): Sql => {
    const inside = [...written(writer, keys), ...tieBreakers.map((name) => source.row.column(name))];
    if (distinct.length === 0) return sql`select ${shown.list()} from ${source.body()}${isCut ? orderedBy(inside) : EMPTY}${page}`;
    const alias = writer.alias();
    const outside = [...orderOf(shownNames, alias), ...tieBreakers.map((name) => sql`${alias}.${shown.column(name)}`)];
    const all = sql`select ${shown.list()}, ${numbered(distinct, inside)} as ${FIRST} from ${source.body()}`;
    return sql`select ${alias}.* from (${all}) as ${alias} where ${alias}.${FIRST} = 1${isCut ? orderedBy(outside) : EMPTY}${page}`;
  };
  const again: Keys = (locals, values) => {
    tieBreakers.push(...locals.filter((name) => !tieBreakers.includes(name)));
    const shown = new Columns(source.row);
    const [alias, shownNames] = [writer.alias(), distinct.length === 0 ? [] : named(shown)];
    const found = locals.map((name) => sql`${alias}.${shown.column(name)}`);
    return [writer.among(values, found, sql`(${paged(shown, shownNames)}) as ${alias}`)];
  };
  const isBound = rows.limit !== null && !needsBase(of) && isRepeatable(of.from, rows.where) && rows.orderBy.every(isReadAgain);
  return {
    rows: new Named(writer, columns, () => paged(columns, names), isBound ? again : null),
    order: (alias) => orderOf(names, alias),
    before: null,
    number: null,
    firstKey: names[0] ?? null,
  };
}

/** Returns whether a sort key is an unmasked column. */
function isReadAgain({ term }: OrderBy): boolean {
  return term.kind === 'read' && plainColumn(term.read) !== null;
}

/** Rows of a key that remain after numbering; `no` numbers none unless a page requires it. */
export type Numbered = 'all' | 'first' | 'no';

/** Compiles related rows, with a page for each parent row. */
export function relatedRows(writer: SetWriter, of: Of, on: JoinColumns, parent: JoinBase, which: Numbered): LevelRows {
  const { rows } = of;
  const source = sourceOf(writer, { from: of.from, where: rows.where }, on, parent, needsBase(of));
  const keys = orderKeys(writer, rows.orderBy, source);
  const columns = new Columns(source.row);
  const remote = on.map((pair) => source.row.column(pair.remote));
  const keyNames = on.map((pair) => columns.column(pair.remote));
  const limit = which === 'first' ? Math.min(rows.limit ?? 1, 1) : rows.limit;
  const offset = rows.offset === null ? null : writer.count(rows.offset);
  const distinct = rows.distinctOn.map((read) => writer.distinctKey(read, source.row, source.relatedConditions));
  source.seal();
  // Keys of all related rows, on the page or not: additional keys do no harm.
  const again: Keys = (locals, values) => [
    writer.among(
      values,
      locals.map((name) => source.row.column(name)),
      source.body(),
    ),
  ];
  const isBound = parent.rows.keys !== null && !needsBase(of) && isRepeatable(of.from, rows.where);
  const isNumbered = which !== 'no' || limit !== null || offset !== null || rows.distinctOn.length > 0;
  if (!isNumbered) {
    const named = new Named(writer, columns, () => sql`select ${columns.list()} from ${source.body()}`, isBound ? again : null);
    return { rows: named, order: () => [], before: null, number: null, firstKey: null };
  }
  const names = distinct.length === 0 ? [] : keys.map((key, i) => nameOfKey(columns, key, rows.orderBy[i]?.term));
  const select = (): Sql => {
    let all: Sql;
    if (distinct.length === 0) {
      all = sql`select ${columns.list()}, ${numbered(remote, written(writer, keys))} as ${NUMBER} from ${source.body()}`;
    } else {
      const alias = writer.alias();
      const first = numbered([...remote, ...distinct], written(writer, keys));
      const order = names.map((name, i) => writer.orderKey(sql`${alias}.${name}`, (keys[i] as OrderKey).order));
      const number = numbered(
        keyNames.map((name) => sql`${alias}.${name}`),
        order,
      );
      all = sql`select ${alias}.*, ${number} as ${NUMBER} from (select ${columns.list()}, ${first} as ${FIRST} from ${source.body()}) as ${alias} where ${alias}.${FIRST} = 1`;
    }
    const bounds = (alias: Sql): readonly Sql[] => rowBounds(writer, sql`${alias}.${NUMBER}`, offset, limit);
    const alias = writer.alias();
    const conditions = bounds(alias);
    return conditions.length === 0 ? all : sql`select ${alias}.* from (${all}) as ${alias} where ${andAll(conditions)}`;
  };
  const named = new Named(writer, columns, select, isBound ? again : null);
  return { rows: named, order: (alias) => [sql`${alias}.${NUMBER}`], before: offset, number: NUMBER, firstKey: null };
}

function written(writer: SetWriter, keys: readonly OrderKey[]): readonly Sql[] {
  return keys.map(({ value, order }) => writer.orderKey(value, order));
}

/** Returns the name of a sort key; a plain column is not selected twice. */
function nameOfKey(columns: Columns, key: OrderKey, term: RowSet['orderBy'][number]['term'] | undefined): Sql {
  const column = term?.kind === 'read' ? plainColumn(term.read) : null;
  return column === null ? columns.add(key.value) : columns.column(column);
}

function plainColumn(read: Read): string | null {
  return read.kind === 'column' && read.mask === undefined ? read.column : null;
}
