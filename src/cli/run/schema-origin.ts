/** Sources of the schema for `svc schema`: a running service, or the files of a project with their databases. */
import { print } from 'graphql';
import type { MetadataSchema } from '../../app/metadata-schema.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import { ConfigError } from '../../config/config-error.ts';
import { loadConfig } from '../../config/load-config.ts';
import { cutSchema } from '../../graphql-engine/schema-cut/cut-schema.ts';
import type { Config } from '../../config/options.ts';
import { clusterFolder, provideDatabases } from '../../embedded-postgres/embedded-source.ts';
import { InUseError } from '../../embedded-postgres/owner-lock.ts';
import { hasCluster } from '../../embedded-postgres/place.ts';
import type { Observer } from '../../observability/observation.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { CONFIG_FILE, dataFolderOf, type Environment, type Project } from '../../project/project.ts';
import { environmentForFiles, isDatabaseAddress } from '../../project/sent-variables.ts';
import { shapeProblems } from '../../project/document.ts';
import { isRefused, remedyOf } from '../../project/endpoint-failure.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { exportFrom, inconsistenciesIn, listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { type Introspect, introspectionIn, type SchemaReader, schemaReader } from '../../project/role-schema/schema-reader.ts';
import { type ServerClient, ServerError } from '../../project/server-client.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf } from '../../util/json.ts';
import type { CommandContext } from '../context.ts';
import { rolesIn } from './known-names.ts';

export interface SchemaOrigin {
  readonly reader: SchemaReader;
  /** Inconsistent objects, which the schema lacks. */
  readonly problems: readonly Problem[];
  /** Roles in the metadata. */
  roles(): Promise<readonly string[]>;
}

export interface SchemaViewer {
  readonly role: string;
  readonly backendOnly: boolean;
  readonly api: SchemaApi;
}

/**
 * Chooses the service that the project names, or its files. Files whose embedded database is in use are read from the service that uses it.
 * @throws ProjectFailure
 */
export async function schemaOrigin(context: CommandContext, viewer: SchemaViewer): Promise<SchemaOrigin> {
  const { settings } = await context.anyProject();
  return settings.namesService ? serviceOrigin(context, viewer) : projectOrigin(context, viewer);
}

/** Reads the schema that a service answers with. @throws ProjectFailure */
async function serviceOrigin(context: CommandContext, { role, backendOnly, api }: SchemaViewer): Promise<SchemaOrigin> {
  const server = await context.server();
  const { settings } = await context.anyProject();
  const { graphql } = settings.paths;
  const path = api === 'relay' ? relayPath(graphql) : graphql;
  const headers = { 'x-svc-role': role, ...(backendOnly ? { 'x-svc-use-backend-only-permissions': 'true' } : {}) };
  const inconsistencies = await inconsistenciesOf(server, context);
  const partOf = inconsistencies === null || api === 'relay' ? null : roleSchema(server, { role, backend_only: backendOnly });
  const introspect: Introspect = async (query) => {
    const { status, body } = await server.send(path, { body: { query }, headers });
    if (isJsonObject(body) && isJsonObject(body['data'])) return body['data'];
    const { code, message } = errorOf(body);
    // Administrators may see what a role sees, even if its clients must not introspect.
    if (code === 'not-supported' && partOf !== null) return partOf({});
    const remedy =
      api === 'relay' && status === 404
        ? 'Start the service with --enable-relay=true'
        : (remedyOf(settings, { status, code, message }, `${server.endpoint}/${path}`) ?? introspectionRemedy(code));
    throw failure(
      code,
      `the service at ${server.endpoint} rejects the introspection of the role "${role}": ${message}${remedy === undefined ? '' : `. ${remedy}`}`,
      {},
      isRefused(status, code) ? EXIT.unreachable : EXIT.failed,
    );
  };
  return {
    reader: schemaReader(introspect, partOf === null ? null : cutByService(partOf)),
    problems: inconsistencies ?? [],
    roles: async () => rolesIn((await exportFrom(server)).metadata),
  };
}

/** @throws ProjectFailure for a path of which that of Relay is not known */
function relayPath(graphql: string): string {
  if (graphql.endsWith('graphql')) return graphql.replace(/graphql$/, 'relay');
  const message = `--relay replaces "graphql" at the end of api_paths.graphql, which is "${graphql}"`;
  throw failure('config', message, { file: CONFIG_FILE }, EXIT.usage);
}

/** Returns the schema of a role, or a part of it, by the metadata API. */
type RoleSchemaOperation = (args: JsonObject) => Promise<JsonObject>;

function roleSchema(server: ServerClient, viewer: JsonObject): RoleSchemaOperation {
  return async (args) => objectOf(await server.metadata('get_role_schema', { ...viewer, ...args }));
}

/** The service cuts the schema: a large one takes seconds to send. */
function cutByService(partOf: RoleSchemaOperation): SchemaReader['cut'] {
  return async (documents, inputDepth) => {
    const texts = documents.flatMap(({ definitions }) => definitions.map(print));
    const part = async (allMembers: boolean) =>
      introspectionIn(await partOf({ documents: texts, input_depth: inputDepth, all_members: allMembers }));
    return { cut: await part(false), forValidation: () => part(true) };
  };
}

