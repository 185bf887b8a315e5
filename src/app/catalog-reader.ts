import type { CatalogFingerprint, Source } from '../backend/backend.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { RunningState } from '../state/create-state.ts';

/** Timeout for reading the catalog of a database, in ms. */
const CATALOG_TIMEOUT_MS = 60_000;

/**
 * Creates a function that reads the catalogs of the sources of some kinds, by source name. It leaves out sources that cannot be read, and
 * those whose definitions have not changed since the previous call.
 */
export function catalogReader(state: RunningState): (kinds: ReadonlySet<string>) => Promise<ReadonlyMap<string, Catalog>> {
  const marks = new WeakMap<Source, CatalogFingerprint>();
  const changed = async (source: Source): Promise<Catalog | null> => {
    const how = { deadline: Date.now() + CATALOG_TIMEOUT_MS };
    if (source.catalogFingerprint === undefined) return source.introspect(undefined, how);
    const before = marks.get(source) ?? null;
    // Taken before the catalog is read: a change in between is found by the next call.
    const mark = await source.catalogFingerprint(before, how);
    const catalog = mark.definitions === before?.definitions ? null : await source.introspect(undefined, how);
    marks.set(source, mark);
    return catalog;
  };
  return async (kinds) => {
    const { connections, metadata } = state.current();
    const selected = [...connections].filter(([name]) => kinds.has(metadata.sources.get(name)?.kind ?? ''));
    const read = await Promise.allSettled(selected.map(async ([name, source]) => [name, await changed(source)] as const));
    return new Map(
      read.flatMap((each) => (each.status === 'fulfilled' && each.value[1] !== null ? [[each.value[0], each.value[1]] as const] : [])),
    );
  };
}
