/** Variables that the metadata of a project sends to addresses of its own, or opens as addresses. */
import { templateVariables } from '../metadata/environment-template.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectsIn } from '../util/json.ts';
import type { Environment, Project } from './project.ts';

/** Keys whose variable is the whole address, so that the project cannot choose where it is sent. */
const ADDRESSES: ReadonlySet<string> = new Set(['database_url', 'connection_string']);
const REFERENCES: ReadonlySet<string> = new Set(['from_env', 'value_from_env']);

/**
 * Returns the environment for building the schema of a project that the user may not trust: it opens the sources and remote schemas that the
 * files name. Variables that they send as a part of an address, as a password or in a header come from the project's own file only.
 * @returns also the names that are withheld
 */
export function environmentForFiles(
  { environment, ownEnvironment }: Pick<Project, 'environment' | 'ownEnvironment'>,
  document: JsonObject,
): { readonly environment: Environment; readonly withheld: readonly string[] } {
  const named = [
    ...objectsIn(document['sources']).flatMap(({ configuration }) => [...variablesIn(configuration)]),
    ...objectsIn(document['remote_schemas']).flatMap(({ definition }) => [...variablesIn(definition)]),
  ];
  const sent = new Set(named.flatMap(({ name, isAddress }) => (isAddress ? [] : [name])));
  const withheld = [...sent].filter((name) => environment[name] !== undefined && environment[name] !== ownEnvironment[name]);
  const own = Object.fromEntries(withheld.map((name) => [name, ownEnvironment[name]]));
  return { environment: { ...environment, ...own }, withheld: withheld.filter((name) => ownEnvironment[name] === undefined) };
}

/** Returns whether the variable is the address of a database of the project. */
export function isDatabaseAddress(variable: string, document: JsonObject): boolean {
  return objectsIn(document['sources']).some(({ configuration }) =>
    [...variablesIn(configuration)].some(({ name, isAddress }) => isAddress && name === variable),
  );
}

interface NamedVariable {
  readonly name: string;
  /** True if its value is the whole address of a database. */
  readonly isAddress: boolean;
}

/** Yields the variables that a configuration names. @param key of the value in its object */
function* variablesIn(json: Json | undefined, key = ''): Iterable<NamedVariable> {
  if (typeof json === 'string') for (const name of templateVariables(json)) yield { name, isAddress: false };
  else if (isJsonArray(json)) for (const each of json) yield* variablesIn(each, key);
  else if (isJsonObject(json))
    for (const [member, value] of Object.entries(json))
      if (REFERENCES.has(member) && typeof value === 'string') yield { name: value, isAddress: ADDRESSES.has(key) };
      else yield* variablesIn(value, member);
}
