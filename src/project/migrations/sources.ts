/** Which sources a command is about. */
import { isJsonArray, isJsonObject, type JsonObject } from '../../util/json.ts';
import { EXIT, failure } from '../failure.ts';
import { projectVariable } from '../../config/project-variables.ts';
import type { Project } from '../project.ts';
import type { ServerClient, SqlSource } from '../server-client.ts';
import { exportFrom } from '../project-metadata.ts';
import { migratedSources } from './migration-files.ts';

/** Other spellings of kinds in documents. */
const KINDS: Readonly<Record<string, string>> = { postgres: 'pg', mariadb: 'dbb', mysql: 'dbb' };

export function sourcesOf(document: JsonObject): readonly (SqlSource & { readonly entry: JsonObject })[] {
  const list = document['sources'];
  return (isJsonArray(list) ? list : []).filter(isJsonObject).map((entry) => {
    const kind = typeof entry['kind'] === 'string' ? entry['kind'] : 'pg';
    return { name: String(entry['name']), kind: KINDS[kind] ?? kind, entry };
  });
}

/** The sources of the service. @throws ProjectFailure */
export async function serverSources(server: ServerClient): Promise<readonly SqlSource[]> {
  return sourcesOf((await exportFrom(server)).metadata).map(({ name, kind }) => ({ name, kind }));
}

/**
 * The named source; else the only one; else, with several, all that have a folder.
 * @param folder of migrations or seeds
 * @throws ProjectFailure for a name that the service does not know
 */
export async function chosenSources(
  project: Project,
  server: ServerClient,
  folder: string,
  named: string | undefined,
): Promise<readonly SqlSource[]> {
  const known = await serverSources(server);
  const name = named ?? project.environment[projectVariable('database_name')];
  const folders = migratedSources(folder);
  const find = (wanted: string): SqlSource => {
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
