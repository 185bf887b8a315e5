/** A one-off event as its form has it. */
import type { JsonObject } from './json.ts';
import { type ScheduledCall, scheduledCall, writtenCall } from './scheduled-call.ts';

export interface OneOffDraft extends ScheduledCall {
  /** As fields of times hold it, in the time of whoever writes it: `2026-11-23T09:30`. */
  readonly at: string;
}

const MINUTES = 'yyyy-mm-ddThh:mm'.length;
const MINUTE_MS = 60_000;

/** A new one, to be called at that time. */
export function oneOffDraft(at: Date): OneOffDraft {
  const shown = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, MINUTES);
  return { ...scheduledCall(), at: shown };
}

/** What is missing yet; undefined: nothing. */
export function missingOfOneOff({ webhook, at }: OneOffDraft): string | undefined {
  if (webhook.trim() === '') return 'Say which URL is called';
  return timeOf(at) === undefined ? 'Say when it is called' : undefined;
}

/** What `create_scheduled_event` takes. @throws Error with what is wrong */
export function writtenOneOff(draft: OneOffDraft): JsonObject {
  const time = timeOf(draft.at);
  if (time === undefined) throw new Error('There is no such time.');
  return { ...writtenCall(draft), schedule_at: time.toISOString() };
}

/** The time that is written; undefined where there is none. */
export function timeOf(at: string): Date | undefined {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
