/** Files of `metadata/` for the sections of the document, and rules for its lists. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';

export interface Section {
  /** Path below the metadata folder. */
  readonly file: string;
  /** Key in the document. */
  readonly key: string;
  /** Content of an empty section; `null` if its file is omitted. */
  readonly empty: Json;
}

export const SOURCES_FILE = 'databases/databases.yaml';
export const ACTIONS_FILE = 'actions.yaml';
export const ACTIONS_SDL_FILE = 'actions.graphql';
export const VERSION_FILE = 'version.yaml';

/** All sections except actions and custom types, which share two files, in the order of the document. */
export const SECTIONS: readonly Section[] = [
  { file: SOURCES_FILE, key: 'sources', empty: [] },
  { file: 'remote_schemas.yaml', key: 'remote_schemas', empty: [] },
  { file: 'query_collections.yaml', key: 'query_collections', empty: [] },
  { file: 'allow_list.yaml', key: 'allowlist', empty: [] },
  { file: 'cron_triggers.yaml', key: 'cron_triggers', empty: [] },
  { file: 'rest_endpoints.yaml', key: 'rest_endpoints', empty: [] },
  { file: 'api_limits.yaml', key: 'api_limits', empty: {} },
  { file: 'inherited_roles.yaml', key: 'inherited_roles', empty: [] },
  { file: 'graphql_schema_introspection.yaml', key: 'graphql_schema_introspection', empty: { disabled_for_roles: [] } },
  { file: 'network.yaml', key: 'network', empty: {} },
  { file: 'opentelemetry.yaml', key: 'opentelemetry', empty: null },
  { file: 'metrics_config.yaml', key: 'metrics_config', empty: null },
  { file: 'backend_configs.yaml', key: 'backend_configs', empty: null },
];

/** Unordered lists. */
const ORDERLESS: ReadonlySet<string> = new Set([
  'sources',
  'tables',
  'functions',
  'object_relationships',
  'array_relationships',
  'remote_relationships',
  'computed_fields',
  'insert_permissions',
  'select_permissions',
  'update_permissions',
  'delete_permissions',
  'event_triggers',
  'permissions',
  'remote_schemas',
  'query_collections',
  'allowlist',
  'actions',
  'cron_triggers',
  'rest_endpoints',
  'inherited_roles',
  'columns',
  'role_set',
  'roles',
  'methods',
  'query_root_fields',
  'subscription_root_fields',
  'disabled_for_roles',
  'tls_allowlist',
  'ids',
]);

export function isOrderless(key: string | undefined): boolean {
  return key !== undefined && ORDERLESS.has(key);
}

/** Keys that identify the objects of a list; the first one present counts. */
const IDENTITIES = ['table', 'function', 'role', 'role_name', 'collection', 'type_name', 'name', 'value', 'host'] as const;

/** Returns the identity of an item of a list; `undefined` if it has none. */
export function identityOf(item: Json): string | undefined {
  if (!isJsonObject(item)) return isJsonArray(item) ? undefined : `= ${printJson(item)}`;
  const key = IDENTITIES.find((name) => item[name] !== undefined);
  if (key === undefined) return undefined;
  const value = item[key] as Json;
  // A bare name is in the default schema.
  if (key === 'table' || key === 'function') return `${key} ${printJson(qualified(value))}`;
  return `${key} ${printJson(value)}`;
}

function qualified(name: Json): Json {
  if (!isJsonObject(name)) return name;
  const { schema, dataset, name: own = null } = name;
  // Tables in the connected database of a MariaDB source have no schema.
  if (schema === 'public' || (schema ?? dataset ?? null) === null) return own;
  return Object.fromEntries(Object.entries(name).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a readable name of an item: `public.author`, `user`. */
export function nameOf(item: Json): string {
  if (!isJsonObject(item)) return typeof item === 'string' ? item : printJson(item);
  const key = IDENTITIES.find((name) => item[name] !== undefined);
  return key === undefined ? printJson(item) : printedName(item[key] as Json);
}

/** Returns `schema.table` for any form of the name of a table or function. */
export function printedName(name: Json): string {
  if (typeof name === 'string') return name;
  if (isJsonArray(name)) return name.map(printedName).join('.');
  if (!isJsonObject(name)) return printJson(name);
  const schema = name['schema'] ?? name['dataset'];
  return [schema, name['name']].filter((part) => typeof part === 'string').join('.');
}

/** Returns a value as text, with sorted keys and sorted unordered lists, which is equal for equivalent values. */
export function canonical(value: Json, member?: string): string {
  if (isJsonArray(value)) {
    const items = value.map((item) => canonical(item));
    return `[${(isOrderless(member) ? items.sort() : items).join(',')}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json, key)}`).join(',')}}`;
  }
  return printJson(value);
}

export function sameMeaning(a: Json, b: Json, member?: string): boolean {
  return a === b || canonical(a, member) === canonical(b, member);
}

/** Returns the object without `undefined` members. */
export function defined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
