/** What a service calls that serves a project: on a copy of one that is in use those are the real ones. */
import { VARIABLE_PREFIX } from '../config/option.ts';
import { counted } from '../util/counted.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';

/** With these a service calls nothing by itself. */
export const SILENT: readonly string[] = [`${VARIABLE_PREFIX}DISABLE_EVENTING=true`, `${VARIABLE_PREFIX}ASYNC_ACTIONS_FETCH_INTERVAL=0`];

const COUNTED: readonly (readonly [one: string, more: string, count: (document: JsonObject) => number])[] = [
  ['webhook of event triggers', 'webhooks of event triggers', (document) => inTables(document, 'event_triggers')],
  ['webhook of cron triggers', 'webhooks of cron triggers', ({ cron_triggers }) => items(cron_triggers).length],
  ['handler of actions', 'handlers of actions', ({ actions }) => items(actions).length],
  ['hook that checks input', 'hooks that check input', (document) => keysNamed(document['sources'] ?? null, 'validate_input')],
  ['remote schema', 'remote schemas', ({ remote_schemas }) => items(remote_schemas).length],
];

/** The warning; undefined: nothing is called. @param document of version 3 */
export function callsOut(document: JsonObject): string | undefined {
  const told = COUNTED.flatMap(([one, more, count]) => {
    const found = count(document);
    return found === 0 ? [] : [counted(found, one, more)];
  });
  if (told.length === 0) return undefined;
  return `the service will call what the project names: ${told.join(', ')}. Beside a service in use, or on a copy of its database, start it with ${SILENT.join(' and ')}, which stand in .env.example as comments, so that it calls nothing by itself; handlers, hooks and remote schemas that requests call need other addresses then: give them to the variables, or write them into the metadata`;
}

function items(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

function inTables({ sources }: JsonObject, key: string): number {
  return items(sources)
    .flatMap(({ tables }) => items(tables))
    .reduce((sum, table) => sum + items(table[key]).length, 0);
}

function keysNamed(value: Json, key: string): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, item]) => sum + (name === key ? 1 : keysNamed(item as Json, key)), 0);
}
