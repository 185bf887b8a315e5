/** Undo of dropping a source: its own entry, and the relationships of other objects that lead to it. */
import { DEFAULT_KIND } from './kinds.generated.ts';
import { isObject, type Json, type JsonObject, objectOf, objectsIn } from './json.ts';
import type { Step } from './steps.ts';
import { membersOf, type TableAddress, tableSteps } from './table-entry.ts';

export interface SourceDrop {
  /** Tables of other sources with relationships to it. */
  readonly tables: readonly TableAddress[];
  /** Names of remote schemas with such relationships. */
  readonly remoteSchemas: readonly string[];
  /** True if types of actions have such relationships. */
  readonly affectsTypes: boolean;
  /** Steps that add everything again. */
  readonly inverse: readonly Step[];
}

const SETTINGS = new Set(['name', 'kind', 'configuration', 'customization', 'health_check', 'query_tags', 'tables', 'functions']);
/** Order of the steps by their operation, since later ones refer to earlier ones; all others come last. */
const ORDER = [
  /_add_source$|^set_query_tags$/,
  /_track_table$/,
  /_set_table_is_enum$|_set_ext_federation_config$|_track_function$/,
  /_create_(?:object|array)_relationship$|_add_computed_field$/,
  /_create_remote_relationship$/,
  /_permission$/,
];

/**
 * @param metadata the whole document before the drop
 * @throws Error if operations cannot add all of it again
 */
export function sourceDrop(metadata: JsonObject, name: string): SourceDrop {
  const sources = objectsIn(metadata['sources']);
  const entry = sources.find((source) => source['name'] === name);
  if (entry === undefined) throw new Error(`The source ${name} no longer exists.`);
  const others = sources
    .filter((source) => source !== entry)
    .flatMap((source) =>
      objectsIn(source['tables']).flatMap((table) => {
        const leading = membersOf(table, 'remote_relationships').filter((each) => leadsTo(each['definition'], name));
        const address = { source: String(source['name']), kind: kindOf(source), table: table['table'] ?? null };
        return leading.length === 0 ? [] : [{ address, leading }];
      }),
    );
  const remotes = objectsIn(metadata['remote_schemas']).flatMap((remote) => {
    const leading = objectsIn(remote['remote_relationships']).flatMap(({ type_name: type = '', relationships }) =>
      objectsIn(relationships)
        .filter((each) => leadsTo(each['definition'], name))
        .map((each): JsonObject => ({ remote_schema: remote['name'] ?? '', type_name: type, ...each })),
    );
    return leading.length === 0 ? [] : [{ name: String(remote['name']), leading }];
  });
  const types = objectOf(metadata['custom_types']);
  const affectsTypes = objectsIn(types['objects']).some(({ relationships }) =>
    objectsIn(relationships).some(
      (each) => leadsTo(each['definition'], name) || (each['definition'] === undefined && sourceOf(each) === name),
    ),
  );
  return {
    tables: others.map(({ address }) => address),
    remoteSchemas: remotes.map((remote) => remote.name),
    affectsTypes,
    inverse: [
      ...ownSteps(entry, name),
      ...others.flatMap(({ address: { source, kind, table }, leading }) =>
        leading.map((each): Step => ({ type: `${kind}_create_remote_relationship`, args: { source, table, ...each } })),
      ),
      ...remotes.flatMap(({ leading }) => leading.map((args): Step => ({ type: 'create_remote_schema_remote_relationship', args }))),
      ...(affectsTypes ? [{ type: 'set_custom_types', args: types }] : []),
    ],
  };
}

function ownSteps(entry: JsonObject, name: string): readonly Step[] {
  const kind = kindOf(entry);
  const { configuration = {}, customization, health_check: health, query_tags: tags } = entry;
  const unknown = Object.keys(entry).find((key) => !SETTINGS.has(key));
  if (unknown !== undefined) throw new Error(`"${unknown}" of ${name} cannot be restored`);
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
    ...objectsIn(entry['tables']).flatMap((table) => tableSteps({ source: name, kind, table: table['table'] ?? null }, null, table)),
    ...objectsIn(entry['functions']).flatMap((tracked) => functionSteps(name, kind, tracked)),
  ];
  const rank = ({ type }: Step): number => {
    const at = ORDER.findIndex((pattern) => pattern.test(type));
    return at < 0 ? ORDER.length : at;
  };
  return steps.toSorted((a, b) => rank(a) - rank(b));
}

/** Steps that track a function with its permissions, from its entry in the metadata. */
export function functionSteps(source: string, kind: string, { permissions, ...tracked }: JsonObject): readonly Step[] {
  return [
    { type: `${kind}_track_function`, args: { source, ...tracked } },
    ...objectsIn(permissions).map(
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
