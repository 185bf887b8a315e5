/** Translates the metadata document of another engine leaf by leaf. */
import { SvcError } from '../errors/svc-error.ts';
import { withRules } from '../metadata/decode-rules.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { metadataCodec } from '../metadata/metadata.ts';
import { describeUnknownKey, UnknownKeysError } from '../metadata/unknown-keys.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectsIn } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { keysOf } from '../project/document.ts';
import { identityOf } from '../project/directory/sections.ts';
import type { ImportAccount, LeafPath } from './account.ts';

import { renamedPresets, renamedTemplate, renamedVariable } from './session-names.ts';

const KINDS: Readonly<Record<string, string>> = { postgres: 'pg', pg: 'pg', citus: 'dbc', bigquery: 'dwh', cockroach: 'pg', alloy: 'pg' };
/** Databases that speak the protocol of a supported kind and are untested here. */
const UNTESTED: ReadonlySet<string> = new Set(['cockroach', 'alloy']);
/** Kinds whose sources may work here as another kind. */
const SIMILAR_KINDS: Readonly<Record<string, string>> = {
  mysql8: 'try a source of the kind "dbb": its URL is mysql://…, its tables are {schema, name}',
  mariadb: 'try a source of the kind "dbb": its URL is mysql://…, its tables are {schema, name}',
};
/** Keys of permissions that early consoles stored for themselves. */
const OBSOLETE_KEYS: ReadonlySet<string> = new Set(['localPresets', 'allow_upsert']);
const OWN_QUERIES = ['native_queries', 'logical_models', 'stored_procedures'];

type Mutable = { [key: string]: Json };

/** Meaning of the value at a path. */
type Meaning =
  | 'plain'
  | 'session'
  | 'template'
  | 'role-sdl'
  | 'query'
  | 'header-name'
  /** The key is the name of a header, and the value a template. */
  | 'added-header'
  | 'kind'
  | 'convention'
  | 'database-env'
  | 'other-env';

export interface TranslateOptions {
  readonly kinds: Kinds;
  /** Variables of this service's options by their names in the other engine. */
  readonly optionVariables: ReadonlyMap<string, string>;
}

/** Environment variables that the metadata names. */
export interface Translated {
  readonly document: JsonObject;
  readonly variables: readonly string[];
}

/** @param document of version 3 */
export function translate(document: JsonObject, account: ImportAccount, options: TranslateOptions): Translated {
  return new Translator(account, options).run(document);
}

class Translator {
  readonly #account: ImportAccount;
  readonly #options: TranslateOptions;
  readonly #input = new WeakMap<object, { readonly path: LeafPath; readonly value: Json; readonly names: Map<string, string> }>();
  /** Original place of each item of the created lists. */
  readonly #items = new WeakMap<object, { readonly path: LeafPath; readonly value: Json }[]>();
  readonly #variables = new Set<string>();
  #unsupportedSources: ReadonlySet<string> = new Set();
  /** Increased whenever remaining items have moved. */
  #places = 0;

  constructor(account: ImportAccount, options: TranslateOptions) {
    this.#account = account;
    this.#options = options;
  }

