/** Sources of the schema for `svc schema`: a running service, or the files of a project with their databases. */
import type { IntrospectionType } from 'graphql';
import type { MetadataSchema } from '../../app/metadata-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Observer } from '../../observability/observation.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { environmentForFiles } from '../../project/sent-variables.ts';
import { shapeProblems } from '../../project/document.ts';
import { isRefused, remedyOf } from '../../project/endpoint-failure.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { exportFrom, inconsistenciesIn, listInconsistencies, problemsOf } from '../../project/project-metadata.ts';
import { type Introspect, type SchemaReader, schemaReader } from '../../project/role-schema/schema-reader.ts';
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
    const remedy = remedyOf(settings, { status, code, message }, `${server.endpoint}/${path}`) ?? introspectionRemedy(message);
    throw failure(
      code,
      `the service at ${server.endpoint} rejects the introspection of the role "${role}": ${message}${remedy === undefined ? '' : `. ${remedy}`}`,
      {},
      isRefused(status, code) ? EXIT.unreachable : EXIT.failed,
    );
  };
  return {
    reader: schemaReader(introspect),
    problems: await inconsistenciesOf(server, context),
    roles: async () => rolesIn((await exportFrom(server)).metadata),
  };
}

/** A service may run without the metadata API. */
async function inconsistenciesOf(server: ServerClient, context: CommandContext): Promise<readonly Problem[]> {
  try {
    return problemsOf(await listInconsistencies(server, null));
  } catch (thrown) {
    if (!(thrown instanceof ServerError) || thrown.status !== 404) throw thrown;
    context.warn(`${server.endpoint} has no metadata API, so inconsistent metadata would not be noticed`);
    return [];
  }
}

function errorOf(body: Json): { readonly code: string; readonly message: string } {
  const errors = isJsonObject(body) ? body['errors'] : undefined;
  const [first] = isJsonArray(errors) ? errors : [body];
  const error: JsonObject = first !== undefined && isJsonObject(first) ? first : {};
  const extensions = isJsonObject(error['extensions']) ? error['extensions'] : error;
  return { code: String(extensions['code'] ?? 'server'), message: String(error['message'] ?? error['error'] ?? 'the answer has no data') };
}

function introspectionRemedy(message: string): string | undefined {
  return /introspection/.test(message) ? 'Without --endpoint, the schema is built from the files of the project' : undefined;
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

function readerOf({ roots, types }: MetadataSchema): SchemaReader {
  const root = (type: { readonly name: string } | null) => (type === null ? null : { kind: 'OBJECT' as const, name: type.name });
  const head = {
    queryType: { kind: 'OBJECT' as const, name: roots.query.name },
    mutationType: root(roots.mutation),
    subscriptionType: root(roots.subscription),
    directives: types.directives,
  };
  const all = async (names: Iterable<string>): Promise<readonly IntrospectionType[]> => {
    const found: IntrospectionType[] = [];
    for (const name of names) {
      const type = await types.find(name);
      if (type !== undefined) found.push(type);
    }
    return found;
  };
  return {
    head: async () => head,
    types: all,
    shapes: async (names) => (await all(names)).flatMap((type) => (type.kind === 'INPUT_OBJECT' ? [type] : [])),
    whole: async () => ({ __schema: { ...head, types: await types.all() } }),
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
