/** One call of a server of others, within the time that whoever waits for it has left. */
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { safeUrl } from '../http-client/safe-url.ts';
import type { Span } from '../observability/tracing/span.ts';
import { type Cancellation, isPrompt } from '../util/cancellation.ts';
import type { OutboundRequest, OutboundResponse } from '../http-client/request.ts';

/** How long an answer is waited for. */
export interface Patience {
  readonly signal?: Cancellation | undefined;
  /** epoch milliseconds */
  readonly deadline?: number | undefined;
  /** What the call is a part of. */
  readonly trace?: Span | undefined;
}

/** `timeout`: ms for the call, however long the deadline is. */
export type WebhookRequest = Omit<OutboundRequest, 'signal'>;

/** ms; timers know no longer ones */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** @returns ms that a call may take */
export function timeoutWithin(timeout: number, { deadline = Number.POSITIVE_INFINITY }: Patience): number {
  return Math.max(0, Math.min(timeout, deadline - Date.now(), LONGEST_TIMEOUT));
}

/**
 * Nothing is sent when the time is over already or nobody waits any more. Addresses, redirects, certificates and the size of the
 * answer are the outbound client's affair.
 * @throws OutboundError when there is no answer; an answer of any status is none
 */
export async function callWebhook(outbound: OutboundClient, request: WebhookRequest, patience: Patience): Promise<OutboundResponse> {
  const { signal } = patience;
  if (signal?.aborted === true) throw new OutboundError('cancelled', `the call to ${safeUrl(request.url)} was cancelled`);
  const timeout = timeoutWithin(request.timeout, patience);
  if (timeout === 0) throw new OutboundError('timeout', `no answer from ${safeUrl(request.url)} in time`);
  const { kind, url, template, method, headers, body, maxResponseSize, cutLargeResponse, take, hold } = request;
  const { trace } = patience;
  const prompt = isPrompt(signal) ? signal : undefined;
  const bounds = { timeout, maxResponseSize, cutLargeResponse, take, hold };
  return outbound.send({ kind, url, template, method, headers, body, ...bounds, signal: prompt, trace });
}
