/** Columns that two versions of a table share, and those whose constraints and indexes are created again. */
import type { Column, SchemaSnapshot, Table } from './snapshot.ts';

export interface ColumnPair {
  readonly from: Column;
  readonly to: Column;
}

export interface TablePair {
  readonly from: Table;
  readonly to: Table;
  /** Columns that stay. */
  readonly kept: readonly ColumnPair[];
  /** Generated columns that are dropped and added again. */
  readonly replaced: readonly ColumnPair[];
  readonly dropped: readonly Column[];
  readonly added: readonly Column[];
  /** Columns with another base type, and replaced ones: their constraints and indexes may not be valid for both definitions. */
  readonly rebuilt: ReadonlySet<string>;
}

export interface TableChanges {
  readonly created: readonly Table[];
  readonly dropped: readonly Table[];
  readonly pairs: ReadonlyMap<string, TablePair>;
}

export function tableChanges(from: SchemaSnapshot, to: SchemaSnapshot): TableChanges {
  const [before, after] = [mapByName(from.tables), mapByName(to.tables)];
  const pairs = from.tables.flatMap((table) => {
    const next = after.get(table.name);
    return next === undefined ? [] : [[table.name, pairOf(table, next)] as const];
  });
  return {
    created: to.tables.filter(({ name }) => !before.has(name)),
    dropped: from.tables.filter(({ name }) => !after.has(name)),
    pairs: new Map(pairs),
  };
}

export function mapByName<T extends { readonly name: string }>(list: readonly T[]): ReadonlyMap<string, T> {
  return new Map(list.map((each) => [each.name, each]));
}

export function isRetyped({ from, to }: ColumnPair): boolean {
  return from.type !== to.type || from.collation !== to.collation;
}

function pairOf(from: Table, to: Table): TablePair {
  const [before, after] = [mapByName(from.columns), mapByName(to.columns)];
  const both = from.columns.flatMap((column): readonly ColumnPair[] => {
    const next = after.get(column.name);
    return next === undefined ? [] : [{ from: column, to: next }];
  });
  const dropped = from.columns.filter(({ name }) => !after.has(name));
  const retyped = both.filter((pair) => pair.from.generated === null && isRetyped(pair));
  const moved = new Set([...retyped.map((pair) => pair.from.name), ...dropped.map(({ name }) => name)]);
  const replaced = both.filter((pair) => isReplaced(pair, moved));
  const based = retyped.filter((pair) => pair.from.base !== pair.to.base);
  return {
    from,
    to,
    kept: both.filter((pair) => !replaced.includes(pair)),
    replaced,
    dropped,
    added: to.columns.filter(({ name }) => !before.has(name)),
    rebuilt: new Set([...based, ...replaced].map((pair) => pair.from.name)),
  };
}

/** @param moved columns that are dropped or get another type, which PostgreSQL refuses while a generated column uses them */
function isReplaced(pair: ColumnPair, moved: ReadonlySet<string>): boolean {
  const [from, to] = [pair.from.generated, pair.to.generated];
  if (from === null) return to !== null;
  if (to === null) return !from.isStored || isRetyped(pair);
  if (from.expression !== to.expression || from.isStored !== to.isStored || isRetyped(pair)) return true;
  return from.columns.some((name) => moved.has(name));
}
