/** A cron trigger as its form has it, and the times of its schedule. */
import { Cron } from 'croner';
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

export interface CronDraft {
  readonly name: string;
  readonly webhook: string;
  readonly schedule: string;
  /** JSON; empty: there is none. */
  readonly payload: string;
  readonly headers: readonly HeaderRow[];
  readonly retries: string;
  readonly interval: string;
  readonly timeout: string;
  readonly tolerance: string;
  readonly isInMetadata: boolean;
  readonly comment: string;
}

const FIELDS = 5;
const DEFAULTS = { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 6 * 60 * 60 };

/** @param trigger as `get_cron_triggers` lists it; undefined for a new one */
export function cronDraft(trigger?: JsonObject): CronDraft {
  const given = trigger?.['retry_conf'];
  const retry: JsonObject = { ...DEFAULTS, ...(isObject(given) ? given : {}) };
  const text = (key: string): string => String(trigger?.[key] ?? '');
  const payload = trigger?.['payload'] ?? null;
  return {
    name: text('name'),
    webhook: text('webhook'),
    schedule: trigger === undefined ? '0 3 * * *' : text('schedule'),
    payload: payload === null ? '' : printJson(payload, 2),
    headers: headerRows(trigger?.['headers']),
    retries: String(retry['num_retries']),
    interval: String(retry['retry_interval_seconds']),
    timeout: String(retry['timeout_seconds']),
    tolerance: String(retry['tolerance_seconds']),
    isInMetadata: trigger === undefined || trigger['include_in_metadata'] === true,
    comment: text('comment'),
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
  const { payload: _payload, headers: _headers, comment: _comment, retry_conf: retry = {}, ...rest } = trigger;
  const headers = headersOf(draft.headers);
  const comment = draft.comment.trim();
  return {
    ...rest,
    name: draft.name.trim(),
    webhook: draft.webhook.trim(),
    schedule: draft.schedule.trim(),
    include_in_metadata: draft.isInMetadata,
    ...(draft.payload.trim() === '' ? {} : { payload: payloadOf(draft.payload) }),
    retry_conf: {
      ...(isObject(retry) ? retry : {}),
      num_retries: wholeNumberOf(draft.retries, 'How often it is called again'),
      retry_interval_seconds: wholeNumberOf(draft.interval, 'The time between two calls'),
      timeout_seconds: wholeNumberOf(draft.timeout, 'The time limit of a call'),
      tolerance_seconds: wholeNumberOf(draft.tolerance, 'How late it may be'),
    },
    ...(headers.length === 0 ? {} : { headers }),
    ...(comment === '' ? {} : { comment }),
  };
}

function payloadOf(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`The payload: ${error instanceof Error ? error.message : String(error)}`);
  }
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
