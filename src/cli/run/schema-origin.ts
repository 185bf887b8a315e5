/** Sources of the schema for `svc schema`: a running service, or the files of a project with their databases. */
import { print } from 'graphql';
import type { MetadataSchema } from '../../app/metadata-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { loadConfig } from '../../config/load-config.ts';
import { cutSchema } from '../../graphql-engine/schema-cut/cut-schema.ts';
import type { Observer } from '../../observability/observation.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { environmentForFiles } from '../../project/sent-variables.ts';
import { shapeProblems } from '../../project/document.ts';
import { isRefused, remedyOf } from '../../project/endpoint-failure.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { exportFrom, inconsistenciesIn, listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { type Introspect, introspectionIn, type SchemaReader, schemaReader } from '../../project/role-schema/schema-reader.ts';
import { type ServerClient, ServerError } from '../../project/server-client.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
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
}

/** Reads the schema that a service answers with. @throws ProjectFailure */
export async function serviceOrigin(context: CommandContext, { role, backendOnly }: SchemaViewer): Promise<SchemaOrigin> {
  const server = await context.server();
  const { settings } = await context.anyProject();
  const path = settings.paths.graphql;
  const headers = { 'x-svc-role': role, ...(backendOnly ? { 'x-svc-use-backend-only-permissions': 'true' } : {}) };
  const introspect: Introspect = async (query) => {
    const { status, body } = await server.send(path, { body: { query }, headers });
    if (isJsonObject(body) && isJsonObject(body['data'])) return body['data'];
    const { code, message } = errorOf(body);
    const remedy = remedyOf(settings, { status, code, message }, `${server.endpoint}/${path}`) ?? introspectionRemedy(code);
    throw failure(
      code,
      `the service at ${server.endpoint} rejects the introspection of the role "${role}": ${message}${remedy === undefined ? '' : `. ${remedy}`}`,
      {},
      isRefused(status, code) ? EXIT.unreachable : EXIT.failed,
    );
  };
  const inconsistencies = await inconsistenciesOf(server, context);
  return {
    reader: schemaReader(introspect, inconsistencies === null ? null : cutByService(server, { role, backendOnly })),
    problems: inconsistencies ?? [],
    roles: async () => rolesIn((await exportFrom(server)).metadata),
  };
}

/** The service cuts the schema: a large one takes seconds to send. */
function cutByService(server: ServerClient, { role, backendOnly }: SchemaViewer): SchemaReader['cut'] {
  return async (documents, inputDepth) => {
    const texts = documents.flatMap(({ definitions }) => definitions.map(print));
    const part = async (allMembers: boolean) => {
      const args = { role, documents: texts, input_depth: inputDepth, backend_only: backendOnly, all_members: allMembers };
      const answer = await server.metadata('get_schema_part', args);
      return introspectionIn(isJsonObject(answer) ? answer : {});
    };
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
  return code === 'not-supported' ? 'Without --endpoint, the schema is built from the files of the project' : undefined;
}

/** Builds the schema from the files of the project, on the databases that they name. @throws ProjectFailure */
export async function projectOrigin(context: CommandContext, { role, backendOnly }: SchemaViewer): Promise<SchemaOrigin> {
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
  const parts = { role, variant, config: serviceConfig(environment), environment, observe } as const;
  const schema = await openMetadataSchema(read.document, parts);
  return {
    reader: readerOf(schema),
    problems: withHint(problemsOf(inconsistenciesIn(schema.inconsistencies, read)), schema.inconsistencies),
    roles: async () => rolesIn(read.document),
  };
}

function readerOf({ isEmpty, types }: MetadataSchema): SchemaReader {
  return {
    isEmpty: async () => isEmpty,
    whole: async () => ({ __schema: { ...types.head, types: await types.all() } }),
    cut: (documents, inputDepth) => cutSchema(types, documents, inputDepth),
  };
}

/** Options that change schemas come from the variables of the service. @throws ProjectFailure */
function serviceConfig(environment: Readonly<Record<string, string | undefined>>) {
  try {
    return loadConfig({ argv: ['serve'], environment });
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw failure('config', thrown.message, {}, EXIT.usage);
    throw thrown;
  }
}

/** Adds what to do if a database cannot be read. */
function withHint(problems: readonly Problem[], records: readonly Json[]): readonly Problem[] {
  if (!records.some((record) => isJsonObject(record) && record['type'] === 'source')) return problems;
  const message =
    'svc schema reads the databases of the project. Set their variables in the environment or in .env, or read the schema from a running service with --endpoint';
  return [...problems, { code: 'source', message }];
}
