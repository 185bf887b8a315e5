/** Parts of sources that a change reads again: merged, selected by source, and encoded as a notice for other instances. */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { Refresh } from './state.ts';

export function namesInSource(items: Refresh['tables'], source: string): readonly QualifiedName[] {
  return (items ?? []).filter((item) => item.source === source).map((item) => item.name);
}

export function distinct(names: readonly QualifiedName[]): readonly QualifiedName[] {
  return [...new Map(names.map((name) => [nameKey(name), name])).values()];
}

export function isEmptyRefresh(refresh: Refresh): boolean {
  return (
    refresh.sources !== 'all' &&
    refresh.remoteSchemas !== 'all' &&
    [refresh.sources, refresh.tables, refresh.functions, refresh.remoteSchemas].every((list) => list === undefined || list.length === 0)
  );
}

/** Returns the union. */
export function mergeRefreshes(refreshes: readonly Refresh[]): Refresh {
  return {
    sources: merged(refreshes.map(({ sources }) => sources)),
    remoteSchemas: merged(refreshes.map(({ remoteSchemas }) => remoteSchemas)),
    tables: eachOnce(refreshes.flatMap((refresh) => refresh.tables ?? [])),
    functions: eachOnce(refreshes.flatMap((refresh) => refresh.functions ?? [])),
    eventTriggers: merged(refreshes.map(({ eventTriggers }) => eventTriggers)),
  };
}

function eachOnce(items: NonNullable<Refresh['tables']>): NonNullable<Refresh['tables']> {
  return [...new Map(items.map((item) => [JSON.stringify([item.source, nameKey(item.name)]), item])).values()];
}

function merged(lists: readonly Refresh['sources'][]): readonly string[] | 'all' {
  return lists.includes('all') ? 'all' : [...new Set(lists.flatMap((names) => names ?? []))];
}

/** Encodes a notice for other instances. */
export function encodeRefresh(refresh: Refresh): Json {
  const encode = (items: Refresh['tables']): Json =>
    (items ?? []).map(({ source, name }) => ({ source, schema: name.schema, name: name.name }));
  return {
    sources: refresh.sources ?? [],
    remote_schemas: refresh.remoteSchemas ?? [],
    tables: encode(refresh.tables),
    functions: encode(refresh.functions),
  };
}

/** Decodes and merges notices of other instances. Values without the documented shape are ignored. */
export function mergeNotices(notices: readonly (Json | null)[]): Refresh {
  const known = notices.filter(isJsonObject);
  const tables: { source: string; name: QualifiedName }[] = [];
  const functions: { source: string; name: QualifiedName }[] = [];
  for (const notice of known) {
    tables.push(...targets(notice['tables']));
    functions.push(...targets(notice['functions']));
  }
  const names = (key: string): readonly string[] | 'all' => merged(known.map(({ [key]: json }) => (json === 'all' ? 'all' : texts(json))));
  return { sources: names('sources'), remoteSchemas: names('remote_schemas'), tables, functions };
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