/** Returns `null` for a service without the metadata API. */
async function inconsistenciesOf(server: ServerClient, context: CommandContext): Promise<readonly Problem[] | null> {
  try {
    return problemsOf(await listInconsistencies(server, null));
  } catch (thrown) {
    if (!(thrown instanceof ServerError) || thrown.status !== 404) throw thrown;
    context.warn(`${server.endpoint} has no metadata API, so inconsistent metadata would not be noticed`);
    return null;
  }
}

function errorOf(body: Json): { readonly code: string; readonly message: string } {
  const errors = isJsonObject(body) ? body['errors'] : undefined;
  const [first] = isJsonArray(errors) ? errors : [body];
  const error: JsonObject = first !== undefined && isJsonObject(first) ? first : {};
  const extensions = isJsonObject(error['extensions']) ? error['extensions'] : error;
  return { code: String(extensions['code'] ?? 'server'), message: String(error['message'] ?? error['error'] ?? 'the answer has no data') };
}

/** An introspection query contains nothing else that a service does not support. */
function introspectionRemedy(code: string): string | undefined {
  return code === 'not-supported' ? 'Without an endpoint, svc schema builds the schema from the files of the project' : undefined;
}

/** Builds the schema from the files of the project, on the databases that they name. @throws ProjectFailure */
async function projectOrigin(context: CommandContext, viewer: SchemaViewer): Promise<SchemaOrigin> {
  const { role, backendOnly, api } = viewer;
  const project = await context.project();
  const read = readMetadata(project.metadata);
  const found = shapeProblems(read, await context.kinds());
  if (found.length > 0) throw new ProjectFailure(found);
  const { openMetadataSchema } = await import('../../app/metadata-schema.ts');
  const { environment, withheld } = environmentForFiles(project, read.document);
  for (const name of withheld) context.warn(`${name} of the environment is not sent to an address of the project: write it to .env`);
  const observe: Observer = (observation) => {
    const { kind } = observation;
    if ((kind === 'source' || kind === 'remote-schema') && observation.event === 'unavailable')
      context.warn(`${kind === 'source' ? observation.source : observation.remoteSchema}: ${observation.message}`);
  };
  const variant = backendOnly ? 'backend' : 'frontend';
  const config = serviceConfig(project, environment, context.environment);
  const open = (opened: Config) => openMetadataSchema(read.document, { role, variant, api, config: opened, environment, observe });
  let schema: MetadataSchema;
  try {
    schema = await (needsEmbedded(config, read.document) ? onEmbedded(config, open) : open(config));
  } catch (thrown) {
    if (!(thrown instanceof InUseError)) throw thrown;
    const { endpoint } = project.settings;
    context.progress(
      `the embedded database of this folder is in use (process ${thrown.pid}), so the schema is read from the service at ${endpoint}`,
    );
    return serviceOrigin(context, viewer);
  }
  return {
    reader: readerOf(schema),
    problems: withHint(problemsOf(inconsistenciesIn(schema.inconsistencies, read)), schema.inconsistencies),
    roles: async () => rolesIn(read.document),
  };
}

/** Returns whether the database of the project is the embedded one that `svc dev` has left here. */
function needsEmbedded({ databaseUrl, metadataDatabaseUrl, dataDir }: Config, document: JsonObject): boolean {
  const isUnset = databaseUrl === null && metadataDatabaseUrl === null;
  return isUnset && isDatabaseAddress('SVC_GRAPHQL_DATABASE_URL', document) && hasCluster(clusterFolder(dataDir));
}

/** @throws InUseError if a service runs it */
async function onEmbedded<T>(config: Config, use: (config: Config) => Promise<T>): Promise<T> {
  const databases = await provideDatabases({ ...config, sampleData: false }, () => undefined);
  try {
    return await use({ ...config, ...databases });
  } finally {
    await databases.stop();
  }
}

function readerOf({ isEmpty, types }: MetadataSchema): SchemaReader {
  return {
    isEmpty: async () => isEmpty,
    whole: async () => ({ __schema: { ...types.head, types: await types.all() } }),
    cut: (documents, inputDepth) => cutSchema(types, documents, inputDepth),
  };
}

const FILES_OF_MACHINE = 'SVC_GRAPHQL_DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX';

/** Options that change schemas come from the variables of the service. @throws ProjectFailure */
function serviceConfig({ root }: Project, environment: Environment, ofProcess: Environment): Config {
  try {
    // Files of the machine are for the user to open, not for the .env of a project.
    const own = { [FILES_OF_MACHINE]: ofProcess[FILES_OF_MACHINE] };
    return loadConfig({ argv: ['serve'], environment: { ...dataFolderOf(root), ...environment, ...own } });
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw failure('config', thrown.message, {}, EXIT.usage);
    throw thrown;
  }
}

/** Adds what to do if a database cannot be read. */
function withHint(problems: readonly Problem[], records: readonly Json[]): readonly Problem[] {
  if (!records.some((record) => isJsonObject(record) && record['type'] === 'source')) return problems;
  const message =
    'svc schema reads the databases of the project. Set their variables in the environment or in .env, run svc dev once in this folder for an embedded database, or read the schema from a running service with --endpoint';
  return [...problems, { code: 'source', message }];
}