  run(document: JsonObject): Translated {
    const sources = objectsIn(document['sources']);
    this.#unsupportedSources = new Set(
      sources.filter((source) => this.#kindProblem(source) !== undefined).map((source) => String(source['name'])),
    );
    const translated = this.#object(document, [], document) as Mutable;
    translated['version'] = 3;
    if (!isJsonArray(translated['sources'])) translated['sources'] = [];
    return { document: this.#withoutRefused(translated), variables: [...this.#variables].sort() };
  }

  #kindProblem(source: JsonObject): string | undefined {
    const kind = typeof source['kind'] === 'string' ? source['kind'] : 'postgres';
    const own = KINDS[kind];
    if (own !== undefined && this.#options.kinds.get(own) !== undefined) return undefined;
    if (own !== undefined) return `this version has no sources of the kind "${own}" (${kind})`;
    return SIMILAR_KINDS[kind] === undefined
      ? `sources of the kind "${kind}" are not supported`
      : `sources of the kind "${kind}" are not supported; ${SIMILAR_KINDS[kind]}`;
  }

  /** @param root the whole document, for parts that depend on it */
  #object(value: JsonObject, path: LeafPath, root: JsonObject): Json {
    if (Object.keys(value).length === 0) {
      this.#account.addLeaf(path, 'same');
      return {};
    }
    const out: Mutable = Object.create(null) as Mutable;
    const names = new Map<string, string>();
    this.#input.set(out, { path, value, names });
    for (const [key, item] of Object.entries(value)) {
      const at = [...path, key];
      const refused = this.#refused(key, item, path, root);
      if (refused !== undefined) {
        if (refused.bucket === 'ignored') this.#account.addLeaves(item, at, 'ignored', refused.reason);
        else this.#account.setAside(fileOf(path, key), at, item, refused.reason);
        continue;
      }
      if (item === null && inSourceList(key, path)) {
        this.#account.addLeaf(at, 'needs-you', { note: 'could not be read: see the problem of its file in this report' });
        out[key] = [];
        continue;
      }
      const name = renamedKey(key, path);
      if (name !== key) names.set(name, key);
      out[name] = this.#value(item, at, root, name === key ? undefined : name);
    }
    return out;
  }

