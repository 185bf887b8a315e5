/** Inconsistencies that the metadata of a project would have in the service, found without applying it. */
import type { ListedSource } from '../migrations/sources.ts';
import { isAboutVariables } from '../metadata/environment-template.ts';
import type { Problem } from '../project/failure.ts';
import type { ReadMetadata } from '../project/directory/read-metadata.ts';
import { inconsistenciesIn, type LocatedInconsistency, problemsOf } from '../project/project-metadata.ts';
import { keysNamed } from '../project/keys-named.ts';
import { type ServerClient, ServerError } from '../project/server-client.ts';
import { isJsonObject, type JsonObject } from '../util/json.ts';
import { asAdded } from './trial.ts';
import { recordsIn } from './trial-inconsistencies.ts';

/**
 * Returns the objects that would be inconsistent if the metadata were applied now. Migrations are not tried, so objects that depend on
 * pending ones are among them. Empty for a service that rejects the check: it will report its reason when the metadata is applied.
 * @param opened sources that the service does not have, or that the project connects differently
 */
export async function checkMetadata(
  server: ServerClient,
  read: ReadMetadata,
  opened: readonly ListedSource[],
): Promise<readonly LocatedInconsistency[]> {
  const trial = (await tried(server, read, opened)) ?? (opened.length === 0 ? undefined : await tried(server, read, []));
  return trial === undefined ? [] : inconsistenciesIn(recordsIn(trial, 'after'), read);
}

/**
 * Returns whether a deployment checks variables before its first step: before migrations, because none sets a variable, and for hooks, which
 * the service accepts although the mutations of their roles then fail.
 */
export function checksVariables(document: JsonObject, runsSql: boolean): boolean {
  return runsSql || keysNamed(document['sources'], 'validate_input') > 0;
}

/** Returns the problems about variables that the metadata needs and the service does not have; see `checkMetadata`. */
export async function unsetVariables(
  server: ServerClient,
  read: ReadMetadata,
  opened: readonly ListedSource[],
): Promise<readonly Problem[]> {
  return problemsOf((await checkMetadata(server, read, opened)).filter(({ reason }) => isAboutVariables(reason)));
}

/** Returns `undefined` if the service rejects the request, for example because its metadata is read-only. */
async function tried(server: ServerClient, read: ReadMetadata, opened: readonly ListedSource[]): Promise<JsonObject | undefined> {
  const added: JsonObject = opened.length === 0 ? {} : { add_sources: opened.map(asAdded) };
  try {
    const answer = await server.metadata('plan_changes', { metadata: read.document, ...added, schemas: false });
    return isJsonObject(answer) ? answer : undefined;
  } catch (thrown) {
    if (thrown instanceof ServerError) return undefined;
    throw thrown;
  }
}
