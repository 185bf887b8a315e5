/** Which sources a command is about. */
import { isJsonArray, isJsonObject, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { EXIT, failure } from '../project/failure.ts';
import { projectVariable } from '../config/project-variables.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient, SqlSource } from '../project/server-client.ts';
import type { Backend } from '../backend/backend.ts';
import type { MigrationDialect, Query } from '../backend/migration-dialect.ts';
import type { QualifiedName } from '../catalog/catalog.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { DEFAULT_KIND } from '../metadata/source.ts';
import { canonical } from '../project/directory/sections.ts';
import { normalised } from '../project/document.ts';
import { exportFrom } from '../project/project-metadata.ts';
import { migratedSources } from './migration-files.ts';

/** A source with its entry in a metadata document. */
export interface ListedSource extends SqlSource {
  readonly entry: JsonObject;
  /** `undefined` for a kind that this version does not have. */
  readonly backend: Backend | undefined;
}

/** @throws ProjectFailure for kinds whose databases are not migrated */
export function migrationsOf({ name, kind, backend }: ListedSource): MigrationDialect {
  if (backend?.migrations === undefined) throw failure('not-supported', `sources of the kind "${kind}" are not migrated (source ${name})`);
  return backend.migrations;
}

/** Returns a function that runs read-only statements in a source and returns their rows without the header. */
export function rowsOf(server: ServerClient, source: SqlSource): Query {
  return async (sql) => (await server.sql(source, sql, { read_only: true })).rows.slice(1).map((row) => row.map(String));
}

/** Returns a function that runs queries in a source and returns their one cell. */
export function cellOf(server: ServerClient, source: SqlSource): (sql: string) => Promise<string> {
  return async (sql) => (await rowsOf(server, source)(sql))[0]?.[0] ?? '';
}

/** Returns the tables of a source that its entry calls enums. */
export function enumTables({ entry, backend }: ListedSource): readonly QualifiedName[] {
  const tables = (isJsonArray(entry['tables']) ? entry['tables'] : []).filter(isJsonObject);
  return tables.flatMap(({ table, is_enum }) =>
    is_enum === true && table !== undefined && backend !== undefined ? [backend.tableName.decode(table, ROOT)] : [],
  );
}

/** Returns the names of the sources in a document. */
export function sourceNames(document: JsonObject): readonly string[] {
  return entriesOf(document).map(({ name }) => String(name));
}

function entriesOf({ sources }: JsonObject): readonly JsonObject[] {
  return (isJsonArray(sources) ? sources : []).filter(isJsonObject);
}

export function sourcesOf(document: JsonObject, kinds: Kinds<Backend>): readonly ListedSource[] {
  return entriesOf(document).map((entry) => {
    const kind = typeof entry['kind'] === 'string' ? entry['kind'] : DEFAULT_KIND;
    const backend = kinds.get(kind);
    return { name: String(entry['name']), kind: backend?.kind ?? kind, entry, backend };
  });
}

/**
 * The configuration and customization with which a deployment adds a source before its migrations run: nothing is tracked yet, and a
 * migration may create the schema that `extensions_schema` names.
 */
export function emptySource({ configuration, customization }: JsonObject): JsonObject {
  const { extensions_schema: _, ...settings } = isJsonObject(configuration) ? configuration : {};
  return {
    configuration: isJsonObject(configuration) ? settings : (configuration ?? null),
    ...(customization === undefined ? {} : { customization }),
  };
}

/** Sources of a document that the service has with another configuration: their database may be another one. */
export function movedSources(document: JsonObject, current: JsonObject, kinds: Kinds<Backend>): readonly ListedSource[] {
  const configurations = new Map(
    sourcesOf(normalised(current, kinds) ?? current, kinds).map(({ name, entry }) => [name, entry['configuration'] ?? null]),
  );
  const wanted = new Map(
    sourcesOf(normalised(document, kinds) ?? document, kinds).map(({ name, entry }) => [name, entry['configuration'] ?? null]),
  );
  return sourcesOf(document, kinds).filter(({ name }) => {
    const [before, after] = [configurations.get(name), wanted.get(name)];
    return before !== undefined && after !== undefined && canonical(before) !== canonical(after);
  });
}

/** The sources of the service. @throws ProjectFailure */
export async function serverSources(server: ServerClient, kinds: Kinds<Backend>): Promise<readonly ListedSource[]> {
  return sourcesOf((await exportFrom(server)).metadata, kinds);
}

/**
 * The named source; else the only one; else, with several, all that have a folder.
 * @param folder of migrations or seeds
 * @throws ProjectFailure for a name that the service does not know
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
  const folders = migratedSources(folder);
  const find = (wanted: string): ListedSource => {
    const found = known.find((source) => source.name === wanted);
    if (found !== undefined) return found;
    const told = known.length === 0 ? 'it has none' : `it has ${known.map((source) => source.name).join(', ')}`;
    throw failure('no-source', `the service has no source "${wanted}": ${told}; svc deploy adds those of the project`, {}, EXIT.failed);
  };
  if (name !== undefined && name !== '') return [find(name)];
  return folders.map(find);
}

/** The source for a command about one of them. @throws ProjectFailure when it is not clear which */
export function oneFolder(project: Project, folder: string, named: string | undefined, sources: readonly string[]): string {
  const name = named ?? project.environment[projectVariable('database_name')];
  if (name !== undefined && name !== '') return name;
  const all = [...new Set([...migratedSources(folder), ...sources])];
  const [only, ...others] = all;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) return 'default';
  throw failure('no-source', `there are the sources ${all.join(', ')}: name one with --database-name`, {}, EXIT.usage);
}