  /** Returns why a member is not imported, or `undefined` if it is. */
  #refused(
    key: string,
    item: Json,
    path: LeafPath,
    root: JsonObject,
  ): { readonly bucket: 'ignored' | 'unsupported'; readonly reason: string } | undefined {
    const inSource = path.length === 2 && path[0] === 'sources';
    if (inSource && OWN_QUERIES.includes(key) && !isEmpty(item))
      return {
        bucket: 'unsupported',
        reason: `${key} are not supported: create a view or a tracked function with the same SQL`,
      };
    if (inSource && OWN_QUERIES.includes(key)) return { bucket: 'ignored', reason: 'is empty' };
    if (key === 'backend_configs' && path.length === 0) {
      const used = new Set(objectsIn(root['sources']).map((source) => source['kind']));
      const agents = isJsonObject(item) && isJsonObject(item['dataconnector']) ? Object.keys(item['dataconnector']) : [];
      return agents.some((agent) => used.has(agent))
        ? { bucket: 'unsupported', reason: 'external connectors are not supported' }
        : { bucket: 'ignored', reason: 'no source uses it' };
    }
    if (key === 'cleanup_config' && isEmpty(item)) return { bucket: 'ignored', reason: 'is empty' };
    if (key === 'total_max_connections') return { bucket: 'ignored', reason: 'a limit of the hosted product' };
    if (OBSOLETE_KEYS.has(key) && path.includes('permission'))
      return { bucket: 'ignored', reason: 'written by early consoles, and never read' };
    if (key === 'comment' && item === null) return { bucket: 'ignored', reason: 'is empty' };
    if (isEmpty(item) && path.length === 0 && key !== 'version' && !isJsonArray(item)) return { bucket: 'ignored', reason: 'is empty' };
    if (path.length === 0 && key === 'sources' && !isJsonArray(item)) return { bucket: 'unsupported', reason: 'sources must be a list' };
    return undefined;
  }

  #value(value: Json, path: LeafPath, root: JsonObject, renamed: string | undefined): Json {
    if (isJsonArray(value)) return this.#list(value, path, root);
    if (isJsonObject(value)) return this.#object(value, path, root);
    return this.#leaf(value, path, renamed);
  }

  #list(value: readonly Json[], path: LeafPath, root: JsonObject): Json {
    if (value.length === 0) {
      this.#account.addLeaf(path, 'same');
      return [];
    }
    const out: Json[] = [];
    const places: { readonly path: LeafPath; readonly value: Json }[] = [];
    this.#items.set(out, places);
    for (const [i, item] of value.entries()) {
      const at = [...path, i];
      if (item === null && TRACKED.has(path.at(-1) as string)) {
        this.#account.addLeaf(at, 'needs-you', { note: 'could not be read: see the problem of its file in this report' });
        continue;
      }
      const reason = isJsonObject(item) ? this.#refusedItem(item, path) : undefined;
      if (reason !== undefined) {
        this.#account.setAside(fileOf(path, undefined), at, item, reason);
        continue;
      }
      out.push(this.#value(item, at, root, undefined));
      places.push({ path: at, value: item });
    }
    return out;
  }

  #refusedItem(item: JsonObject, path: LeafPath): string | undefined {
    if (path.length === 1 && path[0] === 'sources') return this.#kindProblem(item);
    const ofType = path[0] === 'custom_types' && path.at(-1) === 'relationships' ? item['source'] : undefined;
    const target =
      isJsonObject(item['definition']) && isJsonObject(item['definition']['to_source'])
        ? item['definition']['to_source']['source']
        : ofType;
    if (typeof target === 'string' && this.#unsupportedSources.has(target))
      return `leads to the source "${target}", which is not supported`;
    return undefined;
  }

  /** @param renamed the new name of its key */
  #leaf(value: Exclude<Json, JsonObject | readonly Json[]>, path: LeafPath, renamed: string | undefined): Json {
    const details = renamed === undefined ? {} : { to: renamed };
    const rename = (to: string): string => {
      this.#account.addLeaf(path, 'renamed', { to });
      return to;
    };
    if (typeof value === 'string') {
      const meaning = meaningOf(path);
      const to = this.#renamedText(value, meaning);
      const header = meaning === 'header-name' ? value : meaning === 'added-header' ? String(path.at(-1)) : '';
      if (/^x-hasura-/i.test(header)) {
        this.#account.addLeaf(path, 'needs-you', {
          note: 'a header of the other engine is sent, which its receiver may expect; if the receiver is this service, rename it to x-svc-…',
        });
        return to ?? value;
      }
      if (meaning === 'kind' && to !== undefined && UNTESTED.has(value)) {
        this.#account.addLeaf(path, 'needs-you', {
          to,
          note: `sources of the kind "${value}" are not tested here: check whether the kind "${to}" works`,
        });
        return to;
      }
      if (to !== undefined && to !== value) return rename(to);
      for (const [, name] of value.matchAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g)) this.#variables.add(name as string);
    }
    this.#account.addLeaf(path, renamed === undefined ? 'same' : 'renamed', details);
    return value;
  }

  #renamedText(value: string, meaning: Meaning): string | undefined {
    switch (meaning) {
      case 'session':
        return renamedVariable(value);
      case 'template':
      case 'added-header':
        return renamedTemplate(value);
      case 'role-sdl':
        return renamedPresets(value);
      case 'kind':
        return KINDS[value];
      case 'convention':
        return value === 'hasura-default' ? 'svc-default' : undefined;
      case 'database-env': {
        const to = this.#options.optionVariables.get(value) ?? value;
        this.#variables.add(to);
        return to;
      }
      case 'other-env':
        this.#variables.add(value);
        return undefined;
      default:
        return undefined;
    }
  }

  /** Sets aside what the codec of the metadata refuses, until it accepts the rest. */
  #withoutRefused(document: Mutable): JsonObject {
    const codec = metadataCodec(this.#options.kinds);
    // All at once, because each run reads the whole document.
    let places: number;
    do {
      places = this.#places;
      const refusals: UnknownKeysError[] = [];
      try {
        codec.decode(document, withRules(ROOT, { onPreserved: (refusal) => refusals.push(refusal) }));
      } catch (thrown) {
        // Other errors are found below.
        if (!(thrown instanceof SvcError)) throw thrown;
      }
      for (const { object, names, known } of refusals) {
        this.#dropKeys(document, keysOf(object), names, (name) => describeUnknownKey(name, known));
        // The other places have moved.
        if (this.#places !== places) break;
      }
    } while (this.#places !== places);
    for (;;) {
      try {
        codec.decode(document, withRules(ROOT, { refusesUnknown: true }));
        return document;
      } catch (thrown) {
        if (!(thrown instanceof SvcError)) throw thrown;
        if (thrown instanceof UnknownKeysError)
          this.#dropKeys(document, keysOf(thrown.object), thrown.names, (name) => describeUnknownKey(name, thrown.known));
        else this.#dropItem(document, keysOf(thrown.path), thrown.message);
      }
    }
  }

  #dropKeys(document: Mutable, path: LeafPath, names: readonly string[], reasonOf: (name: string) => string): void {
    const object = valueAt(document, path) as Mutable | undefined;
    const known = object === undefined ? undefined : this.#input.get(object);
    if (object === undefined || known === undefined) {
      // A short form that the codec expanded.
      this.#dropItem(document, path, names.map(reasonOf).join('; '));
      return;
    }
    for (const name of names) {
      const key = known.names.get(name) ?? name;
      const input = isJsonObject(known.value) ? (known.value[key] ?? null) : null;
      const at = [...known.path, key];
      if (isEmpty(input)) this.#account.moveToIgnored(input, at, 'is empty');
      else this.#account.moveAside(fileOf(known.path, key), at, input, reasonOf(name));
      delete object[name];
    }
  }

  /** Sets aside the later of two equal items of a list. */
  #dropDuplicate(document: Mutable, path: LeafPath, reason: string): boolean {
    const list = valueAt(document, path);
    if (!isJsonArray(list)) return false;
    const seen = new Set<string>();
    for (const [i, item] of list.entries()) {
      const identity = identityOf(item);
      if (identity !== undefined && seen.has(identity) && this.#dropAt(list, i, reason)) return true;
      if (identity !== undefined) seen.add(identity);
    }
    return false;
  }

  /** @returns `false` if the original place of the item is unknown */
  #dropAt(list: readonly Json[], at: number, reason: string): boolean {
    const places = this.#items.get(list);
    const known = places?.[at];
    if (places === undefined || known === undefined) return false;
    this.#account.moveAside(fileOf(known.path.slice(0, -1), undefined), known.path, known.value, reason);
    (list as Json[]).splice(at, 1);
    places.splice(at, 1);
    this.#places += 1;
    return true;
  }

  /** Sets aside one setting of a source and keeps the source. Elsewhere a member may be what narrows a permission. */
  #dropSetting(document: Mutable, path: LeafPath, reason: string): boolean {
    if (path[0] !== 'sources' || !SETTINGS.has(path[2] as string)) return false;
    for (let length = path.length; length > 3; length--) {
      const key = path[length - 1];
      const object = valueAt(document, path.slice(0, length - 1));
      if (typeof key !== 'string' || !isJsonObject(object) || !Object.hasOwn(object, key)) continue;
      const known = this.#input.get(object);
      if (known === undefined) continue;
      const from = known.names.get(key) ?? key;
      this.#account.moveAside(
        fileOf(known.path, from),
        [...known.path, from],
        isJsonObject(known.value) ? (known.value[from] ?? null) : null,
        reason,
      );
      delete (object as Mutable)[key];
      this.#places += 1;
      return true;
    }
    return false;
  }

  /** Sets aside the smallest item of a list, or otherwise member of the document, that contains an invalid place. */
  #dropItem(document: Mutable, path: LeafPath, reason: string): void {
    if (this.#dropDuplicate(document, path, reason) || this.#dropSetting(document, path, reason)) return;
    // A part of a rule may be what narrows it, so the whole permission is set aside.
    const permission = path.indexOf('permission');
    for (let length = permission > 0 ? permission : path.length; length > 0; length--) {
      const list = valueAt(document, path.slice(0, length - 1));
      if (!isJsonArray(list)) continue;
      const at = path[length - 1] as number;
      if (!isJsonObject(list[at]) && !isNamedList(path[length - 2])) continue;
      if (this.#dropAt(list, at, reason)) return;
    }
    const [key] = path;
    const known = this.#input.get(document);
    if (typeof key !== 'string' || !Object.hasOwn(document, key) || known === undefined)
      throw new Error(`the metadata cannot be read: ${reason}`);
    const from = known.names.get(key) ?? key;
    this.#account.moveAside(fileOf([], from), [from], isJsonObject(known.value) ? (known.value[from] ?? null) : null, reason);
    delete document[key];
    this.#places += 1;
    if (key === 'sources') document['sources'] = [];
  }
}

