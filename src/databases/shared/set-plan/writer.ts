/** What a kind of database brings to a set plan (ADR 16): how it writes values, conditions, JSON and relations. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { AggregateComparison, AggregatePredicate, BoolExp, Exists, Read } from '../../../ir/bool-exp.ts';
import type { Relation } from '../../../ir/relation.ts';
import type { AggregateItem, Field, OrderBy } from '../../../ir/select.ts';
import type { Value } from '../../../ir/value.ts';
import type { Sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';

/** Answers conditions about other tables in a select whose rows are joined to the answers. */
export interface Asks {
  /** Never null. */
  exists(exp: Exists): Sql;
  aggregate(exp: AggregatePredicate): Sql;
}

/** A field that is a value of its row. */
export type LeafField = Exclude<Field, { readonly kind: 'related' }>;
export type Aggregates = Exclude<AggregateItem, { readonly kind: 'typename' }>;

export interface SetWriter {
  /** A table alias that this statement has not used yet. */
  alias(): Sql;
  /**
   * A relation as an item of a from clause, without an alias: the name of a common table expression, or the select itself in
   * parentheses. Relations are made in an order in which each reads only those before it.
   * @param select to be called when the statement is written out, or at once; the columns that are read of it are known late
   */
  relation(select: () => Sql): Sql;
  /**
   * Relations are computed once, however often they are named: those below a level read only rows with its keys, and the rows
   * of an answer are always a relation of their own. Else no relation is named twice, and levels read only rows with keys of the
   * level above where that gives the same keys when it is read again (`Named.keys`).
   */
  readonly named: boolean;
  /** An item of a from clause and its row. @throws SvcError not-supported for functions that cannot stand there */
  from(relation: Relation): { readonly item: Sql; readonly row: Row };
  /** The parts of a `where`; relationships in them are sub-selects that do not look out, wherever that can be. */
  conditions(exp: BoolExp, row: Row): readonly Sql[];
  /** A value, masked. @param asks answers what masks ask about other tables; null: inside of a `where` or where there are no such masks */
  read(read: Read, row: Row, asks: Asks | null): Sql;
  /** A value by which rows are told apart (`distinct_on`). */
  distinctKey(read: Read, row: Row, asks: Asks | null): Sql;
  /** A field's value as the objects of the answer hold it. */
  field(field: LeafField, row: Row, asks: Asks | null): Sql;
  /** Returns the condition that columns have the values of a row of `from`: `(a, b) in (select c, d from …)`. */
  among(columns: readonly Sql[], values: readonly Sql[], from: Sql): Sql;
  /** `x desc nulls last`, or several keys that mean it. */
  orderKey(value: Sql, order: OrderBy): Sql;
  /** ` limit 3 offset 1` with what stands for rows that the order does not tell apart; not empty. */
  page(limit: number | null, ties: boolean, offset: Value | null): Sql;
  /** A number of rows that there are at most. */
  rowLimit(limit: number): Sql;
  /** An offset as a number; nothing for null. */
  count(value: Value): Sql;
  /** An aggregate of a group. */
  aggregate(name: string, operands: readonly { readonly value: Sql; readonly type: CatalogType }[], distinct: boolean): Sql;
  /** The comparisons of a predicate hold for the aggregate; its value is null where that is not known. */
  aggregateHolds(comparisons: readonly AggregateComparison[], aggregate: Sql): Sql;
  /** What an aggregate is of no rows at all; typed, so that it can be compared. */
  aggregateOfNothing(exp: AggregatePredicate): Sql;
  /** An aggregate as the objects of the answer hold it. @param of a value of a row; null: of no rows at all */
  aggregated(item: Aggregates, of: ((read: Read) => Sql) | null): Sql;
  /** Whether such aggregates are right, and best, taken where the rows are, and not over a relation. */
  aggregatesInPlace(items: readonly Aggregates[]): boolean;
  object(entries: readonly Entry[]): Sql;
  typename(name: string): Sql;
  /** An aggregate: an array of JSON values in this order. @param only rows for which this holds */
  array(item: Sql, order: readonly Sql[], only: Sql | null): Sql;
  /** An aggregate: the object of the one row, or JSON's null where there is none. */
  only(object: Sql): Sql;
  readonly emptyArray: Sql;
  /** An array, or the empty one where there is none. */
  arrayOrEmpty(array: Sql): Sql;
  /** An object, or another one where the row that it belongs to is not there. @param there a value that no such row has as null */
  objectOr(object: Sql, there: Sql, empty: Sql): Sql;
}

export interface Entry {
  readonly key: string;
  readonly value: Sql;
}
