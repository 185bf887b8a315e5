/** Form of a cron trigger, and the times of its schedule. */
import { Cron } from 'croner';
import type { JsonObject } from './json.ts';
import { type ScheduledCall, scheduledCall, callJson } from './scheduled-call.ts';

export interface CronDraft extends ScheduledCall {
  readonly name: string;
  readonly schedule: string;
  readonly isInMetadata: boolean;
}

const FIELDS = 5;

/** @param trigger as `get_cron_triggers` lists it; undefined for a new one */
export function cronDraft(trigger?: JsonObject): CronDraft {
  return {
    ...scheduledCall(trigger),
    name: String(trigger?.['name'] ?? ''),
    schedule: trigger === undefined ? '0 3 * * *' : String(trigger['schedule']),
    isInMetadata: trigger === undefined || trigger['include_in_metadata'] === true,
  };
}

/** Names what is missing; undefined if the draft is complete. */
export function missingInCron({ name, webhook, schedule }: CronDraft): string | undefined {
  if (name.trim() === '') return 'Enter a name';
  if (webhook.trim() === '') return 'Enter a webhook URL';
  return schedule.trim() === '' ? 'Enter a schedule' : undefined;
}

/**
 * Arguments of `create_cron_trigger` without `replace`.
 * @param trigger the stored trigger; keys that the form does not show are preserved
 * @throws Error for an invalid field
 */
export function cronJson(draft: CronDraft, trigger: JsonObject = {}): JsonObject {
  return {
    ...callJson(draft, trigger),
    name: draft.name.trim(),
    schedule: draft.schedule.trim(),
    include_in_metadata: draft.isInMetadata,
  };
}

/**
 * Returns the next times of a schedule in UTC, as the service calls; fewer than `count` if there are no more.
 * @throws Error for an invalid schedule
 */
export function cronTimes(schedule: string, after: Date, count: number): readonly Date[] {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== FIELDS) throw new Error('A schedule has five fields: minute, hour, day of month, month, day of week.');
  return new Cron(fields.join(' '), { utcOffset: 0, paused: true }).nextRuns(count, after);
}
