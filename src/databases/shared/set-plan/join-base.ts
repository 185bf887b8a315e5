/** Selects to which other relations are joined on keys, such as the results of conditions. */
import type { AggregatePredicate, BoolExp, Exists, Read } from '../../../ir/bool-exp.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';
import { Columns, Named } from './columns.ts';
import type { RelatedConditions, SetWriter } from './writer.ts';

export type JoinColumns = Join['columns'];

const COMMA = sql`, `;
const AND = sql` and `;

/** Maximum number of joins of one select: the time to plan them grows faster than their number. */
const MANY_JOINS = 16;
const ROW = identifier(':row');

/** Returns a column of a joined relation. */
export type Joined = (column: Sql) => Sql;

/** A select for some of the joins to a relation, whose rows it identifies by number. */
interface Side {
  readonly alias: Sql;
  readonly inside: Sql;
  readonly joins: Sql[];
  readonly columns: Sql[];
}

/** A select over a relation, to which others may be joined. */
export class JoinBase {
  readonly writer: SetWriter;
  readonly rows: Named;
  readonly alias: Sql;
  readonly row: Row;
  readonly #joins: Sql[] = [];
  readonly #sides: Side[] = [];

  constructor(writer: SetWriter, rows: Named) {
    this.writer = writer;
    this.rows = rows;
    this.alias = writer.alias();
    this.row = rows.columns.seenAs(this.alias);
  }

  get isJoined(): boolean {
    return this.#joins.length > 0;
  }

  /** Returns the from clause. Called last. @param named whether the rows have to be a relation */
  from(named: boolean): Sql {
    const { writer, rows } = this;
    const sides = this.#sides;
    if (sides.length === 0) {
      const item = named || this.isJoined ? rows.item() : rows.inline();
      return sql`${item} as ${this.alias}${join(this.#joins, EMPTY)}`;
    }
    const inside = writer.alias();
    const all = rows.item();
    const numberedRows = writer.relation(() => sql`select ${inside}.*, row_number() over () as ${ROW} from ${all} as ${inside}`);
    const joined = sides.map((side) => {
      const columns = [sql`${side.inside}.${ROW}`, ...side.columns];
      const select = sql`select ${join(columns, COMMA)} from ${numberedRows} as ${side.inside}${join(side.joins, EMPTY)}`;
      return sql` join ${writer.relation(() => select)} as ${side.alias} on ${side.alias}.${ROW} = ${this.alias}.${ROW}`;
    });
    return sql`${numberedRows} as ${this.alias}${join([...this.#joins, ...joined], EMPTY)}`;
  }

  /** Joins a relation with at most one row per combination of values of `columns`, which it names `k0`, `k1`, … @returns its columns */
  attach(columns: JoinColumns, select: () => Sql): Joined {
    const { writer } = this;
    const alias = writer.alias();
    // The relation of the rows precedes those that are joined to it.
    if (writer.named) this.rows.item();
    const side = writer.named && this.#joins.length >= MANY_JOINS ? this.#side() : null;
    const row = side?.inside ?? this.alias;
    const equal = columns.map(({ local }, i) => sql`${alias}.${keyName(i)} = ${row}.${this.rows.columns.column(local)}`);
    const on = equal.length === 0 ? sql`true` : join(equal, AND);
    (side?.joins ?? this.#joins).push(sql` left join ${writer.relation(select)} as ${alias} on ${on}`);
    if (side === null) return (column) => sql`${alias}.${column}`;
    return (column) => {
      const name = identifier(`:${side.columns.length}`);
      side.columns.push(sql`${alias}.${column} as ${name}`);
      return sql`${side.alias}.${name}`;
    };
  }

  /** Returns a side select with fewer than the maximum number of joins. */
  #side(): Side {
    let side = this.#sides.at(-1);
    if (side === undefined || side.joins.length >= MANY_JOINS) {
      side = { alias: this.writer.alias(), inside: this.writer.alias(), joins: [], columns: [] };
      this.#sides.push(side);
    }
    return side;
  }

