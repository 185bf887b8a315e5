/** One attempt to deliver an event to its webhook, and its outcome. */
import type { DeliveryOutcome, DeliveryResult } from '../backend/event-store.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import type { CallKind, OutboundResponse } from '../http-client/request.ts';
import { type EnvironmentVariables, variablesNotFound } from '../metadata/environment-template.ts';
import type { RetryPolicy } from '../metadata/retry-policy.ts';
import type { DeliveryKind, Observer } from '../observability/observation.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { PromptCancellation } from '../util/cancellation.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import { callWebhook } from '../webhooks/call-webhook.ts';
import { httpException } from '../webhooks/http-exception.ts';
import { recordedHeaders } from '../webhooks/invocation-record.ts';
import { templateOf } from '../webhooks/logged-call.ts';
import { responseJsonOrNull } from '../webhooks/response-json.ts';
import { retryAfter } from '../webhooks/retry-after.ts';
import { type TraceContext, traceHeaders } from '../webhooks/trace-context.ts';
import { TransformFailure } from '../webhooks/transform/transform-failure.ts';
import { loggedCall, openWebhook, type Webhook, type WebhookCall, type WebhookDefinition } from '../webhooks/webhook.ts';
import { clientErrorRecord, payloadOf, type RecordVersion, requestRecord, responseRecord } from './delivery-record.ts';

export interface Delivery {
  readonly of: DeliveryKind;
  readonly eventId: string;
  /** Name of the trigger; `null` for a one-off event. */
  readonly eventName: string | null;
  readonly recordVersion: RecordVersion;
  /** Throws SvcError for missing environment variables, TransformFailure for invalid templates. */
  webhook(): Webhook;
  readonly retry: RetryPolicy;
  /** Number of attempts before this one. */
  readonly tries: number;
  /** JSON text. */
  readonly body: string;
  readonly sessionVariables: ReadonlyMap<string, string> | null;
  /** Trace context of the request that caused the event. */
  readonly trace?: TraceContext | undefined;
  /** Parent span of the call. Not set if tracing is off. */
  readonly span?: Span | undefined;
  /** Called with the duration of the call in seconds, whatever its result. */
  readonly onCalled?: ((seconds: number) => void) | undefined;
  /** Error message for a call that exceeds the maximum timeout. */
  readonly timedOut: string;
}

export type DeliveryEnd = Omit<DeliveryOutcome, 'id'>;

export interface DelivererOptions {
  readonly outbound: OutboundClient;
  readonly observe: Observer;
  readonly version: string;
  /** If true, failed deliveries are logged as errors. */
  readonly failuresAreErrors: boolean;
}

/** Makes one attempt, logs it, and returns its outcome. Rejects only if `signal` cancels it. */
export type Deliverer = (delivery: Delivery, signal: PromptCancellation) => Promise<DeliveryEnd>;

/** Maximum timeout of a call in seconds, whatever the trigger says. */
const MAX_TIMEOUT_S = 30 * 60;
/** Maximum size of a response for its record and its transform, in bytes. */
const MAX_RESPONSE_SIZE = 256 * 1024;

/** An attempt that is sent. */
interface SentDelivery {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
  readonly call: WebhookCall;
  /** In ms. */
  readonly timeout: number;
  /** Record of the request. */
  readonly request: string;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const attempts = new Attempts(options);
  return (delivery, signal) => attempts.deliver(delivery, signal);
}

class Attempts {
  readonly #options: DelivererOptions;
  readonly #ownHeaders: { readonly 'content-type': string; readonly 'user-agent': string };
  /** The own headers as in records. */
  readonly #recordedOwn: Readonly<Record<string, string>>;
  readonly #failureLevel: 'error' | 'info';

  constructor(options: DelivererOptions) {
    this.#options = options;
    const userAgent = `svc-graphql/${options.version}`;
    this.#ownHeaders = { 'content-type': 'application/json', 'user-agent': userAgent };
    this.#recordedOwn = { 'Content-Type': this.#ownHeaders['content-type'], 'User-Agent': userAgent };
    this.#failureLevel = options.failuresAreErrors ? 'error' : 'info';
  }

