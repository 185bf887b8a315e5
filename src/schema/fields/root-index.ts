/**
 * Names of all roots of a source, for all roles: one map that the schemas of all roles share, so that a root is found without building any
 * other.
 */
import type { FunctionInfo, SourceInfo, SubscriptionRootField, TableInfo } from '../../schema-cache/schema-cache.ts';
import { functionRootName, type NameStyle, tableRootNames } from '../../schema-cache/naming.ts';
import type { Cooperative } from '../../util/cooperative.ts';
import type { FunctionRootKey } from './function-root.ts';
import { MUTATION_KEYS, type MutationKey } from './mutation-root.ts';
import { READ_KEYS } from './table-root.ts';

/** Tables are identified by their key in `SourceInfo.tables`, so that the index stays valid when they change. */
export type RootCandidate =
  | { readonly kind: 'table'; readonly table: string; readonly key: SubscriptionRootField }
  | { readonly kind: 'function'; readonly info: FunctionInfo; readonly key: FunctionRootKey };

export type MutationCandidate =
  | { readonly kind: 'table'; readonly table: string; readonly key: MutationKey }
  | { readonly kind: 'function'; readonly info: FunctionInfo };

export interface RootIndex {
  /** Roots of queries and subscriptions. */
  readonly roots: ReadonlyMap<string, RootCandidate>;
  /** Names that are only used if no other root has them. */
  readonly aliases: ReadonlyMap<string, RootCandidate>;
  /** Roots of subscriptions only. */
  readonly streams: ReadonlyMap<string, RootCandidate>;
  readonly mutations: ReadonlyMap<string, MutationCandidate>;
}

interface TableEntry<C> {
  readonly name: string;
  readonly alias: string | null;
  readonly candidate: C;
}

interface TableEntries {
  readonly reads: readonly TableEntry<RootCandidate>[];
  readonly stream: TableEntry<RootCandidate>;
  readonly mutations: readonly TableEntry<MutationCandidate>[];
}

/** Reuses the names of unchanged tables when one table of a source changes. */
const entriesByTable = new WeakMap<TableInfo, { readonly style: NameStyle; readonly entries: TableEntries }>();

function tableEntries(style: NameStyle, tableKey: string, table: TableInfo): TableEntries {
  const known = entriesByTable.get(table);
  if (known !== undefined && known.style.customization === style.customization && known.style.namingConvention === style.namingConvention) {
    return known.entries;
  }
  const entry = <K extends SubscriptionRootField | MutationKey>(key: K) => ({
    ...tableRootNames(style, table, key),
    candidate: { kind: 'table' as const, table: tableKey, key },
  });
  const entries: TableEntries = {
    reads: READ_KEYS.map(entry),
    stream: entry('select_stream'),
    mutations: MUTATION_KEYS.map(entry),
  };
  entriesByTable.set(table, { style: { customization: style.customization, namingConvention: style.namingConvention }, entries });
  return entries;
}

/** Builds the index of a source, for all roles. */
export function* rootIndex(source: SourceInfo): Cooperative<RootIndex> {
  const roots = new Map<string, RootCandidate>();
  const aliases = new Map<string, RootCandidate>();
  const streams = new Map<string, RootCandidate>();
  const mutations = new Map<string, MutationCandidate>();
  for (const [key, table] of source.tables) {
    yield;
    if (!table.inGraphql) continue;
    const entries = tableEntries(source, key, table);
    for (const { name, candidate } of entries.mutations) if (!mutations.has(name)) mutations.set(name, candidate);
    if (!streams.has(entries.stream.name)) streams.set(entries.stream.name, entries.stream.candidate);
    for (const { name, alias, candidate } of entries.reads) {
      if (!roots.has(name)) roots.set(name, candidate);
      if (alias !== null && !aliases.has(alias)) aliases.set(alias, candidate);
    }
  }
  for (const info of source.functions.values()) {
    if (info.exposedAs === 'mutation') {
      const name = functionRootName(source, info, source.backend.defaultSchema, 'function');
      if (!mutations.has(name)) mutations.set(name, { kind: 'function', info });
      continue;
    }
    for (const key of ['function', 'function_aggregate'] as const) {
      const name = functionRootName(source, info, source.backend.defaultSchema, key);
      if (!roots.has(name)) roots.set(name, { kind: 'function', info, key });
    }
  }
  for (const name of roots.keys()) aliases.delete(name);
  return { roots, aliases, streams, mutations };
}

/** Returns true if both sources have the same index: no change affects the name of a root. */
export function sameRoots(before: SourceInfo, after: SourceInfo): boolean {
  if (before === after) return true;
  if (before.backend !== after.backend || before.customization !== after.customization) return false;
  if (before.namingConvention !== after.namingConvention) return false;
  return (
    sameInOrder(before.functions, after.functions, () => false) &&
    sameInOrder(before.tables, after.tables, (key, old, table) => {
      if (old.inGraphql !== table.inGraphql) return false;
      const [oldEntries, newEntries] = [tableEntries(before, key, old), tableEntries(after, key, table)];
      return (
        sameNames(oldEntries.reads, newEntries.reads) &&
        oldEntries.stream.name === newEntries.stream.name &&
        sameNames(oldEntries.mutations, newEntries.mutations)
      );
    })
  );
}

function sameNames<C>(a: readonly TableEntry<C>[], b: readonly TableEntry<C>[]): boolean {
  return a.length === b.length && a.every(({ name, alias }, i) => name === b[i]?.name && alias === b[i].alias);
}

/** Compares maps in order; `equal` decides about two objects that are not identical. */
function sameInOrder<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>, equal: (key: string, a: T, b: T) => boolean): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  const others = b.entries();
  for (const [key, value] of a) {
    const [otherKey, other] = others.next().value as [string, T];
    if (key !== otherKey || (value !== other && !equal(key, value, other))) return false;
  }
  return true;
}
