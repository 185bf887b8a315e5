/**
 * Inconsistencies of event triggers and actions whose webhooks cannot be called, for example because an environment variable is not set.
 * Found without databases, so also for tables that do not exist yet.
 */
import type { Backend } from '../backend/backend.ts';
import { type EnvironmentVariables, variablesNotSet } from '../metadata/environment-template.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { Defect, inconsistent } from './inconsistency.ts';
import type { Inconsistency } from './schema-cache.ts';
import { unset } from './stages/action.ts';
import { describeAction, describeEventTrigger } from './stages/describe.ts';
import { checkWebhook } from './stages/webhook.ts';

export function webhookDefects(
  { sources, actions }: Pick<Metadata, 'sources' | 'actions'>,
  environment: EnvironmentVariables,
  backends: readonly Backend[],
): readonly Inconsistency[] {
  const found: Inconsistency[] = [];
  for (const source of sources.values()) {
    const backend = backends.find(({ kind }) => kind === source.kind);
    if (backend === undefined) continue;
    for (const { table, eventTriggers } of source.tables.values())
      for (const trigger of eventTriggers.values()) {
        const { webhook: url, headers, signature, requestTransform } = trigger;
        const reason = reasonOf(() => checkWebhook({ url, headers, signature, requestTransform }, environment));
        if (reason !== null) found.push(inconsistent(describeEventTrigger({ name: source.name, backend }, table, trigger), reason));
      }
  }
  for (const action of actions.values()) {
    const missing = [...new Set(unset(action.definition, environment))];
    if (missing.length > 0) found.push(inconsistent(describeAction(action), `in action "${action.name}"; ${variablesNotSet(missing)}`));
  }
  return found;
}

/** Returns the message of the defect that a check throws; `null` if it throws none. */
function reasonOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (thrown) {
    if (thrown instanceof Defect) return thrown.message;
    throw thrown;
  }
}
