/** Compares two metadata documents object by object, and applies some of the differences. */
import { equalJson, isList, isObject, type Json, type JsonObject } from './json.ts';
import { labelOf } from './steps.ts';

/** Lists of the document that are compared member by member, with the key that identifies a member. */
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
  /** Top-level key of the document. */
  readonly section: string;
  /** Name of a source, for the section `sources`. */
  readonly source?: string;
  readonly list?: 'tables' | 'functions';
  /** Identifier of a list member. */
  readonly id?: string;
}

export interface Difference {
  readonly key: string;
  /** Such as `table public.album of default`. */
  readonly label: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly place: Place;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

interface MetadataObject {
  readonly place: Place;
  readonly label: string;
  readonly value: Json;
}

/** Lists the differences in the order of the documents. */
export function metadataDifferences(before: JsonObject, after: JsonObject): readonly Difference[] {
  const [old, now] = [objectsOf(before), objectsOf(after)];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].flatMap((key): Difference[] => {
    const [was, is] = [old.get(key), now.get(key)];
    if (equalJson(was?.value, is?.value)) return [];
    const { place, label } = (is ?? was) as MetadataObject;
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    return [{ key, label, kind, place, before: was?.value, after: is?.value }];
  });
}

/** Applies differences to the document `before`. */
export function withDifferences(before: JsonObject, differences: readonly Difference[]): JsonObject {
  return differences.reduce((document, { place, after }) => withObject(document, place, after), before);
}

function objectsOf(document: JsonObject): ReadonlyMap<string, MetadataObject> {
  const found = new Map<string, MetadataObject>();
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
  const isSource = ({ name }: JsonObject): boolean => name === source;
  if (list === undefined) {
    if (value === undefined) return { ...document, sources: withMember(sources, isSource, undefined) };
    const lists: JsonObject = known === undefined ? { tables: [] } : { tables: known['tables'] ?? [], ...keyOf(known, 'functions') };
    return { ...document, sources: withMember(sources, isSource, { ...(value as JsonObject), ...lists }) };
  }
  // A removed source takes its tables and functions with it.
  if (known === undefined) return document;
  const word = list === 'tables' ? 'table' : 'function';
  const members = withMember(objectsIn(known[list]), (member) => labelOf(member[word] ?? '') === id, value);
  return { ...document, sources: withMember(sources, isSource, { ...known, [list]: members }) };
}

function keyOf(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return value === undefined ? {} : { [key]: value };
}

function withKey(document: JsonObject, key: string, value: Json | undefined): JsonObject {
  const { [key]: _, ...rest } = document;
  return value === undefined || (isList(value) && value.length === 0) ? rest : { ...rest, [key]: value };
}

function withMember(members: readonly JsonObject[], matches: (member: JsonObject) => boolean, value: Json | undefined): readonly Json[] {
  const at = members.findIndex(matches);
  if (value === undefined) return members.filter((_, index) => index !== at);
  return at < 0 ? [...members, value] : (members as readonly Json[]).with(at, value);
}
