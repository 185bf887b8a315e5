/** What a change reads anew, per source and as a notice to other instances. */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { Refresh } from './state.ts';

/** The names of one source. */
export function named(items: Refresh['tables'], source: string): readonly QualifiedName[] {
  return (items ?? []).filter((item) => item.source === source).map((item) => item.name);
}

export function distinct(names: readonly QualifiedName[]): readonly QualifiedName[] {
  return [...new Map(names.map((name) => [nameKey(name), name])).values()];
}

export function isEmpty(refresh: Refresh): boolean {
  return (
    refresh.sources !== 'all' &&
    [refresh.sources, refresh.tables, refresh.functions].every((list) => list === undefined || list.length === 0)
  );
}

export function mergeRefreshes(refreshes: readonly Refresh[]): Refresh {
  const all = refreshes.some((refresh) => refresh.sources === 'all');
  const sources = refreshes.flatMap((refresh) => (refresh.sources === 'all' ? [] : (refresh.sources ?? [])));
  return {
    sources: all ? 'all' : [...new Set(sources)],
    tables: refreshes.flatMap((refresh) => refresh.tables ?? []),
    functions: refreshes.flatMap((refresh) => refresh.functions ?? []),
  };
}

/** What other instances must read again as well. */
export function encodeRefresh(refresh: Refresh): Json {
  const encode = (items: Refresh['tables']): Json =>
    (items ?? []).map(({ source, name }) => ({ source, schema: name.schema, name: name.name }));
  return { sources: refresh.sources ?? [], tables: encode(refresh.tables), functions: encode(refresh.functions) };
}

export function mergeNotices(notices: readonly (Json | null)[]): Refresh {
  const sources = new Set<string>();
  const tables: { source: string; name: QualifiedName }[] = [];
  const functions: { source: string; name: QualifiedName }[] = [];
  let all = false;
  for (const notice of notices) {
    if (!isJsonObject(notice)) continue;
    if (notice['sources'] === 'all') all = true;
    else for (const name of texts(notice['sources'])) sources.add(name);
    tables.push(...targets(notice['tables']));
    functions.push(...targets(notice['functions']));
  }
  return { sources: all ? 'all' : [...sources], tables, functions };
}

function texts(json: Json | undefined): readonly string[] {
  return isJsonArray(json) ? json.filter((item): item is string => typeof item === 'string') : [];
}

function targets(json: Json | undefined): readonly { source: string; name: QualifiedName }[] {
  if (!isJsonArray(json)) return [];
  return json.flatMap((item: Json) => {
    if (!isJsonObject(item)) return [];
    const { source, schema, name } = item;
    return typeof source === 'string' && typeof schema === 'string' && typeof name === 'string' ? [{ source, name: { schema, name } }] : [];
  });
}
