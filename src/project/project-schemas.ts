/** JSON Schemas of the YAML files of a project, one per kind of file. Editors check and complete the files by them, without a network. */
import { list, object, optional, type TypeDescription } from '../metadata/codec.ts';
import { functionCodec } from '../metadata/function.ts';
import type { KindCodecs, Kinds } from '../metadata/kinds.ts';
import { entryCodecs } from '../metadata/metadata.ts';
import { DEFAULT_SOURCE_KIND, sourceFields, sourceHead } from '../metadata/source.ts';
import { tableCodec } from '../metadata/table.ts';
import type { JsonObject } from '../util/json.ts';
import { SECTIONS } from './directory/sections.ts';
import { listOf, SchemaFile } from './json-schema.ts';
import { API_PATHS, CONFIG_KEYS, STAGE_KEYS } from './project.ts';

/** Folder of the schemas in a project. */
export const SCHEMAS_FOLDER = 'json-schemas';

const LISTS: Readonly<Record<string, TypeDescription>> = {
  remote_schemas: entryCodecs.remoteSchema,
  query_collections: entryCodecs.queryCollection,
  allowlist: entryCodecs.allowListEntry,
  cron_triggers: entryCodecs.cronTrigger,
  rest_endpoints: entryCodecs.restEndpoint,
  inherited_roles: entryCodecs.inheritedRole,
};
const OBJECTS: Readonly<Record<string, TypeDescription>> = {
  api_limits: entryCodecs.apiLimits,
  graphql_schema_introspection: entryCodecs.introspection,
  network: entryCodecs.network,
  opentelemetry: entryCodecs.openTelemetry,
};

/** Returns the schemas by the names of their files in the folder of schemas. */
export function projectSchemas(kinds: Kinds<KindCodecs>): ReadonlyMap<string, JsonObject> {
  const schemas = new Map<string, JsonObject>([
    ['config.json', configSchema()],
    ['permission_tests.json', permissionTestsSchema()],
    ['databases.json', sourcesSchema(kinds)],
    ['actions.json', actionsSchema()],
  ]);
  for (const { file, key } of SECTIONS) {
    const name = file.replace(/\.yaml$/, '.json');
    const schema = new SchemaFile();
    const [item, whole] = [LISTS[key], OBJECTS[key]];
    if (item !== undefined) schemas.set(name, schema.complete(file, listOf(schema.of(item))));
    // An empty section may lack required keys.
    if (whole !== undefined) schemas.set(name, schema.complete(file, { anyOf: [{ type: 'object', maxProperties: 0 }, schema.of(whole)] }));
  }
  for (const codecs of kinds.all) {
    for (const [part, codec] of [
      ['table', tableCodec(codecs)],
      ['function', functionCodec(codecs)],
    ] as const) {
      const schema = new SchemaFile();
      const name = partFile(part, codecs.kind);
      schemas.set(name, schema.complete(`A ${part} of a source of kind ${codecs.kind}`, schema.of(codec)));
      const title = `The ${part}s of a source of kind ${codecs.kind}`;
      schemas.set(partFile(`${part}s`, codecs.kind), new SchemaFile().complete(title, listOf({ $ref: name })));
    }
  }
  return schemas;
}

/** Returns the file of the schema of a part of a source: `table.json`, or with the kind if that is not the default. */
function partFile(part: string, kind: string): string {
  return kind === DEFAULT_SOURCE_KIND ? `${part}.json` : `${part}-${kind}.json`;
}

/**
 * Returns the file of the schema of a metadata file; `undefined` if it has none.
 * @param file path below the metadata folder
 * @param kindOf returns the canonical kind of a source
 */
