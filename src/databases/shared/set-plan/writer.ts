/** SQL of a kind of database for set plans (ADR 16): values, conditions, JSON and relations. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { AggregateComparison, AggregatePredicate, BoolExp, Exists, Read } from '../../../ir/bool-exp.ts';
import type { Relation } from '../../../ir/relation.ts';
import type { AggregateItem, Field, OrderBy } from '../../../ir/select.ts';
import type { Value } from '../../../ir/value.ts';
import type { Sql } from '../../../sql/fragment.ts';
import type { Row } from '../row.ts';

/** Compiles conditions on other tables whose results are joined to the rows of a select. */
export interface RelatedConditions {
  /** Never NULL. */
  exists(exp: Exists): Sql;
  aggregate(exp: AggregatePredicate): Sql;
}

/** Runs `compile` with another compiler of conditions on other tables. */
export function withRelatedConditions<K, T>(context: { relatedConditions: K }, conditions: K, compile: () => T): T {
  const before = context.relatedConditions;
  context.relatedConditions = conditions;
  const compiled = compile();
  context.relatedConditions = before;
  return compiled;
}

/** A field with a value of its row. */
export type LeafField = Exclude<Field, { readonly kind: 'related' | 'node-id' }>;
export type Aggregates = Exclude<AggregateItem, { readonly kind: 'typename' }>;

export interface SetWriter {
  /** Returns an unused table alias. */
  alias(): Sql;
  /**
   * Returns a relation as an item of a from clause, without an alias: the name of a common table expression, or the select in
   * parentheses. Relations read only earlier ones.
   * @param select called at once or when the statement is printed, because its columns are known late
   */
  relation(select: () => Sql): Sql;
  /**
   * If true, relations are computed once, however often they are read: levels read only rows with the keys of the level above, and the
   * rows of an answer are always a relation. If false, no relation is read twice, and levels read only rows with the keys of the level
   * above if a second read has the same keys (`Named.keys`).
   */
  readonly named: boolean;
  /** Returns an item of a from clause and its row. @throws SvcError not-supported for functions that cannot be in one */
  from(relation: Relation): { readonly item: Sql; readonly row: Row };
  /** Compiles the parts of a `where`. Relationships in it are uncorrelated subqueries where possible. */
  conditions(exp: BoolExp, row: Row): readonly Sql[];
  /**
   * Compiles a masked read.
   * @param relatedConditions conditions of masks on other tables; `null` inside of a `where` or without such masks
   */
  read(read: Read, row: Row, relatedConditions: RelatedConditions | null): Sql;
  /** Compiles a key of `distinct_on`. */
  distinctKey(read: Read, row: Row, relatedConditions: RelatedConditions | null): Sql;
  /** Compiles the value of a field in the objects of the answer. */
  field(field: LeafField, row: Row, relatedConditions: RelatedConditions | null): Sql;
  /** Compiles the condition that columns have the values of a row of `from`: `(a, b) in (select c, d from …)`. */
  among(columns: readonly Sql[], values: readonly Sql[], from: Sql): Sql;
  /** Compiles `x desc nulls last`, or several equivalent keys. */
  orderKey(value: Sql, order: OrderBy): Sql;
  /** Compiles ` limit 3 offset 1`, with ties or without. Never empty. */
  page(limit: number | null, ties: boolean, offset: Value | null): Sql;
  /** Compiles a maximum number of rows. */
  rowLimit(limit: number): Sql;
  /** Compiles an offset as a number; 0 for null. */
  count(value: Value): Sql;
  /** Compiles an aggregate of a group. */
  aggregate(name: string, operands: readonly { readonly value: Sql; readonly type: CatalogType }[], distinct: boolean): Sql;
  /** Compiles the comparisons of a predicate with an aggregate; NULL if the result is unknown. */
  aggregateHolds(comparisons: readonly AggregateComparison[], aggregate: Sql): Sql;
  /** Compiles the value of an aggregate without rows, with a type, so that it can be compared. */
  aggregateOfNothing(exp: AggregatePredicate): Sql;
  /** Compiles an aggregate for the objects of the answer. @param of compiles a value of a row; `null` without rows */
  aggregated(item: Aggregates, of: ((read: Read) => Sql) | null): Sql;
  /** Returns whether these aggregates are correct and fastest in the select of the rows, instead of over a relation. */
  aggregatesInPlace(items: readonly Aggregates[]): boolean;
  object(entries: readonly Entry[]): Sql;
  typename(name: string): Sql;
  /** Compiles an aggregate: an array of JSON values in this order. @param only condition for its rows */
  array(item: Sql, order: readonly Sql[], only: Sql | null): Sql;
  /** Compiles an aggregate: the object of the one row, or JSON null without one. */
  only(object: Sql): Sql;
  readonly emptyArray: Sql;
  /** Compiles an array, or an empty one for NULL. */
  arrayOrEmpty(array: Sql): Sql;
  /** Compiles an object, or `empty` if its row does not exist. @param present a value of the row that is never NULL */
  objectOr(object: Sql, present: Sql, empty: Sql): Sql;
}

export interface Entry {
  readonly key: string;
  readonly value: Sql;
}