  /** Returns conditions that restrict the rows of another relation to the keys. */
  restriction(columns: JoinColumns, remote: Row): readonly Sql[] {
    const { writer, rows } = this;
    if (columns.length === 0) return [];
    const values = columns.map((pair) => remote.column(pair.remote));
    if (!writer.named) {
      const locals = columns.map(({ local }) => local);
      return rows.keys?.(locals, values) ?? [];
    }
    const alias = writer.alias();
    const keys = columns.map(({ local }) => sql`${alias}.${rows.columns.column(local)}`);
    return [writer.among(values, keys, sql`${rows.item()} as ${alias}`)];
  }
}

export function keyName(index: number): Sql {
  return identifier(`k${index}`);
}

/** `a as "k0", b as "k1"` */
export function joinKeyColumns(columns: JoinColumns, row: Row): readonly Sql[] {
  return columns.map(({ remote }, i) => sql`${row.column(remote)} as ${keyName(i)}`);
}

export function groupByKeys(columns: JoinColumns, row: Row): Sql {
  if (columns.length === 0) return EMPTY;
  return sql` group by ${join(
    columns.map(({ remote }) => row.column(remote)),
    COMMA,
  )}`;
}

/** Rows of a table before order and page: a select, or one over a relation to which others can be joined. */
export interface RowSource {
  readonly row: Row;
  /** Conditions on other tables in values of the row; `null` if there are none. */
  readonly relatedConditions: RelatedConditions | null;
  readonly base: JoinBase | null;
  /** Returns the from clause and the conditions. Called last. */
  body(): Sql;
  /** Called after all values from other tables have been compiled: their relations precede this one. */
  seal(): void;
}

/** @param needsBase whether values of the rows come from other tables @param parent restricts the rows to its keys */
export function sourceOf(
  writer: SetWriter,
  of: { readonly from: Relation; readonly where: BoolExp },
  on: JoinColumns,
  parent: JoinBase | null,
  needsBase: boolean,
): RowSource {
  const { item, row } = writer.from(of.from);
  const conditions = [...writer.conditions(of.where, row), ...(parent?.restriction(on, row) ?? [])];
  const body = sql`${item}${conditions.length === 0 ? EMPTY : sql` where ${join(conditions, AND)}`}`;
  if (!needsBase) return { row, relatedConditions: null, base: null, body: () => body, seal: () => undefined };
  const columns = new Columns(row);
  const base = new JoinBase(writer, new Named(writer, columns, () => sql`select ${columns.list()} from ${body}`));
  let sealed: Sql | undefined;
  return {
    row: base.row,
    relatedConditions: relatedConditionsOf(base),
    base,
    body: () => sealed ?? base.from(false),
    seal() {
      if (writer.named && base.isJoined) sealed = base.from(false);
    },
  };
}

export function relatedConditionsOf(base: JoinBase): RelatedConditions {
  return { exists: (exp) => attachedExists(base, exp), aggregate: (exp) => attachedAggregate(base, exp) };
}

const ANY = identifier(':any');

function attachedExists(base: JoinBase, exp: Exists): Sql {
  const { writer } = base;
  const on = exp.join?.columns ?? [];
  const source = sourceOf(writer, exp, on, base, false);
  if (on.length === 0) {
    const found = base.attach(on, () => sql`select 1 as ${ANY} from ${source.body()}${writer.page(1, false, null)}`);
    return sql`(${found(ANY)} is not null)`;
  }
  const columns = join(joinKeyColumns(on, source.row), COMMA);
  const group = groupByKeys(on, source.row);
  const found = base.attach(on, () => sql`select ${columns} from ${source.body()}${group}`);
  return sql`(${found(keyName(0))} is not null)`;
}

const HOLDS = identifier(':holds');

