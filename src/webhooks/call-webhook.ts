/** One call to another server, within the deadline of the caller. */
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { safeUrl } from '../http-client/safe-url.ts';
import type { Span } from '../observability/tracing/span.ts';
import { type Cancellation, isPrompt } from '../util/cancellation.ts';
import type { OutboundRequest, OutboundResponse } from '../http-client/request.ts';

/** Cancellation, deadline and trace of a call. */
export interface TracedCallOptions {
  readonly signal?: Cancellation | undefined;
  /** Epoch milliseconds. */
  readonly deadline?: number | undefined;
  /** Parent span. */
  readonly trace?: Span | undefined;
}

/** Its `timeout` limits the call even if the deadline is later. */
export type WebhookRequest = Omit<OutboundRequest, 'signal'>;

/** Maximum delay of a Node timer, in ms. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** Returns the time left for a call, in ms. */
export function timeoutWithin(timeout: number, { deadline = Number.POSITIVE_INFINITY }: TracedCallOptions): number {
  return Math.max(0, Math.min(timeout, deadline - Date.now(), MAX_TIMEOUT));
}

/**
 * Sends nothing if the caller has cancelled or its deadline has passed. The outbound client checks addresses, redirects, certificates and
 * the size of the response.
 * @throws OutboundError if there is no response; a response of any status is a success
 */
export async function callWebhook(
  outbound: OutboundClient,
  request: WebhookRequest,
  callOptions: TracedCallOptions,
): Promise<OutboundResponse> {
  const { signal } = callOptions;
  if (signal?.aborted === true) throw new OutboundError('cancelled', `the call to ${safeUrl(request.url)} was cancelled`);
  const timeout = timeoutWithin(request.timeout, callOptions);
  if (timeout === 0) throw new OutboundError('timeout', `no answer from ${safeUrl(request.url)} in time`);
  const { kind, url, template, method, headers, body, maxResponseSize, cutLargeResponse, onBytes, reserveMemory } = request;
  const { trace } = callOptions;
  const prompt = isPrompt(signal) ? signal : undefined;
  const bounds = { timeout, maxResponseSize, cutLargeResponse, onBytes, reserveMemory };
  return outbound.send({ kind, url, template, method, headers, body, ...bounds, signal: prompt, trace });
}