function valueAt(value: Json, path: LeafPath): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path) {
    if (isJsonArray(current)) current = current[key as number];
    else if (isJsonObject(current)) current = current[key];
    else return undefined;
  }
  return current;
}

function inSourceList(key: string, path: LeafPath): boolean {
  return path.length === 2 && path[0] === 'sources' && (key === 'tables' || key === 'functions');
}

function isEmpty(value: Json): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value).every((item) => isEmpty(item as Json));
}

/** Returns the file for a part that is set aside. */
function fileOf(path: LeafPath, key: string | undefined): string {
  const section = path[0] ?? key ?? 'metadata';
  return `${String(section).replace(/[^\w-]+/g, '_')}.yaml`;
}

function renamedKey(key: string, path: LeafPath): string {
  if (key === 'apollo_federation_config' && path.at(-2) === 'tables') return 'ext_federation_config';
  if (key === 'hasura_fields') return 'svc_fields';
  return key;
}

const TRACKED: ReadonlySet<string | number> = new Set([
  'sources',
  'tables',
  'functions',
  'remote_schemas',
  'actions',
  'query_collections',
  'cron_triggers',
]);
/** Lists of named objects, whose items can be set aside one by one. In other lists an item may narrow the rest. */
const NAMED_LISTS: ReadonlySet<string | number> = new Set([
  ...TRACKED,
  ...['insert', 'select', 'update', 'delete'].map((verb) => `${verb}_permissions`),
  ...['object', 'array', 'remote'].map((kind) => `${kind}_relationships`),
  ...['computed_fields', 'event_triggers', 'rest_endpoints', 'allowlist', 'inherited_roles', 'queries', 'permissions', 'headers'],
]);

