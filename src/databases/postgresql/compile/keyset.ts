/**
 * Conditions for the rows behind a cursor in an order, as alternatives that no row meets twice. In one disjunction, they would make the
 * database walk an index from its beginning: 25,717 of 60,000 entries for a page in the middle. As branches of a union, each is a range.
 */
import type { OrderBy } from '../../../ir/select.ts';
import { join, type Sql, sql } from '../../../sql/fragment.ts';
import { directionSql, type OrderKey } from './order-by.ts';

export interface KeysetTerm {
  readonly key: Sql;
  /** `null` is SQL NULL. */
  readonly value: Sql | null;
  readonly direction: OrderBy['direction'];
  readonly nulls: OrderBy['nulls'];
  /** True if no row has null here. */
  readonly notNull: boolean;
}

/** The conditions of one range, all of which hold. */
export type Range = readonly Sql[];

/** Returns ranges that together are the rows behind the cursor. @param orSame includes the row of the cursor */
export function rangesBehind(terms: readonly KeysetTerm[], orSame: boolean): readonly Range[] {
  if (terms.length > 1 && isRowComparison(terms)) return [[rowComparison(terms, orSame)]];
  return terms.flatMap((term, i): readonly Range[] => {
    const before = terms.slice(0, i).map(same);
    return behind(term, orSame && i === terms.length - 1).map((range) => [...before, ...range]);
  });
}

/** Returns the opposite order, for pages from the end. */
export function mirrored<T extends Pick<OrderBy, 'direction' | 'nulls'>>(item: T): T {
  return { ...item, direction: item.direction === 'asc' ? 'desc' : 'asc', nulls: item.nulls === 'first' ? 'last' : 'first' };
}

/** Returns sort keys with the directions of an order. */
export function keysInOrder(keys: readonly Sql[], order: readonly Pick<OrderBy, 'direction' | 'nulls'>[]): readonly OrderKey[] {
  return keys.map((value, i) => ({ value, direction: directionSql(order[i] as Pick<OrderBy, 'direction' | 'nulls'>) }));
}

function same({ key, value }: KeysetTerm): Sql {
  return value === null ? sql`${key} is null` : sql`${key} = ${value}`;
}

function behind({ key, value, direction, nulls, notNull }: KeysetTerm, orSame: boolean): readonly Range[] {
  const isNull: Range = [sql`${key} is null`];
  if (value === null) {
    if (nulls === 'last') return orSame ? [isNull] : [];
    return orSame ? [[]] : [[sql`${key} is not null`]];
  }
  const compared: Range = [sql`${key} ${comparison(direction, orSame)} ${value}`];
  return nulls === 'last' && !notNull ? [compared, isNull] : [compared];
}

function comparison(direction: OrderBy['direction'], orSame: boolean): Sql {
  if (direction === 'asc') return orSame ? sql`>=` : sql`>`;
  return orSame ? sql`<=` : sql`<`;
}

/** Nulls never compare as behind, so none may be. */
function isRowComparison(terms: readonly KeysetTerm[]): boolean {
  const { direction } = terms[0] as KeysetTerm;
  return terms.every((term) => term.value !== null && term.direction === direction && (term.notNull || term.nulls === 'first'));
}

function rowComparison(terms: readonly KeysetTerm[], orSame: boolean): Sql {
  const list = (items: readonly Sql[]): Sql => sql`(${join(items, sql`, `)})`;
  const { direction } = terms[0] as KeysetTerm;
  return sql`${list(terms.map(({ key }) => key))} ${comparison(direction, orSame)} ${list(terms.map(({ value }) => value as Sql))}`;
}
