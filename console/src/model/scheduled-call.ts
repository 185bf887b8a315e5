/** Form fields that cron triggers and one-off events share: a webhook call at a certain time. */
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { objectOf, type Json, type JsonObject, parseJsonText, printJson } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

export interface ScheduledCall {
  readonly webhook: string;
  /** JSON; empty for none. */
  readonly payload: string;
  readonly headers: readonly HeaderRow[];
  readonly retries: string;
  readonly interval: string;
  readonly timeout: string;
  readonly tolerance: string;
  readonly comment: string;
}

const DEFAULTS = { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 6 * 60 * 60 };

/** @param json the stored trigger or event; undefined for a new one */
export function scheduledCall(json?: JsonObject): ScheduledCall {
  const retry: JsonObject = { ...DEFAULTS, ...objectOf(json?.['retry_conf']) };
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
 * Writes the fields that are not empty.
 * @param before the stored trigger; keys that the form does not show are preserved
 * @throws Error for an invalid field
 */
export function callJson(call: ScheduledCall, before: JsonObject = {}): JsonObject {
  const { payload: _payload, headers: _headers, comment: _comment, retry_conf: retry = {}, ...rest } = before;
  const headers = headersOf(call.headers);
  const comment = call.comment.trim();
  return {
    ...rest,
    webhook: call.webhook.trim(),
    ...(call.payload.trim() === '' ? {} : { payload: payloadOf(call.payload) }),
    retry_conf: {
      ...objectOf(retry),
      num_retries: wholeNumberOf(call.retries, 'Retries'),
      retry_interval_seconds: wholeNumberOf(call.interval, 'Retry interval'),
      timeout_seconds: wholeNumberOf(call.timeout, 'Timeout'),
      tolerance_seconds: wholeNumberOf(call.tolerance, 'Tolerance'),
    },
    ...(headers.length === 0 ? {} : { headers }),
    ...(comment === '' ? {} : { comment }),
  };
}

function payloadOf(text: string): Json {
  try {
    return parseJsonText(text);
  } catch (error) {
    throw new Error(`Payload: ${error instanceof Error ? error.message : String(error)}`);
  }
}
