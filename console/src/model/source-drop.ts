/** What takes back that a source was dropped: its own entry, and what of others led to it. */
import { DEFAULT_KIND } from './kinds.generated.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import type { Step } from './steps.ts';
import { membersOf, type TableAddress, tableSteps } from './table-entry.ts';

export interface SourceDrop {
  /** Tables of other sources with relationships that lead to it. */
  readonly tables: readonly TableAddress[];
  /** Names of remote schemas with such relationships. */
  readonly remoteSchemas: readonly string[];
  /** Whether types of actions have such relationships. */
  readonly isOfTypes: boolean;
  /** What adds all of it again. */
  readonly inverse: readonly Step[];
}

const SETTINGS = new Set(['name', 'kind', 'configuration', 'customization', 'health_check', 'query_tags', 'tables', 'functions']);
/** What has to be there before other things name it, by the ends of operations; what is in none comes last. */
const ORDER = [
  /_add_source$|^set_query_tags$/,
  /_track_table$/,
  /_set_table_is_enum$|_set_ext_federation_config$|_track_function$/,
  /_create_(?:object|array)_relationship$|_add_computed_field$/,
  /_create_remote_relationship$/,
  /_permission$/,
];

/**
 * @param metadata the whole document, which has the source
 * @throws Error where something of it cannot be added by operations
 */
export function sourceDrop(metadata: JsonObject, name: string): SourceDrop {
  const sources = objects(metadata['sources']);
  const entry = sources.find((source) => source['name'] === name);
  if (entry === undefined) throw new Error(`There is no source ${name} any more.`);
  const elsewhere = sources
    .filter((source) => source !== entry)
    .flatMap((source) =>
      objects(source['tables']).flatMap((table) => {
        const leading = membersOf(table, 'remote_relationships').filter((each) => leadsTo(each['definition'], name));
        const address = { source: String(source['name']), kind: kindOf(source), table: table['table'] ?? null };
        return leading.length === 0 ? [] : [{ address, leading }];
      }),
    );
  const remotes = objects(metadata['remote_schemas']).flatMap((remote) => {
    const leading = objects(remote['remote_relationships']).flatMap(({ type_name: type = '', relationships }) =>
      objects(relationships)
        .filter((each) => leadsTo(each['definition'], name))
        .map((each): JsonObject => ({ remote_schema: remote['name'] ?? '', type_name: type, ...each })),
    );
    return leading.length === 0 ? [] : [{ name: String(remote['name']), leading }];
  });
  const types = isObject(metadata['custom_types']) ? metadata['custom_types'] : {};
  const isOfTypes = objects(types['objects']).some(({ relationships }) =>
    objects(relationships).some(
      (each) => leadsTo(each['definition'], name) || (each['definition'] === undefined && sourceOf(each) === name),
    ),
  );
  return {
    tables: elsewhere.map(({ address }) => address),
    remoteSchemas: remotes.map((remote) => remote.name),
    isOfTypes,
    inverse: [
      ...ownSteps(entry, name),
      ...elsewhere.flatMap(({ address: { source, kind, table }, leading }) =>
        leading.map((each): Step => ({ type: `${kind}_create_remote_relationship`, args: { source, table, ...each } })),
      ),
      ...remotes.flatMap(({ leading }) => leading.map((args): Step => ({ type: 'create_remote_schema_remote_relationship', args }))),
      ...(isOfTypes ? [{ type: 'set_custom_types', args: types }] : []),
    ],
  };
}

function ownSteps(entry: JsonObject, name: string): readonly Step[] {
  const kind = kindOf(entry);
  const { configuration = {}, customization, health_check: health, query_tags: tags } = entry;
  const unknown = Object.keys(entry).find((key) => !SETTINGS.has(key));
  if (unknown !== undefined) throw new Error(`"${unknown}" of ${name} cannot be added again`);
  const steps: Step[] = [
    {
      type: `${kind}_add_source`,
      args: {
        name,
        configuration,
        ...(customization === undefined ? {} : { customization }),
        ...(health === undefined ? {} : { health_check: health }),
      },
    },
    ...(isObject(tags) ? [{ type: 'set_query_tags', args: { source_name: name, ...tags } }] : []),
    ...objects(entry['tables']).flatMap((table) => tableSteps({ source: name, kind, table: table['table'] ?? null }, null, table)),
    ...objects(entry['functions']).flatMap((tracked) => functionSteps(name, kind, tracked)),
  ];
  const rank = ({ type }: Step): number => {
    const at = ORDER.findIndex((pattern) => pattern.test(type));
    return at < 0 ? ORDER.length : at;
  };
  return steps.toSorted((a, b) => rank(a) - rank(b));
}

/** What tracks a function as its entry in the metadata says, and lets roles call it. */
export function functionSteps(source: string, kind: string, { permissions, ...tracked }: JsonObject): readonly Step[] {
  return [
    { type: `${kind}_track_function`, args: { source, ...tracked } },
    ...objects(permissions).map(
      ({ role = '' }): Step => ({
        type: `${kind}_create_function_permission`,
        args: { source, function: tracked['function'] ?? null, role },
      }),
    ),
  ];
}

function leadsTo(definition: Json | undefined, source: string): boolean {
  const to = isObject(definition) ? definition['to_source'] : undefined;
  return isObject(to) && sourceOf(to) === source;
}

function sourceOf({ source = 'default' }: JsonObject): Json {
  return source;
}

function kindOf({ kind }: JsonObject): string {
  return typeof kind === 'string' ? kind : DEFAULT_KIND;
}

function objects(json: Json | undefined): readonly JsonObject[] {
  return isList(json) ? json.filter(isObject) : [];
}
