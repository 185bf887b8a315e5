/**
 * The names of all roots of a source, whatever the role: one map that every role's schema
 * shares, so that a root is found without making any of the others.
 */
import type { FunctionInfo, QueryRootField, SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import { functionRootName, type NameStyle, tableRootNames } from '../../schema-cache/naming.ts';
import type { Sliced } from '../../util/sliced.ts';
import type { FunctionRootKey } from './function-root.ts';
import { MUTATION_KEYS, type MutationKey } from './mutation-root.ts';
import { READ_KEYS } from './table-root.ts';

export type RootCandidate =
  | { readonly kind: 'table'; readonly table: TableInfo; readonly key: QueryRootField }
  | { readonly kind: 'function'; readonly info: FunctionInfo; readonly key: FunctionRootKey };

export type MutationCandidate =
  | { readonly kind: 'table'; readonly table: TableInfo; readonly key: MutationKey }
  | { readonly kind: 'function'; readonly info: FunctionInfo };

export interface RootIndex {
  /** Of queries and subscriptions. */
  readonly roots: ReadonlyMap<string, RootCandidate>;
  /** Names that count only where no other root has them. */
  readonly aliases: ReadonlyMap<string, RootCandidate>;
  readonly mutations: ReadonlyMap<string, MutationCandidate>;
}

interface TableEntry<C> {
  readonly name: string;
  readonly alias: string | null;
  readonly candidate: C;
}

interface TableEntries {
  readonly reads: readonly TableEntry<RootCandidate>[];
  readonly mutations: readonly TableEntry<MutationCandidate>[];
}

/** Names of tables that did not change are taken from here when one table of a source changes. */
const entriesByTable = new WeakMap<TableInfo, { readonly style: NameStyle; readonly entries: TableEntries }>();

function tableEntries(style: NameStyle, table: TableInfo): TableEntries {
  const known = entriesByTable.get(table);
  if (known !== undefined && known.style.customization === style.customization && known.style.namingConvention === style.namingConvention) {
    return known.entries;
  }
  const entry = <K extends QueryRootField | MutationKey>(key: K) => ({
    ...tableRootNames(style, table, key),
    candidate: { kind: 'table' as const, table, key },
  });
  const entries: TableEntries = { reads: READ_KEYS.map(entry), mutations: MUTATION_KEYS.map(entry) };
  entriesByTable.set(table, { style: { customization: style.customization, namingConvention: style.namingConvention }, entries });
  return entries;
}

export function* rootIndex(source: SourceInfo): Sliced<RootIndex> {
  const roots = new Map<string, RootCandidate>();
  const aliases = new Map<string, RootCandidate>();
  const mutations = new Map<string, MutationCandidate>();
  for (const table of source.tables.values()) {
    yield;
    if (!table.inGraphql) continue;
    const entries = tableEntries(source, table);
    for (const { name, candidate } of entries.mutations) if (!mutations.has(name)) mutations.set(name, candidate);
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
  return { roots, aliases, mutations };
}
