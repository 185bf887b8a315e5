/** Objects that do not fit, as `get_inconsistent_metadata` lists them, and where the console shows each. */
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import { labelOf } from './steps.ts';

export interface InconsistentObject {
  /** As the service names it, such as `table person in source default`. */
  readonly name: string;
  readonly type: string;
  readonly definition: Json;
  /** Undefined where the console has no page of such objects. */
  readonly place: ObjectPlace | undefined;
}

export interface InconsistentRecord {
  readonly reason: string;
  /** One; several, where they exclude each other. */
  readonly objects: readonly InconsistentObject[];
}

/** A route, as links take it. */
export interface ObjectPlace {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** The sources, with the schema that names without one are of. */
type Sources = readonly { readonly name: string; readonly defaultSchema: string }[];

const PERMISSION = /^(select|insert|update|delete)_permission$/;
/** The tab of a table where objects of it are. */
const TABLE_TABS: Readonly<Record<string, string>> = {
  object_relation: 'relationships',
  array_relation: 'relationships',
  remote_relationship: 'relationships',
  computed_field: 'fields',
};

/** Reads a record. @param sources those that there are: names of some objects say which one they are of */
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
      // A key of a table, or of its source, that nobody knows.
      return parts['table'] === undefined ? ofSource() : ofTable(parts['table'], { tab: 'json' });
  }
}

/** The source that a name ends with; the longest, where one is the end of another. */
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
