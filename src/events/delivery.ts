/** One attempt to deliver an event to its webhook, and what follows from how it went. */
import type { DeliveryOutcome, DeliveryResult, InvocationRecord } from '../backend/event-store.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Environment } from '../metadata/environment-template.ts';
import type { RetryPolicy } from '../metadata/retry-policy.ts';
import type { DeliveryKind, Observer } from '../observability/observation.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { TransformFailure } from '../webhooks/transform/transform-failure.ts';
import type { PromptCancellation } from '../util/cancellation.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import { answerJsonOrNull } from '../webhooks/answer-json.ts';
import { callWebhook } from '../webhooks/call-webhook.ts';
import { httpException } from '../webhooks/http-exception.ts';
import { answeredHeaders, recordedHeaders } from '../webhooks/invocation-record.ts';
import { templateOf } from '../webhooks/logged-call.ts';
import { retryAfter } from '../webhooks/retry-after.ts';
import { type TraceContext, traceHeaders } from '../webhooks/trace-context.ts';
import { loggedCall, openWebhook, type Webhook, type WebhookCall, type WebhookDefinition } from '../webhooks/webhook.ts';
import type { CallKind, OutboundResponse } from '../http-client/request.ts';

export interface Delivery {
  readonly of: DeliveryKind;
  readonly eventId: string;
  /** Of the trigger; null for a one-off event. */
  readonly eventName: string | null;
  /** Of the form of the record. */
  readonly recordVersion: '1' | '2';
  /** Throws SvcError when the environment does not have what it needs, TransformFailure when its templates are no templates. */
  webhook(): Webhook;
  readonly retry: RetryPolicy;
  /** Attempts before this one. */
  readonly tries: number;
  /** JSON text. */
  readonly body: string;
  readonly sessionVariables: ReadonlyMap<string, string> | null;
  /** Of the request that caused the event. */
  readonly trace?: TraceContext | undefined;
  /** What the call is a part of; absent: nothing is traced here. */
  readonly span?: Span | undefined;
  /** Hears how many seconds the call of the webhook took, whatever came of it. */
  readonly onCalled?: ((seconds: number) => void) | undefined;
  /** What is said when it has taken longer than anything may. */
  readonly timedOut: string;
}

export type DeliveryEnd = Omit<DeliveryOutcome, 'id'>;

export interface DelivererOptions {
  readonly outbound: OutboundClient;
  readonly observe: Observer;
  readonly version: string;
  /** Whether failed deliveries are logged as errors. */
  readonly failuresAreErrors: boolean;
}

/** Rejects only when `signal` ends it. */
export type Deliverer = (delivery: Delivery, signal: PromptCancellation) => Promise<DeliveryEnd>;

/** Whatever a trigger says. */
const LONGEST_S = 30 * 60;
/** Of an answer, for its record and its transform. bytes */
const ANSWER_LIMIT = 256 * 1024;

