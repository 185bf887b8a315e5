/** Reads what databases hold, where that is not known to be the same as before. */
import type { CatalogMark, Source } from '../backend/backend.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { RunningState } from '../state/create-state.ts';

/** ms that a database may take to tell what it holds. */
const CATALOG_MS = 60_000;

/**
 * @returns for the kinds of sources that are asked: catalogs by the names of sources, without those that cannot be read and those that
 * are found to be the same as the last time
 */
export function catalogReader(state: RunningState): (kinds: ReadonlySet<string>) => Promise<ReadonlyMap<string, Catalog>> {
  const marks = new WeakMap<Source, CatalogMark>();
  const changed = async (source: Source): Promise<Catalog | null> => {
    const how = { deadline: Date.now() + CATALOG_MS };
    if (source.catalogMark === undefined) return source.introspect(undefined, how);
    const before = marks.get(source) ?? null;
    // What changes after it is looked at changes it for the next time.
    const mark = await source.catalogMark(before, how);
    const catalog = mark.definitions === before?.definitions ? null : await source.introspect(undefined, how);
    marks.set(source, mark);
    return catalog;
  };
  return async (kinds) => {
    const { connections, metadata } = state.current();
    const asked = [...connections].filter(([name]) => kinds.has(metadata.sources.get(name)?.kind ?? ''));
    const read = await Promise.allSettled(asked.map(async ([name, source]) => [name, await changed(source)] as const));
    return new Map(
      read.flatMap((each) => (each.status === 'fulfilled' && each.value[1] !== null ? [[each.value[0], each.value[1]] as const] : [])),
    );
  };
}
