/** Outgoing calls of a project. On a copy of a project in use, they would reach the real servers. */
import { VARIABLE_PREFIX } from '../config/option.ts';
import { counted } from '../util/counted.ts';
import { keysNamed } from '../project/keys-named.ts';
import { type JsonObject, objectsIn } from '../util/json.ts';

/** Environment with which a service makes no calls by itself. */
export const NO_CALLS_ENVIRONMENT: readonly string[] = [
  `${VARIABLE_PREFIX}DISABLE_EVENTING=true`,
  `${VARIABLE_PREFIX}ASYNC_ACTIONS_FETCH_INTERVAL=0`,
];

const CALL_TYPES: readonly (readonly [one: string, more: string, count: (document: JsonObject) => number])[] = [
  ['webhook of event triggers', 'webhooks of event triggers', (document) => inTables(document, 'event_triggers')],
  ['webhook of cron triggers', 'webhooks of cron triggers', ({ cron_triggers }) => objectsIn(cron_triggers).length],
  ['handler of actions', 'handlers of actions', ({ actions }) => objectsIn(actions).length],
  ['hook that checks input', 'hooks that check input', (document) => keysNamed(document['sources'], 'validate_input')],
  ['remote schema', 'remote schemas', ({ remote_schemas }) => objectsIn(remote_schemas).length],
];

/** Returns a warning, or `undefined` if the project makes no calls. @param document of version 3 */
export function callsOut(document: JsonObject): string | undefined {
  const calls = CALL_TYPES.flatMap(([one, more, count]) => {
    const found = count(document);
    return found === 0 ? [] : [counted(found, one, more)];
  });
  if (calls.length === 0) return undefined;
  return `the service will call ${calls.join(', ')}. Beside a service in use, or on a copy of its database, start it with ${NO_CALLS_ENVIRONMENT.join(' and ')} (commented out in .env.example), so that it makes no calls by itself. Requests still call handlers, hooks and remote schemas: set test addresses for these in the environment variables or in the metadata`;
}

function inTables({ sources }: JsonObject, key: string): number {
  return objectsIn(sources)
    .flatMap(({ tables }) => objectsIn(tables))
    .reduce((sum, table) => sum + objectsIn(table[key]).length, 0);
}