/** Makes attempts at deliveries, tells of them, and gives what is to be recorded. */
export function createDeliverer({ outbound, observe, version, failuresAreErrors }: DelivererOptions): Deliverer {
  const ownHeaders = { 'content-type': 'application/json', 'user-agent': `svc-graphql/${version}` };
  const recordedOwn = { 'Content-Type': ownHeaders['content-type'], 'User-Agent': ownHeaders['user-agent'] };

  function tell(delivery: Delivery, isFailure: boolean, request: JsonObject | null, response: JsonObject): void {
    const { of, eventId, eventName } = delivery;
    observe({ kind: 'delivery', of, level: isFailure && failuresAreErrors ? 'error' : 'info', eventId, eventName, request, response });
  }

  return async (delivery, signal) => {
    const { recordVersion, retry, tries, body } = delivery;
    let webhook: Webhook;
    let call: WebhookCall;
    try {
      webhook = delivery.webhook();
    } catch (error) {
      if (error instanceof TransformFailure) return unsendable(error);
      // Somebody may set the variable before the next attempt.
      const message = `Error creating the request. ${error instanceof Error ? upperFirst(error.message) : 'it cannot be made'}`;
      tell(delivery, true, null, { error: message });
      return {
        result: afterFailure(tries, retry),
        invocation: { status: null, request: recordedRequest([], body), response: clientError({ type: 'http_exception', message }) },
      };
    }
    try {
      call = webhook.prepare(
        body,
        { ...ownHeaders, ...(delivery.trace === undefined ? {} : traceHeaders(delivery.trace)) },
        delivery.sessionVariables,
      );
    } catch (error) {
      if (error instanceof TransformFailure) return unsendable(error);
      throw error;
    }
    const timeout = Math.min(retry.timeoutSeconds, LONGEST_S) * 1000;
    const sent = recordedRequest(recordedHeaders(webhook.definition.headers, recordedOwn), payloadOf(call));
    const began = performance.now();
    const called = (): void => delivery.onCalled?.((performance.now() - began) / 1000);
    try {
      const { url, method, headers } = call;
      const template = templateOf(webhook.definition.url);
      const request = { kind: callKind(delivery), url, template, method, headers, ...(call.body === undefined ? {} : { body: call.body }) };
      const answer = await callWebhook(
        outbound,
        { ...request, timeout, maxResponseSize: ANSWER_LIMIT, cutLargeResponse: true },
        { signal, trace: delivery.span },
      ).finally(called);
      return answered(answer);
    } catch (error) {
      if (signal.aborted) throw error;
      return unanswered(error);
    }

    /** Sending it again would be no better. */
    function unsendable(error: TransformFailure): DeliveryEnd {
      observe({
        kind: 'delivery',
        of: delivery.of,
        level: 'error',
        eventId: delivery.eventId,
        eventName: delivery.eventName,
        request: null,
        response: { error: 'the request transform failed', internal: error.faults },
      });
      return { result: { kind: 'failed' }, invocation: null };
    }

    /** @param payload JSON text */
    function recordedRequest(headers: readonly JsonObject[], payload: string): string {
      return `{"version":"${recordVersion}","headers":${printJson(headers)},"payload":${payload}}`;
    }

    function clientError(exception: JsonObject): string {
      return printJson({ type: 'client_error', version: recordVersion, data: { message: printJson(exception) } });
    }

    function unanswered(error: unknown): DeliveryEnd {
      const isOver = error instanceof OutboundError && error.failure === 'timeout' && retry.timeoutSeconds > LONGEST_S;
      const { url, method } = call;
      const exception: JsonObject = isOver
        ? { type: 'http_exception', message: delivery.timedOut }
        : httpException({ url, template: templateOf(webhook.definition.url), method, timeout }, error);
      tell(delivery, true, loggedCall(webhook, call), { status: null, error: exception['message'] ?? null });
      return {
        result: afterFailure(tries, retry),
        invocation: { status: isOver ? 500 : null, request: sent, response: clientError(exception) },
      };
    }

    function answered(answer: OutboundResponse): DeliveryEnd {
      const { status } = answer;
      const isDelivered = status >= 200 && status < 300;
      let text: string;
      try {
        text = answerText(webhook, call, answer, delivery.sessionVariables);
      } catch (error) {
        if (!(error instanceof TransformFailure)) throw error;
        const message = `the response transform failed: ${error.message}`;
        tell(delivery, true, loggedCall(webhook, call), { status, error: message });
        return { result: afterFailure(tries, retry), invocation: responseRecord(500, answer, message) };
      }
      tell(delivery, !isDelivered, loggedCall(webhook, call), { status, size: answer.body.length });
      const invocation = responseRecord(status, answer, text);
      if (isDelivered) return { result: { kind: 'delivered' }, invocation };
      // Also when no retries are left.
      const seconds = retryAfter(answer, Date.now());
      return { result: seconds === null ? afterFailure(tries, retry) : { kind: 'retry', seconds }, invocation };
    }

    function responseRecord(status: number, answer: OutboundResponse, text: string): InvocationRecord {
      const data = { status, headers: answeredHeaders(answer), body: text, ...(answer.isCut === true ? { is_cut: true } : {}) };
      return { status, request: sent, response: printJson({ version: recordVersion, type: 'webhook_response', data }) };
    }
  };
}

function callKind({ of, eventName }: Delivery): CallKind {
  if (of === 'event-trigger') return 'event';
  return eventName === null ? 'oneoff' : 'cron';
}

/** When the trigger of an event is gone for a moment only, as far as this instance knows. */
const UNKNOWN_TRIGGER_WAIT_S = 60;

/** What becomes of an event whose trigger is not there: nothing is sent, and it is looked at again. */
export function withoutTrigger(id: string): DeliveryOutcome {
  return { id, result: { kind: 'retry', seconds: UNKNOWN_TRIGGER_WAIT_S }, invocation: null };
}

/** The webhook that events are sent to. @throws SvcError when the environment does not have what it needs, TransformFailure */
export function openDestination(definition: WebhookDefinition, environment: Environment): Webhook {
  return openWebhook(
    definition,
    environment,
    (names) => new SvcError('unexpected', `The value for environment variables not found: ${names.join(', ')}`),
  );
}

/** Characters. */
export function sizeOf({ invocation }: Pick<DeliveryOutcome, 'invocation'>): number {
  return invocation === null ? 0 : invocation.request.length + invocation.response.length;
}

/** ms */
export function dueAgain({ result }: Pick<DeliveryOutcome, 'result'>): number | null {
  return result.kind === 'retry' ? result.seconds * 1000 : null;
}

function afterFailure(tries: number, { numRetries, intervalSeconds }: RetryPolicy): DeliveryResult {
  return tries >= numRetries ? { kind: 'failed' } : { kind: 'retry', seconds: intervalSeconds };
}

/** @throws TransformFailure */
function answerText(
  webhook: Webhook,
  call: WebhookCall,
  { body, status }: OutboundResponse,
  sessionVariables: ReadonlyMap<string, string> | null,
): string {
  const text = body.toString('utf8');
  if (webhook.transformResponse === null) return text;
  const made = webhook.transformResponse({
    body: answerJsonOrNull(body),
    status,
    sessionVariables: sessionVariables === null ? null : Object.fromEntries(sessionVariables),
    request: call.context,
  });
  return typeof made === 'string' ? made : printJson(made);
}

/** JSON text; that of a form is a text in it. */
function payloadOf({ body = 'null', isForm }: WebhookCall): string {
  return isForm ? JSON.stringify(body) : body;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
