/**
 * Compiles the rows of a query: where, distinct on, order by, offset and limit. A derived table cannot be correlated, so related rows are
 * paged for all parents at once, by numbering the rows of each.
 */
import type { Join, Relation } from '../../../ir/relation.ts';
import type { RowSet } from '../../../ir/select.ts';
import { joinConditions, whereSql } from '../../shared/condition.ts';
import { EMPTY, identifier, integer, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow, ownScope, type Row } from '../../shared/row.ts';
import { conditionsOf, readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { countSql, offsetSql } from './operand.ts';
import { orderBySql, orderKeys, type OrderKey } from './order-by.ts';
import { relationSql } from './relation.ts';

export interface CompiledRows {
  readonly row: Row;
  /** Sort keys for an aggregate over the rows. */
  readonly keys: readonly OrderKey[];
  /** `<from> <where>` */
  readonly body: Sql;
}

const ALL_ROWS = sql`18446744073709551615`;
const NUMBER = identifier(':number');

/**
 * @param parent row to which the rows are related by `on`
 * @param ordered replaces the sort keys of `rows`
 */
export function rowSetOf(
  context: Context,
  from: Relation,
  rows: RowSet,
  parent: Row | null,
  on: Join | null,
  ordered: (keys: readonly OrderKey[]) => readonly OrderKey[] = (keys) => keys,
): CompiledRows {
  const { item, row } = relationSql(context, from);
  const filter = conditionsOf(context, rows.where, ownScope(row));
  const keys = ordered(orderKeys(context, rows.orderBy, row));
  const related = (remote: Row): readonly Sql[] => (parent === null || on === null ? [] : joinConditions(on.columns, parent, remote));
  if (rows.limit === null && rows.offset === null && rows.distinctOn.length === 0) {
    return { row, keys, body: sql`${item}${whereSql([...related(row), ...filter])}` };
  }
  const distinct = rows.distinctOn.map((read) => readSql(context, read, row));
  const columns = new DerivedColumns(row, [
    ...keys.flatMap(({ value, column }, i) => (column === undefined ? [sql`${value} as ${keyName(i)}`] : [])),
    ...distinct.map((value, i) => sql`${value} as ${distinctName(i)}`),
  ]);
  const isPaged = rows.limit !== null || rows.offset !== null;
  const partition = on === null ? [] : on.columns.map(({ remote }) => remote);
  // Without row numbers, the server reads rows in order and stops at the limit.
  const isPagedInPlace = isPaged && partition.length === 0 && distinct.length === 0;
  let table = sql`select ${columns.list} from ${item}${whereSql(filter)}${isPagedInPlace ? sql`${orderBySql(keys)}${pageSql(rows)}` : EMPTY}`;
  let page = context.alias();
  const keysOf = (table: Sql): readonly OrderKey[] =>
    keys.map((key, i) => ({
      ...key,
      value: key.column === undefined ? sql`${table}.${keyName(i)}` : columns.of(table).column(key.column),
    }));
  const numbered = (by: readonly Sql[], of: Sql): Sql => {
    const within = by.length === 0 ? EMPTY : sql`partition by ${join(by, sql`, `)}`;
    return sql`row_number() over (${within}${orderBySql(keysOf(of))})`;
  };
  const columnsOf = (of: Sql): readonly Sql[] => partition.map((name) => columns.of(of).column(name));
  const limits: Sql[] = [];
  if (distinct.length > 0) {
    const first = context.alias();
    const values = distinct.map((_, i) => sql`${page}.${distinctName(i)}`);
    const all = sql`select ${page}.*, ${numbered([...columnsOf(page), ...values], page)} as \`:first\` from (${table}) as ${page}`;
    table = sql`select ${first}.* from (${all}) as ${first} where ${first}.\`:first\` = 1`;
    page = context.alias();
  }
  if (isPaged && partition.length === 0 && !isPagedInPlace) {
    table = sql`select ${page}.* from (${table}) as ${page}${orderBySql(keysOf(page))}${pageSql(rows)}`;
    page = context.alias();
  } else if (isPaged && !isPagedInPlace) {
    table = sql`select ${page}.*, ${numbered(columnsOf(page), page)} as ${NUMBER} from (${table}) as ${page}`;
    page = context.alias();
    limits.push(...numberLimits(sql`${page}.${NUMBER}`, rows));
  }
  context.derived.push(table);
  const outer = columns.of(page);
  return { row: outer, keys: keysOf(page), body: sql`(${table}) as ${page}${whereSql([...related(outer), ...limits])}` };
}

/** Returns the conditions on the number of a row for the page of its parent. */
function numberLimits(number: Sql, { limit, offset }: RowSet): readonly Sql[] {
  const after = offset === null ? [] : [sql`${number} > ${countSql(offset)}`];
  if (limit === null) return after;
  const last = offset === null ? integer(limit) : sql`${countSql(offset)} + ${integer(limit)}`;
  return [...after, sql`${number} <= ${last}`];
}

/** Columns of a derived table: only those that are read, because wide columns would be copied. */
class DerivedColumns {
  /** Grows until the statement is printed. */
  readonly list: Sql;
  readonly #items: Sql[];
  readonly #added = new Set<string>();
  readonly #row: Row;

  /** @param others further columns with their own names */
  constructor(row: Row, others: readonly Sql[]) {
    this.#row = row;
    this.#items = [];
    this.list = { kind: 'sequence', items: this.#items };
    for (const item of others.length === 0 ? [sql`1`] : others) this.#add(item);
  }

  /** Returns the row under another alias. */
  of(alias: Sql): Row {
    const row = aliasRow(alias);
    return {
      column: (name) => {
        if (!this.#added.has(name)) {
          this.#added.add(name);
          this.#add(this.#row.column(name));
        }
        return row.column(name);
      },
      whole: () => row.whole(),
    };
  }

  #add(item: Sql): void {
    if (this.#items.length > 0) this.#items.push(sql`, `);
    this.#items.push(item);
  }
}

function pageSql({ limit, offset, ties }: RowSet): Sql {
  const rows = limit === null ? ALL_ROWS : integer(limit);
  if (ties === true) return sql` fetch first ${rows} rows with ties`;
  return sql` limit ${rows}${offset === null ? EMPTY : sql` offset ${offsetSql(offset)}`}`;
}

function keyName(index: number): Sql {
  return identifier(`:key${index}`);
}

function distinctName(index: number): Sql {
  return identifier(`:distinct${index}`);
}