export function schemaOfFile(file: string, kindOf: (source: string) => string | undefined): string | undefined {
  if (file === 'actions.yaml' || file === 'databases/databases.yaml') return `${file.replace(/^.*\//, '').replace(/\.yaml$/, '')}.json`;
  const section = SECTIONS.find((each) => each.file === file);
  if (section !== undefined) return section.key in LISTS || section.key in OBJECTS ? file.replace(/\.yaml$/, '.json') : undefined;
  const match = /^databases\/([^/]+)\/(table|function)s\/([^/]+)\.yaml$/.exec(file);
  if (match === null) return undefined;
  const [, source = '', part = '', name] = match;
  const kind = kindOf(source);
  return kind === undefined ? undefined : partFile(name === `${part}s` ? `${part}s` : part, kind);
}

/** The keys of a source depend on its kind. */
function sourcesSchema(kinds: Kinds<KindCodecs>): JsonObject {
  const schema = new SchemaFile();
  const namesOf = ({ kind, aliases }: KindCodecs): readonly string[] => [kind, ...aliases];
  const cases = kinds.all.map((codecs): JsonObject => {
    const { fields } = object('SourceMetadata', { ...sourceHead(codecs), ...sourceFields(codecs) });
    const source = schema.object(fields);
    const properties: JsonObject = {
      ...(source['properties'] as JsonObject),
      kind: { enum: namesOf(codecs) },
      tables: listOf({ $ref: partFile('table', codecs.kind) }),
      functions: listOf({ $ref: partFile('function', codecs.kind) }),
    };
    const isDefault = codecs.kind === DEFAULT_SOURCE_KIND;
    return {
      if: { properties: { kind: { enum: namesOf(codecs) } }, ...(isDefault ? {} : { required: ['kind'] }) },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { type: ['object', 'string'], ...source, properties, required: ['name', 'tables', 'configuration'] },
    };
  });
  const kind = { enum: kinds.all.flatMap(namesOf) };
  return schema.complete('databases/databases.yaml', listOf({ properties: { kind }, allOf: cases }));
}

/** The signatures of actions, and the fields of types, are in actions.graphql. */
function actionsSchema(): JsonObject {
  const schema = new SchemaFile(true);
  const file = object('ActionsFile', { actions: optional(list(entryCodecs.action)), customTypes: optional(entryCodecs.customTypes) });
  return schema.complete('actions.yaml', schema.of(file));
}

const TEXT = { type: 'string' };
const SECRET = { anyOf: [TEXT, keysSchema(['from_env'], { from_env: TEXT })] };

function keysSchema(keys: readonly string[], known: JsonObject): JsonObject {
  return { type: 'object', properties: Object.fromEntries(keys.map((key) => [key, known[key] ?? {}])), additionalProperties: false };
}

function configSchema(): JsonObject {
  const overlays = { anyOf: [TEXT, { type: 'array', items: TEXT }] };
  const environment = keysSchema(STAGE_KEYS, { endpoint: TEXT, admin_secret: SECRET, overlays });
  const known: JsonObject = {
    version: { const: 3 },
    endpoint: TEXT,
    admin_secret: SECRET,
    insecure_skip_tls_verify: { type: 'boolean' },
    disable_interactive: { type: 'boolean' },
    metadata_directory: TEXT,
    migrations_directory: TEXT,
    seeds_directory: TEXT,
    metadata_file: TEXT,
    api_paths: keysSchema(API_PATHS, {}),
    environments: { type: 'object', additionalProperties: environment },
  };
  return new SchemaFile().complete('config.yaml', keysSchema(CONFIG_KEYS, known));
}

function permissionTestsSchema(): JsonObject {
  const as = keysSchema(['role', 'session', 'backend_only'], {
    role: TEXT,
    session: { type: 'object' },
    backend_only: { type: 'boolean' },
  });
  const test = keysSchema(['name', 'as', 'query', 'variables', 'expect'], { name: TEXT, as, query: TEXT, expect: { type: 'object' } });
  const tests = { type: 'array', items: test };
  const suite = keysSchema(['source', 'setup', 'teardown', 'tests'], { source: TEXT, setup: TEXT, teardown: TEXT, tests });
  const isList = { type: 'array' };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return new SchemaFile().complete('tests/permissions/*.yaml', { if: isList, then: tests, else: suite });
}