function isNamedList(key: string | number | undefined): boolean {
  return key !== undefined && NAMED_LISTS.has(key);
}

const SETTINGS: ReadonlySet<string | number> = new Set(['configuration', 'customization', 'health_check']);
const RULES: ReadonlySet<string | number> = new Set(['filter', 'check', 'set']);
const TRANSFORMS: ReadonlySet<string | number> = new Set(['request_transform', 'response_transform']);

function meaningOf(path: LeafPath): Meaning {
  const key = path.at(-1);
  const permission = path.indexOf('permission');
  if (permission > 0 && RULES.has(path[permission + 1] as string)) return 'session';
  if (path[0] === 'api_limits' && path.includes('unique_params')) return 'session';
  if (path.at(-2) === 'add_headers') return 'added-header';
  if (path.some((step) => TRANSFORMS.has(step))) return 'template';
  if (path[0] === 'remote_schemas' && key === 'schema' && path.includes('permissions')) return 'role-sdl';
  if (path[0] === 'query_collections' && key === 'query') return 'query';
  if (key === 'name' && path.at(-3) === 'headers') return 'header-name';
  if (path[0] === 'sources' && path.length === 3 && key === 'kind') return 'kind';
  if (key === 'naming_convention') return 'convention';
  if (key === 'from_env') return path.includes('connection_info') || path.includes('read_replicas') ? 'database-env' : 'other-env';
  if (typeof key === 'string' && key.endsWith('_from_env')) return 'other-env';
  return 'plain';
}
