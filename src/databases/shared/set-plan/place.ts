/** Selects that other relations are joined to, key by key; and what is joined to them to answer conditions. */
import type { AggregatePredicate, BoolExp, Exists, Read } from '../../../ir/bool-exp.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';
import { Columns, Named } from './columns.ts';
import type { Asks, SetWriter } from './writer.ts';

export type JoinColumns = Join['columns'];

const COMMA = sql`, `;
const AND = sql` and `;

/** More joins than these in one select take the database long to plan: the time grows faster than their number. */
const MANY_JOINS = 16;
const ROW = identifier(':row');

/** What was joined to a row: a column of it. */
export type Joined = (column: Sql) => Sql;

/** A select of its own for some of what is joined to the rows of another one, which it tells apart by numbers. */
interface Side {
  readonly alias: Sql;
  readonly inside: Sql;
  readonly joins: Sql[];
  readonly columns: Sql[];
}

/** The select over a relation. */
export class Place {
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

  /** The from clause: to be called last. @param named whether the rows are a relation in any case */
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

  /** Joins a relation that has at most one row for the values of `columns`, which it calls `k0`, `k1`, …; @returns its columns */
  attach(columns: JoinColumns, select: () => Sql): Joined {
    const { writer } = this;
    const alias = writer.alias();
    // The rows are a relation before what is joined to them is one.
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

  /** The one that has room. */
  #side(): Side {
    let side = this.#sides.at(-1);
    if (side === undefined || side.joins.length >= MANY_JOINS) {
      side = { alias: this.writer.alias(), inside: this.writer.alias(), joins: [], columns: [] };
      this.#sides.push(side);
    }
    return side;
  }

  /** For the conditions of rows that are joined to these: that they have one of the keys. */
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
export function keyColumns(columns: JoinColumns, row: Row): readonly Sql[] {
  return columns.map(({ remote }, i) => sql`${row.column(remote)} as ${keyName(i)}`);
}

export function groupBy(columns: JoinColumns, row: Row): Sql {
  if (columns.length === 0) return EMPTY;
  return sql` group by ${join(
    columns.map(({ remote }) => row.column(remote)),
    COMMA,
  )}`;
}

/** Rows of a table before anything is sorted or cut: a select, or one over a relation that others can be joined to. */
export interface Source {
  readonly row: Row;
  /** Answers what values of the row ask about other tables; null: they ask nothing. */
  readonly asks: Asks | null;
  readonly place: Place | null;
  /** From clause and conditions: to be called last. */
  body(): Sql;
  /** To be called when all values are there that come from other tables: what they are joined by are relations before this one. */
  seal(): void;
}

/** @param meets whether values of the rows come from other tables @param parent restricts them to its keys */
export function sourceOf(
  writer: SetWriter,
  of: { readonly from: Relation; readonly where: BoolExp },
  on: JoinColumns,
  parent: Place | null,
  meets: boolean,
): Source {
  const { item, row } = writer.from(of.from);
  const conditions = [...writer.conditions(of.where, row), ...(parent?.restriction(on, row) ?? [])];
  const body = sql`${item}${conditions.length === 0 ? EMPTY : sql` where ${join(conditions, AND)}`}`;
  if (!meets) return { row, asks: null, place: null, body: () => body, seal: () => undefined };
  const columns = new Columns(row);
  const place = new Place(writer, new Named(writer, columns, () => sql`select ${columns.list()} from ${body}`));
  let sealed: Sql | undefined;
  return {
    row: place.row,
    asks: asksOf(place),
    place,
    body: () => sealed ?? place.from(false),
    seal() {
      if (writer.named && place.isJoined) sealed = place.from(false);
    },
  };
}

export function asksOf(place: Place): Asks {
  return { exists: (exp) => attachedExists(place, exp), aggregate: (exp) => attachedAggregate(place, exp) };
}

const ANY = identifier(':any');

function attachedExists(place: Place, exp: Exists): Sql {
  const { writer } = place;
  const on = exp.join?.columns ?? [];
  const source = sourceOf(writer, exp, on, place, false);
  if (on.length === 0) {
    const found = place.attach(on, () => sql`select 1 as ${ANY} from ${source.body()}${writer.page(1, false, null)}`);
    return sql`(${found(ANY)} is not null)`;
  }
  const columns = join(keyColumns(on, source.row), COMMA);
  const group = groupBy(on, source.row);
  const found = place.attach(on, () => sql`select ${columns} from ${source.body()}${group}`);
  return sql`(${found(keyName(0))} is not null)`;
}

const HOLDS = identifier(':holds');

function attachedAggregate(place: Place, exp: AggregatePredicate): Sql {
  const { writer } = place;
  const on = exp.join.columns;
  const source = sourceOf(writer, exp, on, place, exp.arguments.some(looksElsewhere));
  const values = exp.arguments.map((read) => ({ value: writer.read(read, source.row, source.asks), type: read.type }));
  const holds = writer.aggregateHolds(exp.predicate, writer.aggregate(exp.function, values, exp.distinct));
  const columns = join([...keyColumns(on, source.row), sql`${holds} as ${HOLDS}`], COMMA);
  const group = groupBy(on, source.row);
  source.seal();
  const found = place.attach(on, () => sql`select ${columns} from ${source.body()}${group}`);
  const nothing = writer.aggregateHolds(exp.predicate, writer.aggregateOfNothing(exp));
  return sql`(case when ${found(keyName(0))} is null then ${nothing} else ${found(HOLDS)} end)`;
}

/** Whether a mask asks about other tables. */
export function looksElsewhere(read: Read): boolean {
  if (read.kind === 'cast') return looksElsewhere(read.read);
  return read.mask !== undefined && asksElsewhere(read.mask);
}

/** Whether the rows of a table that a condition holds for are the same ones if one statement reads them twice. */
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
    // Sums of floats depend on the order in which rows come.
    case 'aggregate-predicate':
      return exp.function === 'count' && isRepeatable(exp.from, exp.where);
  }
}

/** Whether a condition is about other tables than its row's. */
export function asksElsewhere(exp: BoolExp): boolean {
  switch (exp.kind) {
    case 'constant':
      return false;
    case 'and':
    case 'or':
      return exp.items.some(asksElsewhere);
    case 'not':
      return asksElsewhere(exp.item);
    case 'guarded':
      return asksElsewhere(exp.guard) || asksElsewhere(exp.item);
    case 'compare':
    case 'is-null':
      return looksElsewhere(exp.left);
    case 'compare-columns':
      return looksElsewhere(exp.left) || looksElsewhere(exp.right);
    case 'exists':
    case 'aggregate-predicate':
      return true;
  }
}

/** ` order by a, b`, or nothing. */
export function orderedBy(keys: readonly Sql[]): Sql {
  return keys.length === 0 ? EMPTY : sql` order by ${join(keys, COMMA)}`;
}

/** `row_number() over (…)` */
export function numbered(partition: readonly Sql[], order: readonly Sql[]): Sql {
  const within = partition.length === 0 ? EMPTY : sql`partition by ${join(partition, COMMA)}`;
  return sql`row_number() over (${within}${orderedBy(order)})`;
}

/** Numbers from behind an offset up to a limit. */
export function between(writer: SetWriter, number: Sql, offset: Sql | null, limit: number | null): readonly Sql[] {
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
