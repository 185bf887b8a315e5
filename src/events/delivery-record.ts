/** Invocation records of deliveries, as JSON text. Payloads stay the text that was sent. */
import type { InvocationRecord } from '../backend/event-store.ts';
import type { OutboundResponse } from '../http-client/request.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import { recordedResponseHeaders } from '../webhooks/invocation-record.ts';
import type { WebhookCall } from '../webhooks/webhook.ts';

/** Version of the record format. */
export type RecordVersion = '1' | '2';

/** @param payload JSON text */
export function requestRecord(version: RecordVersion, headers: readonly JsonObject[], payload: string): string {
  return `{"version":"${version}","headers":${printJson(headers)},"payload":${payload}}`;
}

/** Returns the payload of a call as JSON text; a form becomes a JSON string. */
export function payloadOf({ body = 'null', isForm }: WebhookCall): string {
  return isForm ? JSON.stringify(body) : body;
}

/** Record of a call without a response. */
export function clientErrorRecord(version: RecordVersion, status: number | null, request: string, exception: JsonObject): InvocationRecord {
  return { status, request, response: printJson({ type: 'client_error', version, data: { message: printJson(exception) } }) };
}

/** @param body text of the response after its transform, or an error */
export function responseRecord(
  version: RecordVersion,
  status: number,
  request: string,
  response: OutboundResponse,
  body: string,
): InvocationRecord {
  const data = { status, headers: recordedResponseHeaders(response), body, ...(response.isCut === true ? { is_cut: true } : {}) };
  return { status, request, response: printJson({ version, type: 'webhook_response', data }) };
}
