/** Inconsistent objects from `get_inconsistent_metadata`, with the page of the console that shows each. */
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import { labelOf } from './steps.ts';

export interface InconsistentObject {
  /** Name from the service, such as `table person in source default`. */
  readonly name: string;
  readonly type: string;
  readonly definition: Json;
  /** Undefined if the console has no page for such objects. */
  readonly place: ObjectPlace | undefined;
}

export interface InconsistentRecord {
  readonly reason: string;
  /** One object, or several that exclude each other. */
  readonly objects: readonly InconsistentObject[];
}

/** A route of the console. */
export interface ObjectPlace {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** The sources, with the schema of names without one. */
type Sources = readonly { readonly name: string; readonly defaultSchema: string }[];

const PERMISSION = /^(select|insert|update|delete)_permission$/;
/** Tab of the table page for each type of object. */
const TABLE_TABS: Readonly<Record<string, string>> = {
  object_relation: 'relationships',
  array_relation: 'relationships',
  remote_relationship: 'relationships',
  computed_field: 'fields',
};

/** Reads a record. @param sources all sources; the names of some objects end with their source */
export function readInconsistency(record: JsonObject, sources: Sources): InconsistentRecord {
  const { reason, objects } = record;
  const members = isList(objects) ? objects.filter(isObject) : [record];
  return {
    reason: String(reason ?? ''),
    objects: members.map(({ type = '', name = type, definition = null }) => ({
      name: String(name),
      type: String(type),
      definition,
      place: placeOf(String(type), String(name), definition, sources),
    })),
  };
}

function placeOf(type: string, name: string, definition: Json, sources: Sources): ObjectPlace | undefined {
  const parts = isObject(definition) ? definition : {};
  const source = typeof parts['source'] === 'string' ? parts['source'] : sourceIn(name, sources);
  const ofSource = (query: Readonly<Record<string, string>> = {}): ObjectPlace | undefined =>
    source === undefined ? undefined : { path: ['data', source], query };
  const ofTable = (table: Json | undefined, query: Readonly<Record<string, string>>): ObjectPlace | undefined =>
    source === undefined || table === undefined || table === null
      ? undefined
      : { path: ['data', source, labelOf(withSchema(table, source, sources))], query };
  const permission = PERMISSION.exec(type);
  if (permission !== null)
    return ofTable(parts['table'], { tab: 'permissions', role: String(parts['role']), operation: permission[1] ?? '' });
  const tab = TABLE_TABS[type];
  if (tab !== undefined) return ofTable(parts['table'], { tab });
  switch (type) {
    case 'source':
      return { path: ['data', String(definition)], query: {} };
    case 'table':
      return ofTable(definition, { tab: 'json' });
    case 'event_trigger': {
      const { configuration } = parts;
      if (!isObject(configuration) || source === undefined) return undefined;
      return { path: ['events', 'triggers', source, String(configuration['name'])], query: {} };
    }
    case 'function':
    case 'function_permission':
      return ofSource({ tab: 'functions' });
    case 'remote_schema':
    case 'remote_schema_permission':
    case 'remote_schema_remote_relationship':
      return { path: ['remote-schemas'], query: {} };
    case 'action':
      return { path: ['actions', String(parts['name'])], query: {} };
    case 'action_permission':
      return { path: ['actions', String(parts['action'])], query: { tab: 'permissions' } };
    case 'custom_types':
      return { path: ['actions'], query: { tab: 'types' } };
    case 'cron_trigger':
      return { path: ['events', 'cron'], query: {} };
    case 'inherited_role':
      return { path: ['settings'], query: { tab: 'roles' } };
    case 'rest_endpoint':
      return { path: ['settings'], query: { tab: 'rest' } };
    default:
      // An unknown key of a table or of its source.
      return parts['table'] === undefined ? ofSource() : ofTable(parts['table'], { tab: 'json' });
  }
}

/** Returns the source that a name ends with, the longest one if several match. */
function sourceIn(name: string, sources: Sources): string | undefined {
  return sources
    .map((source) => source.name)
    .filter((source) => name.endsWith(` in source ${source}`))
    .reduce<string | undefined>(
      (longest, source) => (longest === undefined || source.length > longest.length ? source : longest),
      undefined,
    );
}

function withSchema(table: Json, source: string, sources: Sources): Json {
  if (typeof table !== 'string') return table;
  return { schema: sources.find(({ name }) => name === source)?.defaultSchema ?? '', name: table };
}
