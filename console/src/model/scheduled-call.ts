/** A call of a webhook that is made at a time, as forms have it: what cron triggers and one-off events have in common. */
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

export interface ScheduledCall {
  readonly webhook: string;
  /** JSON; empty: there is none. */
  readonly payload: string;
  readonly headers: readonly HeaderRow[];
  readonly retries: string;
  readonly interval: string;
  readonly timeout: string;
  readonly tolerance: string;
  readonly comment: string;
}

const DEFAULTS = { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 6 * 60 * 60 };

/** @param json as the service lists it; undefined for a new one */
export function scheduledCall(json?: JsonObject): ScheduledCall {
  const given = json?.['retry_conf'];
  const retry: JsonObject = { ...DEFAULTS, ...(isObject(given) ? given : {}) };
  const payload = json?.['payload'] ?? null;
  return {
    webhook: String(json?.['webhook'] ?? ''),
    payload: payload === null ? '' : printJson(payload, 2),
    headers: headerRows(json?.['headers']),
    retries: String(retry['num_retries']),
    interval: String(retry['retry_interval_seconds']),
    timeout: String(retry['timeout_seconds']),
    tolerance: String(retry['tolerance_seconds']),
    comment: String(json?.['comment'] ?? ''),
  };
}

/**
 * What is written of it; what is empty is left out.
 * @param before as it was; what forms do not show stays
 * @throws Error with what is wrong
 */
export function writtenCall(call: ScheduledCall, before: JsonObject = {}): JsonObject {
  const { payload: _payload, headers: _headers, comment: _comment, retry_conf: retry = {}, ...rest } = before;
  const headers = headersOf(call.headers);
  const comment = call.comment.trim();
  return {
    ...rest,
    webhook: call.webhook.trim(),
    ...(call.payload.trim() === '' ? {} : { payload: payloadOf(call.payload) }),
    retry_conf: {
      ...(isObject(retry) ? retry : {}),
      num_retries: wholeNumberOf(call.retries, 'How often it is called again'),
      retry_interval_seconds: wholeNumberOf(call.interval, 'The time between two calls'),
      timeout_seconds: wholeNumberOf(call.timeout, 'The time limit of a call'),
      tolerance_seconds: wholeNumberOf(call.tolerance, 'How late it may be'),
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
