/** A cron trigger as its form has it, and the times of its schedule. */
import { Cron } from 'croner';
import type { JsonObject } from './json.ts';
import { type ScheduledCall, scheduledCall, writtenCall } from './scheduled-call.ts';

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

/** What is missing yet; undefined: nothing. */
export function missingOfCron({ name, webhook, schedule }: CronDraft): string | undefined {
  if (name.trim() === '') return 'Give it a name';
  if (webhook.trim() === '') return 'Say which URL is called';
  return schedule.trim() === '' ? 'Say when it is called' : undefined;
}

/**
 * What `create_cron_trigger` takes, but for `replace`.
 * @param trigger as it is now; what the form does not show stays
 * @throws Error with what is wrong
 */
export function writtenCron(draft: CronDraft, trigger: JsonObject = {}): JsonObject {
  return {
    ...writtenCall(draft, trigger),
    name: draft.name.trim(),
    schedule: draft.schedule.trim(),
    include_in_metadata: draft.isInMetadata,
  };
}

/**
 * The next times of a schedule, in UTC, as the service calls by it; fewer than `count` where it has no more.
 * @throws Error with what is wrong with the schedule
 */
export function cronTimes(schedule: string, after: Date, count: number): readonly Date[] {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== FIELDS) throw new Error('A schedule has five fields: minute, hour, day of the month, month, day of the week.');
  return new Cron(fields.join(' '), { utcOffset: 0, paused: true }).nextRuns(count, after);
}
