/** Metadata of a version 1 project without a metadata file, built from the API calls of its migrations. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { canonical } from '../project/directory/sections.ts';

export interface ApiCall {
  readonly type: string;
  readonly args: Json;
}

/** Returns the calls of a migration in order, with `bulk` expanded. @param calls of bounded depth */
export function flatCalls(calls: Json): readonly ApiCall[] {
  if (isJsonArray(calls)) return calls.flatMap(flatCalls);
  if (!isJsonObject(calls)) return [];
  const { type, args = null } = calls;
  if (type === 'bulk') return flatCalls(args);
  return [{ type: String(type), args }];
}

type Entry = Record<string, Json>;
/** Lists of the document by key; the second column of the tables below names the key that identifies an item. */
type Lists = Record<string, Entry[]>;

const isSame = (a: Json | undefined, b: Json | undefined): boolean => canonical(qualified(a ?? null)) === canonical(qualified(b ?? null));

function qualified(name: Json): Json {
  return typeof name === 'string' ? { schema: 'public', name } : name;
}

function put(list: Entry[], key: string, entry: Entry): void {
  const at = list.findIndex((each) => each[key] === entry[key]);
  if (at < 0) list.push(entry);
  else list[at] = entry;
}

function listOf(entry: Entry, key: string): Entry[] {
  const known = entry[key];
  if (isJsonArray(known)) return known as Entry[];
  const list: Entry[] = [];
  entry[key] = list;
  return list;
}

function drop(list: Entry[], isDropped: (entry: Entry) => boolean): void {
  for (let i = list.length - 1; i >= 0; i--) if (isDropped(list[i] as Entry)) list.splice(i, 1);
}

/** Calls that add an item to a list of a table: the list, the key of the item, and the calls that remove it. */
const IN_TABLES: Readonly<Record<string, readonly [list: string, key: string, drops: string]>> = {
  create_object_relationship: ['object_relationships', 'name', 'drop_relationship'],
  create_array_relationship: ['array_relationships', 'name', 'drop_relationship'],
  create_insert_permission: ['insert_permissions', 'role', 'drop_insert_permission'],
  create_select_permission: ['select_permissions', 'role', 'drop_select_permission'],
  create_update_permission: ['update_permissions', 'role', 'drop_update_permission'],
  create_delete_permission: ['delete_permissions', 'role', 'drop_delete_permission'],
  add_computed_field: ['computed_fields', 'name', 'drop_computed_field'],
  create_event_trigger: ['event_triggers', 'name', 'delete_event_trigger'],
  create_remote_relationship: ['remote_relationships', 'name', 'delete_remote_relationship'],
};

/** Calls that add an item to a list of the document. */
const IN_DOCUMENT: Readonly<Record<string, readonly [list: string, key: string, drops: string]>> = {
  add_remote_schema: ['remote_schemas', 'name', 'remove_remote_schema'],
  create_query_collection: ['query_collections', 'name', 'drop_query_collection'],
  add_collection_to_allowlist: ['allowlist', 'collection', 'drop_collection_from_allowlist'],
  create_action: ['actions', 'name', 'drop_action'],
  create_cron_trigger: ['cron_triggers', 'name', 'delete_cron_trigger'],
};

/** Calls that do not change metadata. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'reload_metadata',
  'reload_remote_schema',
  'export_metadata',
  'create_scheduled_event',
]);

/** Applies calls in order. */
export class MetadataOfCalls {
  #tables: Entry[] = [];
  #functions: Entry[] = [];
  #lists: Lists = {};
  #others: Entry = {};
  /** Types of calls that were ignored. */
  readonly unknown = new Set<string>();

  apply({ type, args: rawArgs }: ApiCall): void {
    if (/(?:^|_)run_sql$/.test(type) || WITHOUT_EFFECT.has(type)) return;
    const args: Entry = isJsonObject(rawArgs) ? { ...rawArgs } : { name: rawArgs };
    if (type === 'clear_metadata' || type === 'replace_metadata') this.#reset(type === 'clear_metadata' ? {} : args);
    else if (type === 'set_custom_types') this.#others['custom_types'] = args;
    else if (!this.#applyToTable(type, args, rawArgs) && !this.#applyToDocument(type, args)) this.unknown.add(type);
  }

  /** Returns the document, in version 2. */
  document(): JsonObject {
    const lists = Object.entries(this.#lists).filter(([, list]) => list.length > 0);
    const tables = this.#tables.map((table) =>
      Object.fromEntries(Object.entries(table).filter(([, value]) => !isJsonArray(value) || value.length > 0)),
    );
    return { version: 2, tables, functions: this.#functions, ...Object.fromEntries(lists), ...this.#others };
  }

  #reset({ tables, functions, ...rest }: Entry): void {
    const entries = (value: Json | undefined): Entry[] =>
      isJsonArray(value) ? value.filter(isJsonObject).map((item) => structuredClone(item) as Entry) : [];
    this.#tables = entries(tables).map((table) => (table['table'] === undefined ? { table } : table));
    this.#functions = entries(functions).map((entry) => (entry['function'] === undefined ? { function: entry } : entry));
    this.#lists = {};
    this.#others = {};
    for (const [key, value] of Object.entries(rest))
      if (isJsonArray(value)) this.#lists[key] = entries(value);
      else if (key !== 'version') this.#others[key] = value;
  }

  #table(name: Json | undefined): Entry | undefined {
    return this.#tables.find(({ table }) => isSame(table, name));
  }