function attachedAggregate(base: JoinBase, exp: AggregatePredicate): Sql {
  const { writer } = base;
  const on = exp.join.columns;
  const source = sourceOf(writer, exp, on, base, exp.arguments.some(maskReadsOtherTables));
  const values = exp.arguments.map((read) => ({ value: writer.read(read, source.row, source.relatedConditions), type: read.type }));
  const holds = writer.aggregateHolds(exp.predicate, writer.aggregate(exp.function, values, exp.distinct));
  const columns = join([...joinKeyColumns(on, source.row), sql`${holds} as ${HOLDS}`], COMMA);
  const group = groupByKeys(on, source.row);
  source.seal();
  const found = base.attach(on, () => sql`select ${columns} from ${source.body()}${group}`);
  const nothing = writer.aggregateHolds(exp.predicate, writer.aggregateOfNothing(exp));
  return sql`(case when ${found(keyName(0))} is null then ${nothing} else ${found(HOLDS)} end)`;
}

/** Returns whether a read has a mask with a condition on other tables. */
export function maskReadsOtherTables(read: Read): boolean {
  if (read.kind === 'cast') return maskReadsOtherTables(read.read);
  return read.mask !== undefined && readsOtherTables(read.mask);
}

/** Returns whether the rows of a table with a condition are the same if one statement reads them twice. */
export function isRepeatable(from: Relation, where: BoolExp): boolean {
  return from.kind === 'table' && from.snapshotBound === true && holdsAgain(where);
}

function holdsAgain(exp: BoolExp): boolean {
  const readsAgain = (read: Read): boolean => {
    if (read.kind === 'cast') return readsAgain(read.read);
    return read.kind === 'column' && (read.mask === undefined || holdsAgain(read.mask));
  };
  switch (exp.kind) {
    case 'constant':
      return true;
    case 'and':
    case 'or':
      return exp.items.every(holdsAgain);
    case 'not':
      return holdsAgain(exp.item);
    case 'guarded':
      return holdsAgain(exp.guard) && holdsAgain(exp.item);
    case 'compare':
    case 'is-null':
      return readsAgain(exp.left);
    case 'compare-columns':
      return readsAgain(exp.left) && readsAgain(exp.right);
    case 'exists':
      return isRepeatable(exp.from, exp.where);
    // Sums of floats depend on the order of the rows.
    case 'aggregate-predicate':
      return exp.function === 'count' && isRepeatable(exp.from, exp.where);
  }
}

/** Returns whether a condition reads other tables than its row's. */
function readsOtherTables(exp: BoolExp): boolean {
  switch (exp.kind) {
    case 'constant':
      return false;
    case 'and':
    case 'or':
      return exp.items.some(readsOtherTables);
    case 'not':
      return readsOtherTables(exp.item);
    case 'guarded':
      return readsOtherTables(exp.guard) || readsOtherTables(exp.item);
    case 'compare':
    case 'is-null':
      return maskReadsOtherTables(exp.left);
    case 'compare-columns':
      return maskReadsOtherTables(exp.left) || maskReadsOtherTables(exp.right);
    case 'exists':
    case 'aggregate-predicate':
      return true;
  }
}

/** ` order by a, b`; empty without keys. */
export function orderedBy(keys: readonly Sql[]): Sql {
  return keys.length === 0 ? EMPTY : sql` order by ${join(keys, COMMA)}`;
}

/** `row_number() over (…)` */
export function numbered(partition: readonly Sql[], order: readonly Sql[]): Sql {
  const within = partition.length === 0 ? EMPTY : sql`partition by ${join(partition, COMMA)}`;
  return sql`row_number() over (${within}${orderedBy(order)})`;
}

/** Conditions for row numbers after an offset and up to a limit. */
export function rowBounds(writer: SetWriter, number: Sql, offset: Sql | null, limit: number | null): readonly Sql[] {
  const conditions: Sql[] = [];
  if (offset !== null) conditions.push(sql`${number} > ${offset}`);
  if (limit !== null)
    conditions.push(
      offset === null ? sql`${number} <= ${writer.rowLimit(limit)}` : sql`${number} <= ${offset} + ${writer.rowLimit(limit)}`,
    );
  return conditions;
}

export function andAll(conditions: readonly Sql[]): Sql {
  return join(conditions, AND);
}
