/** Sources that a command applies to. */
import { isJsonObject, type Json, type JsonObject, objectOf, objectsIn } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { EXIT, failure } from '../project/failure.ts';
import { projectVariable } from '../config/project-variables.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient, SqlSource } from '../project/server-client.ts';
import type { Backend } from '../backend/backend.ts';
import type { MigrationDialect, Query } from '../backend/migration-dialect.ts';
import type { QualifiedName } from '../catalog/catalog.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { DEFAULT_SOURCE_KIND } from '../metadata/source.ts';
import { canonical } from '../project/directory/sections.ts';
import { normalised } from '../project/document.ts';
import { exportFrom } from '../project/project-metadata.ts';
import { migratedSources } from './migration-files.ts';

/** A source with its entry in a metadata document. */
export interface ListedSource extends SqlSource {
  readonly entry: JsonObject;
  /** `undefined` for an unknown kind. */
  readonly backend: Backend | undefined;
}

/** @throws ProjectFailure for kinds without migrations */
export function migrationsOf({ name, kind, backend }: ListedSource): MigrationDialect {
  if (backend?.migrations === undefined)
    throw failure('not-supported', `the source ${name} has the kind "${kind}", which does not support migrations`);
  return backend.migrations;
}

/** Returns a function that runs read-only statements in a source and returns their rows without the header. */
export function rowsOf(server: ServerClient, source: SqlSource): Query {
  return async (sql) => (await server.sql(source, sql, { read_only: true })).rows.slice(1).map((row) => row.map(String));
}

/** Returns a function that runs a query in a source and returns its first cell. */
export function cellOf(server: ServerClient, source: SqlSource): (sql: string) => Promise<string> {
  return async (sql) => (await rowsOf(server, source)(sql))[0]?.[0] ?? '';
}

/** Returns the enum tables of a source. */
export function enumTables({ entry, backend }: ListedSource): readonly QualifiedName[] {
  const tables = objectsIn(entry['tables']);
  return tables.flatMap(({ table, is_enum }) =>
    is_enum === true && table !== undefined && backend !== undefined ? [backend.tableName.decode(table, ROOT)] : [],
  );
}

export function sourceNames(document: JsonObject): readonly string[] {
  return entriesOf(document).map(({ name }) => String(name));
}

function entriesOf({ sources }: JsonObject): readonly JsonObject[] {
  return objectsIn(sources);
}

export function sourcesOf(document: JsonObject, kinds: Kinds<Backend>): readonly ListedSource[] {
  return entriesOf(document).map((entry) => {
    const kind = typeof entry['kind'] === 'string' ? entry['kind'] : DEFAULT_SOURCE_KIND;
    const backend = kinds.get(kind);
    return { name: String(entry['name']), kind: backend?.kind ?? kind, entry, backend };
  });
}

/**
 * Returns the configuration and customization with which a deployment adds a source before its migrations run. `extensions_schema` is
 * left out, because a migration may create that schema.
 */
export function emptySource({ configuration, customization }: JsonObject): JsonObject {
  const { extensions_schema: _, ...settings } = objectOf(configuration);
  return {
    configuration: isJsonObject(configuration) ? settings : (configuration ?? null),
    ...(customization === undefined ? {} : { customization }),
  };
}

/** Returns the sources of a document that the service has with another configuration, and so maybe with another database. */
export function movedSources(document: JsonObject, current: JsonObject, kinds: Kinds<Backend>): readonly ListedSource[] {
  const configurationsIn = (metadata: JsonObject): ReadonlyMap<string, Json> =>
    new Map(sourcesOf(normalised(metadata, kinds) ?? metadata, kinds).map(({ name, entry }) => [name, entry['configuration'] ?? null]));
  const [currentOnes, newOnes] = [configurationsIn(current), configurationsIn(document)];
  return sourcesOf(document, kinds).filter(({ name }) => {
    const [before, after] = [currentOnes.get(name), newOnes.get(name)];
    return before !== undefined && after !== undefined && canonical(before) !== canonical(after);
  });
}

/** Returns the sources of the service. @throws ProjectFailure */
export async function serverSources(server: ServerClient, kinds: Kinds<Backend>): Promise<readonly ListedSource[]> {
  return sourcesOf((await exportFrom(server)).metadata, kinds);
}

/**
 * Returns the named source; without a name, all sources that have a subfolder.
 * @param folder folder of migrations or seeds
 * @throws ProjectFailure if the service does not have one of them
 */
export async function chosenSources(
  project: Project,
  server: ServerClient,
  kinds: Kinds<Backend>,
  folder: string,
  named: string | undefined,
): Promise<readonly ListedSource[]> {
  const known = await serverSources(server, kinds);
  const name = named ?? project.environment[projectVariable('database_name')];
  const find = (sought: string): ListedSource => {
    const found = known.find((source) => source.name === sought);
    if (found !== undefined) return found;
    const existing = known.length === 0 ? 'it has none' : `it has ${known.map((source) => source.name).join(', ')}`;
    throw failure('no-source', `the service has no source "${sought}" (${existing}): svc deploy adds the sources of the project`);
  };
  return name !== undefined && name !== '' ? [find(name)] : migratedSources(folder).map(find);
}

/** Returns the name of a source that may have a folder. @throws ProjectFailure for names that are paths or have control characters */
export function requireFolderName(name: string): string {
  if (!/[\p{Cc}/\\]|^\.{1,2}$/u.test(name)) return name;
  throw failure('usage', `a source with the name ${JSON.stringify(name)} cannot have a folder in the project`, {}, EXIT.usage);
}

/** Returns the name of the source for a command about a single one. @throws ProjectFailure if there are several and none is named */
export function oneFolder(project: Project, folder: string, named: string | undefined, sources: readonly string[]): string {
  const name = named ?? project.environment[projectVariable('database_name')];
  if (name !== undefined && name !== '') return requireFolderName(name);
  const all = [...new Set([...migratedSources(folder), ...sources])];
  const [only, ...others] = all;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) return 'default';
  throw failure('no-source', `there are several sources (${all.join(', ')}): choose one with --database-name`, {}, EXIT.usage);
}
