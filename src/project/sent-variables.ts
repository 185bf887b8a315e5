/** Variables that the metadata of a project sends to addresses of its own. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectsIn } from '../util/json.ts';
import type { Environment, Project } from './project.ts';

const PLACEHOLDER = /\{\{\s*([^{}\s]+)\s*\}\}/g;
/** Keys whose variable is the whole address, so that the project cannot choose where it is sent. */
const ADDRESSES: ReadonlySet<string> = new Set(['database_url', 'connection_string']);
const NAMES: ReadonlySet<string> = new Set(['from_env', 'value_from_env']);

/**
 * Returns the environment for building the schema of a project that the user may not trust: it opens the sources and remote schemas that the
 * files name. Variables that they send as a part of an address, as a password or in a header come from the project's own file only.
 * @returns also the names that are withheld
 */
export function environmentForFiles(
  { environment, ownEnvironment }: Pick<Project, 'environment' | 'ownEnvironment'>,
  document: JsonObject,
): { readonly environment: Environment; readonly withheld: readonly string[] } {
  const sent = new Set<string>();
  for (const { configuration } of objectsIn(document['sources'])) collect(configuration ?? null, '', sent);
  for (const { definition } of objectsIn(document['remote_schemas'])) collect(definition ?? null, '', sent);
  const withheld = [...sent].filter((name) => environment[name] !== undefined && environment[name] !== ownEnvironment[name]);
  const own = Object.fromEntries(withheld.map((name) => [name, ownEnvironment[name]]));
  return { environment: { ...environment, ...own }, withheld: withheld.filter((name) => ownEnvironment[name] === undefined) };
}

/** @param key of the value in its object */
function collect(json: Json, key: string, into: Set<string>): void {
  if (typeof json === 'string') for (const [, name] of json.matchAll(PLACEHOLDER)) into.add(name as string);
  else if (isJsonArray(json)) for (const each of json) collect(each, key, into);
  else if (isJsonObject(json))
    for (const [name, value] of Object.entries(json)) {
      if (NAMES.has(name) && typeof value === 'string' && !ADDRESSES.has(key)) into.add(value);
      else collect(value ?? null, name, into);
    }
}
