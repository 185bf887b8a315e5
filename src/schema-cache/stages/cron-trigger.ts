/** Cron triggers whose webhooks cannot be called: what they need is not in the environment, or they have keys that nobody knows. */
import { type CronTrigger, wholeCronTrigger } from '../../metadata/cron-trigger.ts';
import { type Environment, fillTemplate } from '../../metadata/environment-template.ts';
import { unknownParts } from '../../metadata/unknown-parts.ts';
import { Defect, inconsistent, type ObjectDescription } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';
import { checkTransforms } from './transforms.ts';

export function cronTriggerDefects(triggers: ReadonlyMap<string, CronTrigger>, environment: Environment): readonly Inconsistency[] {
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
    definition: wholeCronTrigger(trigger),
  };
}

/** @throws Defect */
function check(trigger: CronTrigger, environment: Environment): void {
  const [unknown] = unknownParts(trigger);
  if (unknown !== undefined) throw new Defect(`${unknown.complaint} (at ${unknown.key})`);
  filled(trigger.webhook, environment);
  for (const { value, valueFromEnv } of trigger.headers) {
    if (value !== undefined) filled(value, environment);
    if (valueFromEnv !== undefined) set(valueFromEnv, environment);
  }
  if (trigger.signature !== undefined) set(trigger.signature.secretFromEnv, environment);
  checkTransforms(trigger);
}

function filled(template: string, environment: Environment): void {
  const result = fillTemplate(template, environment);
  if ('missing' in result) throw new Defect(`Value for environment variables not found: ${result.missing.join(', ')}`);
}

function set(variable: string, environment: Environment): void {
  if (environment[variable] === undefined) throw new Defect(`environment variable '${variable}' not set`);
}