  #applyToTable(type: string, args: Entry, rawArgs: Json): boolean {
    switch (type) {
      case 'track_table':
      case 'add_existing_table_or_view': {
        const table = args['table'] ?? rawArgs;
        if (this.#table(table) !== undefined) return true;
        const { configuration, is_enum: isEnum } = args;
        this.#tables.push({
          table: qualified(table),
          ...(isEnum === true ? { is_enum: true } : {}),
          ...(configuration === undefined ? {} : { configuration }),
        });
        return true;
      }
      case 'untrack_table':
        drop(this.#tables, ({ table }) => isSame(table, args['table'] ?? rawArgs));
        return true;
      case 'track_function': {
        const name = args['function'] ?? rawArgs;
        const { configuration } = args;
        drop(this.#functions, (entry) => isSame(entry['function'], name));
        this.#functions.push({ function: qualified(name), ...(configuration === undefined ? {} : { configuration }) });
        return true;
      }
      case 'untrack_function':
        drop(this.#functions, (entry) => isSame(entry['function'], args['function'] ?? rawArgs));
        return true;
      case 'delete_event_trigger':
        for (const table of this.#tables) drop(listOf(table, 'event_triggers'), ({ name }) => name === args['name']);
        return true;
      default:
        return this.#applyInTable(type, args);
    }
  }

  #applyInTable(type: string, args: Entry): boolean {
    const table = this.#table(args['table']);
    const { table: _, ...entry } = args;
    const added = IN_TABLES[type];
    const dropped = Object.values(IN_TABLES).filter(([, , drops]) => drops === type);
    const isKnown =
      added !== undefined ||
      dropped.length > 0 ||
      ['rename_relationship', 'set_table_is_enum', 'set_table_custom_fields', 'set_table_customization'].includes(type);
    if (!isKnown || table === undefined) return isKnown;
    if (added !== undefined) {
      const [list, key] = added;
      put(
        listOf(table, list),
        key,
        list === 'event_triggers' ? eventTrigger(entry) : list === 'remote_relationships' ? remoteRelationship(entry) : entry,
      );
    }
    for (const [list, key] of dropped) drop(listOf(table, list), (item) => item[key] === (args[key] ?? args['relationship']));
    if (type === 'rename_relationship')
      for (const list of ['object_relationships', 'array_relationships'])
        for (const item of listOf(table, list)) if (item['name'] === args['name']) item['name'] = args['new_name'] ?? null;
    if (type === 'set_table_is_enum') table['is_enum'] = args['is_enum'] === true;
    if (type === 'set_table_customization') table['configuration'] = args['configuration'] ?? {};
    if (type === 'set_table_custom_fields')
      table['configuration'] = {
        custom_root_fields: args['custom_root_fields'] ?? {},
        custom_column_names: args['custom_column_names'] ?? {},
      };
    return true;
  }

  #applyToDocument(type: string, args: Entry): boolean {
    const list = (name: string): Entry[] => {
      const known = this.#lists[name] ?? [];
      this.#lists[name] = known;
      return known;
    };
    const added = IN_DOCUMENT[type];
    if (added !== undefined) put(list(added[0]), added[1], args);
    const dropped = Object.values(IN_DOCUMENT).find(([, , drops]) => drops === type);
    if (dropped !== undefined)
      drop(list(dropped[0]), (item) => item[dropped[1]] === (args[dropped[1]] ?? args['name'] ?? args['collection']));
    if (added !== undefined || dropped !== undefined) return true;
    const named = (name: string, value: Json | undefined): Entry | undefined => list(name).find((item) => item['name'] === value);
    switch (type) {
      case 'update_action': {
        const action = named('actions', args['name']);
        if (action !== undefined) Object.assign(action, args);
        return true;
      }
      case 'create_action_permission':
      case 'drop_action_permission': {
        const action = named('actions', args['action']);
        if (action === undefined) return true;
        const permissions = listOf(action, 'permissions');
        drop(permissions, ({ role }) => role === args['role']);
        if (type === 'create_action_permission') permissions.push({ role: args['role'] ?? null });
        return true;
      }
      case 'add_query_to_collection':
      case 'drop_query_from_collection': {
        const collection = named('query_collections', args['collection_name']);
        const definition = isJsonObject(collection?.['definition']) ? (collection['definition'] as Entry) : undefined;
        if (definition === undefined) return true;
        const queries = listOf(definition, 'queries');
        drop(queries, ({ name }) => name === args['query_name']);
        if (type === 'add_query_to_collection') queries.push({ name: args['query_name'] ?? null, query: args['query'] ?? null });
        return true;
      }
      default:
        return false;
    }
  }
}

/** Returns an event trigger in the form of documents. */
function eventTrigger({
  name = null,
  webhook,
  webhook_from_env,
  headers,
  retry_conf,
  insert,
  update,
  delete: removal,
  enable_manual,
}: Entry): Entry {
  const present = (entry: Readonly<Record<string, Json | undefined>>): Entry =>
    Object.fromEntries(Object.entries(entry).filter((pair): pair is [string, Json] => pair[1] !== undefined && pair[1] !== null));
  return present({
    name,
    definition: present({ enable_manual: enable_manual ?? false, insert, update, delete: removal }),
    retry_conf,
    webhook,
    webhook_from_env,
    headers,
  });
}

function remoteRelationship({ name = null, ...definition }: Entry): Entry {
  return { name, definition };
}
