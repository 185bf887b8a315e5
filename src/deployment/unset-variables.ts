/** Environment variables that the metadata of a project refers to and the service does not have. */
import { isAboutVariables } from '../metadata/environment-template.ts';
import type { ListedSource } from '../migrations/sources.ts';
import type { ReadMetadata } from '../project/directory/read-metadata.ts';
import type { Problem } from '../project/failure.ts';
import { inconsistenciesIn, problemsOf } from '../project/project-metadata.ts';
import { OLD_SERVICE, type ServerClient, ServerError } from '../project/server-client.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { asAdded } from './trial.ts';

/** Errors of services that do not check metadata: the deployment itself reports what they refuse. */
const UNCHECKED: ReadonlySet<string> = new Set([OLD_SERVICE, 'access-denied']);

/**
 * Returns a problem for each object of the metadata that needs a variable which the service does not have. No migration can mend these,
 * so a deployment checks them before it runs any.
 * @param added sources that the service does not have and that are opened for the check
 * @throws ProjectFailure
 */
export async function unsetVariables(
  server: ServerClient,
  read: ReadMetadata,
  added: readonly ListedSource[],
): Promise<readonly Problem[]> {
  const args: JsonObject = {
    metadata: read.document,
    ...(added.length === 0 ? {} : { add_sources: added.map(asAdded) }),
    schemas: false,
  };
  try {
    const records = recordsAfter(await server.metadata('plan_changes', args));
    return problemsOf(inconsistenciesIn(records, read).filter(({ reason }) => isAboutVariables(reason)));
  } catch (thrown) {
    if (thrown instanceof ServerError && thrown.problems.some(({ code }) => UNCHECKED.has(code))) return [];
    throw thrown;
  }
}

function recordsAfter(answer: Json): readonly Json[] {
  const found = isJsonObject(answer) && isJsonObject(answer['inconsistencies']) ? answer['inconsistencies']['after'] : undefined;
  return isJsonArray(found) ? found : [];
}
