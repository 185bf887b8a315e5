/** Two documents of metadata, object by object: what is added, gone, changed; and one document with some of that. */
import { equalJson, isList, isObject, type Json, type JsonObject } from './json.ts';
import { labelOf } from './steps.ts';

/** A list of the document whose members are objects of their own, and the key that tells them apart. */
const LISTS: Readonly<Record<string, string>> = {
  remote_schemas: 'name',
  query_collections: 'name',
  allowlist: 'collection',
  actions: 'name',
  cron_triggers: 'name',
  rest_endpoints: 'name',
  inherited_roles: 'role_name',
};

interface Place {
  /** Key of the document. */
  readonly section: string;
  /** Of sources: which, and which of its lists. */
  readonly source?: string;
  readonly list?: 'tables' | 'functions';
  /** Of members of lists. */
  readonly id?: string;
}

export interface Difference {
  readonly key: string;
  /** Such as `table public.album of default`. */
  readonly label: string;
  readonly kind: 'added' | 'gone' | 'changed';
  readonly place: Place;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

interface Found {
  readonly place: Place;
  readonly label: string;
  readonly value: Json;
}

/** What differs, in the order of the documents. */
export function metadataDifferences(before: JsonObject, after: JsonObject): readonly Difference[] {
  const [old, now] = [objectsOf(before), objectsOf(after)];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].flatMap((key): Difference[] => {
    const [was, is] = [old.get(key), now.get(key)];
    if (equalJson(was?.value, is?.value)) return [];
    const { place, label } = (is ?? was) as Found;
    const kind = was === undefined ? 'added' : is === undefined ? 'gone' : 'changed';
    return [{ key, label, kind, place, before: was?.value, after: is?.value }];
  });
}

/** The document `before` with these differences in it. */
export function withDifferences(before: JsonObject, differences: readonly Difference[]): JsonObject {
  return differences.reduce((document, { place, after }) => withObject(document, place, after), before);
}

function objectsOf(document: JsonObject): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  const put = (place: Place, label: string, value: Json): void => {
    found.set(JSON.stringify(place), { place, label, value });
  };
  for (const [section, value] of Object.entries(document)) {
    const idKey = LISTS[section];
    if (section === 'sources') for (const source of objectsIn(value)) putSource(source, put);
    else if (idKey !== undefined && isList(value)) {
      for (const member of objectsIn(value)) {
        const id = String(member[idKey]);
        put({ section, id }, `${section.replaceAll('_', ' ').replace(/s$/, '')} ${id}`, member);
      }
    } else if (section !== 'version') put({ section }, section.replaceAll('_', ' '), value);
  }
  return found;
}

function putSource(source: JsonObject, put: (place: Place, label: string, value: Json) => void): void {
  const name = String(source['name']);
  const { tables, functions, ...head } = source;
  put({ section: 'sources', source: name }, `source ${name}`, head);
  for (const [list, members, word] of [
    ['tables', tables, 'table'],
    ['functions', functions, 'function'],
  ] as const) {
    for (const member of objectsIn(members)) {
      const id = labelOf(member[word] ?? '');
      put({ section: 'sources', source: name, list, id }, `${word} ${id} of ${name}`, member);
    }
  }
}

function objectsIn(json: Json | undefined): readonly JsonObject[] {
  return isList(json) ? json.filter(isObject) : [];
}

function withObject(document: JsonObject, { section, source, list, id }: Place, value: Json | undefined): JsonObject {
  if (section !== 'sources') {
    const idKey = LISTS[section];
    if (id === undefined || idKey === undefined) return withKey(document, section, value);
    return withKey(
      document,
      section,
      withMember(objectsIn(document[section]), (member) => member[idKey] === id, value),
    );
  }
  const sources = objectsIn(document['sources']);
  const known = sources.find(({ name }) => name === source);
  const isIt = ({ name }: JsonObject): boolean => name === source;
  if (list === undefined) {
    if (value === undefined) return { ...document, sources: withMember(sources, isIt, undefined) };
    const kept: JsonObject = known === undefined ? { tables: [] } : { tables: known['tables'] ?? [], ...keyOf(known, 'functions') };
    return { ...document, sources: withMember(sources, isIt, { ...(value as JsonObject), ...kept }) };
  }
  // The source goes with all that is in it.
  if (known === undefined) return document;
  const word = list === 'tables' ? 'table' : 'function';
  const members = withMember(objectsIn(known[list]), (member) => labelOf(member[word] ?? '') === id, value);
  return { ...document, sources: withMember(sources, isIt, { ...known, [list]: members }) };
}

function keyOf(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return value === undefined ? {} : { [key]: value };
}

function withKey(document: JsonObject, key: string, value: Json | undefined): JsonObject {
  const { [key]: _, ...rest } = document;
  return value === undefined || (isList(value) && value.length === 0) ? rest : { ...rest, [key]: value };
}

function withMember(members: readonly JsonObject[], isIt: (member: JsonObject) => boolean, value: Json | undefined): readonly Json[] {
  const at = members.findIndex(isIt);
  if (value === undefined) return members.filter((_, index) => index !== at);
  return at < 0 ? [...members, value] : (members as readonly Json[]).with(at, value);
}
