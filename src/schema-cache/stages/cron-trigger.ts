/**
 * Returns the inconsistencies of cron triggers whose webhooks cannot be called because environment variables are missing, and of those with
 * unknown keys.
 */
import { type CronTrigger, encodeWithDefaults } from '../../metadata/cron-trigger.ts';
import type { EnvironmentVariables } from '../../metadata/environment-template.ts';
import { unknownParts } from '../../metadata/unknown-parts.ts';
import { Defect, inconsistent, type ObjectDescription } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';
import { checkTransforms } from './transforms.ts';
import { checkWebhook } from './webhook.ts';

export function cronTriggerDefects(
  triggers: ReadonlyMap<string, CronTrigger>,
  environment: EnvironmentVariables,
): readonly Inconsistency[] {
  return [...triggers.values()].flatMap((trigger) => {
    try {
      check(trigger, environment);
      return [];
    } catch (error) {
      if (!(error instanceof Defect)) throw error;
      return [inconsistent(describeCronTrigger(trigger), error.message)];
    }
  });
}

function describeCronTrigger(trigger: CronTrigger): ObjectDescription {
  const { name } = trigger;
  return {
    objectId: objectId.cronTrigger(name),
    type: 'cron_trigger',
    name: `cron_trigger ${name}`,
    definition: encodeWithDefaults(trigger),
  };
}

/** @throws Defect */
function check(trigger: CronTrigger, environment: EnvironmentVariables): void {
  const [unknown] = unknownParts(trigger);
  if (unknown !== undefined) throw new Defect(`${unknown.problem} (at ${unknown.key})`);
  const { webhook, headers, signature, requestTransform } = trigger;
  checkWebhook({ url: { kind: 'template', text: webhook }, headers, signature, requestTransform }, environment);
  checkTransforms(trigger);
}
