/**
 * The names of all read roots of a source, whatever the role: one map that every role's schema
 * shares, so that a root is found without making any of the others.
 */
import type { FunctionInfo, QueryRootField, SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import { functionRootName, type NameStyle, tableRootNames } from '../../schema-cache/naming.ts';
import type { FunctionRootKey } from './function-root.ts';
import { READ_KEYS } from './table-root.ts';

export type RootCandidate =
  | { readonly kind: 'table'; readonly table: TableInfo; readonly key: QueryRootField }
  | { readonly kind: 'function'; readonly info: FunctionInfo; readonly key: FunctionRootKey };

export interface RootIndex {
  readonly roots: ReadonlyMap<string, RootCandidate>;
  /** Names that count only where no other root has them. */
  readonly aliases: ReadonlyMap<string, RootCandidate>;
}

interface TableEntry {
  readonly name: string;
  readonly alias: string | null;
  readonly candidate: RootCandidate;
}

/** Names of tables that did not change are taken from here when one table of a source changes. */
const entriesByTable = new WeakMap<TableInfo, { readonly style: NameStyle; readonly entries: readonly TableEntry[] }>();

function tableEntries(style: NameStyle, table: TableInfo): readonly TableEntry[] {
  const known = entriesByTable.get(table);
  if (known !== undefined && known.style.customization === style.customization && known.style.namingConvention === style.namingConvention) {
    return known.entries;
  }
  const entries = READ_KEYS.map((key) => ({ ...tableRootNames(style, table, key), candidate: { kind: 'table' as const, table, key } }));
  entriesByTable.set(table, { style: { customization: style.customization, namingConvention: style.namingConvention }, entries });
  return entries;
}

export function rootIndex(source: SourceInfo): RootIndex {
  const roots = new Map<string, RootCandidate>();
  const aliases = new Map<string, RootCandidate>();
  for (const table of source.tables.values()) {
    if (!table.inGraphql) continue;
    for (const { name, alias, candidate } of tableEntries(source, table)) {
      if (!roots.has(name)) roots.set(name, candidate);
      if (alias !== null && !aliases.has(alias)) aliases.set(alias, candidate);
    }
  }
  for (const info of source.functions.values()) {
    if (info.exposedAs !== 'query') continue;
    for (const key of ['function', 'function_aggregate'] as const) {
      const name = functionRootName(source, info, source.backend.defaultSchema, key);
      if (!roots.has(name)) roots.set(name, { kind: 'function', info, key });
    }
  }
  for (const name of roots.keys()) aliases.delete(name);
  return { roots, aliases };
}
