/** Form of a one-off event. */
import type { JsonObject } from './json.ts';
import { type ScheduledCall, scheduledCall, callJson } from './scheduled-call.ts';

export interface OneOffDraft extends ScheduledCall {
  /** Local time of the browser, as `<input type="datetime-local">` holds it: `2026-11-23T09:30`. */
  readonly at: string;
}

const MINUTES = 'yyyy-mm-ddThh:mm'.length;
const MINUTE_MS = 60_000;

/** @param at time of the call */
export function oneOffDraft(at: Date): OneOffDraft {
  const shown = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, MINUTES);
  return { ...scheduledCall(), at: shown };
}

/** Names what is missing; undefined if the draft is complete. */
export function missingInOneOff({ webhook, at }: OneOffDraft): string | undefined {
  if (webhook.trim() === '') return 'Enter a webhook URL';
  return timeOf(at) === undefined ? 'Enter a time' : undefined;
}

/** Arguments of `create_scheduled_event`. @throws Error for an invalid field */
export function oneOffJson(draft: OneOffDraft): JsonObject {
  const time = timeOf(draft.at);
  if (time === undefined) throw new Error('This time does not exist.');
  return { ...callJson(draft), schedule_at: time.toISOString() };
}

/** Reads a local time; undefined if it does not exist. */
export function timeOf(at: string): Date | undefined {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