  #log(delivery: Delivery, level: 'error' | 'info', request: JsonObject | null, response: JsonObject): void {
    const { of, eventId, eventName } = delivery;
    this.#options.observe({ kind: 'delivery', of, level, eventId, eventName, request, response });
  }

  /** Opens the webhook and sends the call. */
  async deliver(delivery: Delivery, signal: PromptCancellation): Promise<DeliveryEnd> {
    let webhook: Webhook;
    let call: WebhookCall;
    try {
      webhook = delivery.webhook();
    } catch (error) {
      return error instanceof TransformFailure ? this.#invalidTransform(delivery, error) : this.#invalidWebhook(delivery, error);
    }
    try {
      const headers = { ...this.#ownHeaders, ...(delivery.trace === undefined ? {} : traceHeaders(delivery.trace)) };
      call = webhook.prepare(delivery.body, headers, delivery.sessionVariables);
    } catch (error) {
      if (error instanceof TransformFailure) return this.#invalidTransform(delivery, error);
      throw error;
    }
    const timeout = Math.min(delivery.retry.timeoutSeconds, MAX_TIMEOUT_S) * 1000;
    const request = requestRecord(delivery.recordVersion, recordedHeaders(webhook.definition.headers, this.#recordedOwn), payloadOf(call));
    const sent: SentDelivery = { delivery, webhook, call, timeout, request };
    try {
      return this.#withResponse(sent, await this.#send(sent, signal));
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#withoutResponse(sent, error);
    }
  }

  async #send({ delivery, webhook, call, timeout }: SentDelivery, signal: PromptCancellation): Promise<OutboundResponse> {
    const { url, method, headers, body } = call;
    const template = templateOf(webhook.definition.url);
    const request = { kind: callKind(delivery), url, template, method, headers, ...(body === undefined ? {} : { body }) };
    const began = performance.now();
    return callWebhook(
      this.#options.outbound,
      { ...request, timeout, maxResponseSize: MAX_RESPONSE_SIZE, cutLargeResponse: true },
      { signal, trace: delivery.span },
    ).finally(() => delivery.onCalled?.((performance.now() - began) / 1000));
  }

  /** The request cannot be built. No retry: the templates would fail again. */
  #invalidTransform(delivery: Delivery, { faults }: TransformFailure): DeliveryEnd {
    this.#log(delivery, 'error', null, { error: 'the request transform failed', internal: faults });
    return { result: { kind: 'failed' }, invocation: null };
  }

  /** The webhook's configuration is incomplete. Retried: a missing variable may be set before the next attempt. */
  #invalidWebhook(delivery: Delivery, error: unknown): DeliveryEnd {
    const { recordVersion, body } = delivery;
    const message = `Error creating the request. ${error instanceof Error ? upperFirst(error.message) : 'unknown error'}`;
    this.#log(delivery, this.#failureLevel, null, { error: message });
    const request = requestRecord(recordVersion, [], body);
    return {
      result: afterFailure(delivery),
      invocation: clientErrorRecord(recordVersion, null, request, { type: 'http_exception', message }),
    };
  }

  #withoutResponse({ delivery, webhook, call, timeout, request }: SentDelivery, error: unknown): DeliveryEnd {
    const isOverMaximum = error instanceof OutboundError && error.failure === 'timeout' && delivery.retry.timeoutSeconds > MAX_TIMEOUT_S;
    const { url, method } = call;
    const exception: JsonObject = isOverMaximum
      ? { type: 'http_exception', message: delivery.timedOut }
      : httpException({ url, template: templateOf(webhook.definition.url), method, timeout }, error);
    this.#log(delivery, this.#failureLevel, loggedCall(webhook, call), { status: null, error: exception['message'] ?? null });
    return {
      result: afterFailure(delivery),
      invocation: clientErrorRecord(delivery.recordVersion, isOverMaximum ? 500 : null, request, exception),
    };
  }

  #withResponse(sent: SentDelivery, response: OutboundResponse): DeliveryEnd {
    const { delivery, webhook, call, request } = sent;
    const { status } = response;
    const isDelivered = status >= 200 && status < 300;
    let text: string;
    try {
      text = responseText(sent, response);
    } catch (error) {
      if (!(error instanceof TransformFailure)) throw error;
      const message = `the response transform failed: ${error.message}`;
      this.#log(delivery, this.#failureLevel, loggedCall(webhook, call), { status, error: message });
      return { result: afterFailure(delivery), invocation: responseRecord(delivery.recordVersion, 500, request, response, message) };
    }
    this.#log(delivery, isDelivered ? 'info' : this.#failureLevel, loggedCall(webhook, call), { status, size: response.body.length });
    const invocation = responseRecord(delivery.recordVersion, status, request, response, text);
    if (isDelivered) return { result: { kind: 'delivered' }, invocation };
    // `Retry-After` applies even if no retries are left.
    const seconds = retryAfter(response, Date.now());
    return { result: seconds === null ? afterFailure(delivery) : { kind: 'retry', seconds }, invocation };
  }
}

function callKind({ of, eventName }: Delivery): CallKind {
  if (of === 'event-trigger') return 'event';
  return eventName === null ? 'oneoff' : 'cron';
}

function afterFailure({ tries, retry: { numRetries, intervalSeconds } }: Delivery): DeliveryResult {
  return tries >= numRetries ? { kind: 'failed' } : { kind: 'retry', seconds: intervalSeconds };
}

/** Returns the response's text after its transform. @throws TransformFailure */
function responseText({ webhook, call, delivery: { sessionVariables } }: SentDelivery, { body, status }: OutboundResponse): string {
  const text = body.toString('utf8');
  if (webhook.transformResponse === null) return text;
  const transformed = webhook.transformResponse({
    body: responseJsonOrNull(body),
    status,
    sessionVariables: sessionVariables === null ? null : Object.fromEntries(sessionVariables),
    request: call.context,
  });
  return typeof transformed === 'string' ? transformed : printJson(transformed);
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Delay for an event without its trigger, which may be missing in this instance for a moment only. */
const UNKNOWN_TRIGGER_DELAY_S = 60;

/** Outcome for an event whose trigger does not exist: nothing is sent, and it is retried later. */
export function withoutTrigger(id: string): DeliveryOutcome {
  return { id, result: { kind: 'retry', seconds: UNKNOWN_TRIGGER_DELAY_S }, invocation: null };
}

/** Opens the webhook of a trigger. @throws SvcError for missing environment variables, TransformFailure */
export function openDestination(definition: WebhookDefinition, environment: EnvironmentVariables): Webhook {
  return openWebhook(
    definition,
    environment,
    (variables) => new SvcError('unexpected', variablesNotFound(variables).replace(/^Value/, 'The value')),
  );
}

/** Returns the size of an outcome's record, in characters. */
export function outcomeSize({ invocation }: Pick<DeliveryOutcome, 'invocation'>): number {
  return invocation === null ? 0 : invocation.request.length + invocation.response.length;
}

/** Returns the delay of the next attempt in ms, `null` if there is none. */
export function retryDelay({ result }: Pick<DeliveryOutcome, 'result'>): number | null {
  return result.kind === 'retry' ? result.seconds * 1000 : null;
}
