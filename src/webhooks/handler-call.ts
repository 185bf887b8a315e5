/** Calls action handlers: builds the request and validates the response. */
import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import type { ActionDefinition } from '../metadata/action.ts';
import { type EnvironmentVariables, type MissingVariables, SET_VARIABLES, variablesNotSet } from '../metadata/environment-template.ts';
import type { ActionObservation, ActionOutcome } from '../observability/observation.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { TransformFailure } from './transform/transform-failure.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { ResponseFault, responseJsonCooperatively, responseJsonOrNull } from './response-json.ts';
import { ResponseCounter, type ResponseUsage } from './response-usage.ts';
import { callWebhook, type TracedCallOptions, timeoutWithin, type WebhookRequest } from './call-webhook.ts';
import { clientHeaders } from './client-headers.ts';
import { cookiesOf } from './cookies.ts';
import { httpException } from './http-exception.ts';
import { loggedHeaders, loggedTransformedUrl, loggedUrl } from './logged-call.ts';
import { retryAfter } from './retry-after.ts';
import { webhookCache, openWebhook, type Webhook, type WebhookCall } from './webhook.ts';
import type { OutboundResponse } from '../http-client/request.ts';

export interface HandlerCall {
  readonly name: string;
  readonly definition: ActionDefinition;
  readonly input: JsonObject;
  readonly sessionVariables: ReadonlyMap<string, string>;
  /** Text of the client's GraphQL query; `null` for an asynchronous call. */
  readonly query: string | null;
  /** Headers of the client's request, if there is one. */
  readonly headers?: IncomingHttpHeaders;
  readonly options: TracedCallOptions;
  /** Reserves memory for each piece of the response; reading pauses while the promise is pending. Absent if nothing is reserved. */
  readonly reserveMemory?: (bytes: number) => Promise<void> | null;
  /** Called with the delay that the handler requests by `Retry-After`, in seconds. */
  readonly onRetryAfter?: (seconds: number) => void;
}

export interface HandlerReply {
  readonly body: Json;
  readonly cookies: readonly string[];
  /** Returns the error for a body that does not match the declared type. */
  refused(message: string): SvcError;
}

/** @throws SvcError if there is no response, an invalid one, or an error of the handler */
export type HandlerCaller = (call: HandlerCall, usage: ResponseUsage) => Promise<HandlerReply>;

export interface HandlerCallerOptions {
  readonly outbound: OutboundClient;
  readonly environment: EnvironmentVariables;
  /** E.g. `svc-graphql/1.0.0`. */
  readonly userAgent: string;
  /** Maximum size of all responses for one client request, in bytes. */
  readonly maxResponseSize: number;
  /** If true, configured headers take precedence over those of the service and of the client; otherwise the reverse. */
  readonly configuredHeadersFirst: boolean;
  /** Called after each response, if given. */
  readonly observeResponse?: (observation: ActionObservation) => void;
  /** Called after each call without a response. */
  readonly observeFailure: (observation: ActionObservation) => void;
}

const KINDS = { query: 'query', synchronous: 'mutation-synchronous', asynchronous: 'mutation-asynchronous' } as const;

/** Creates the caller for handlers as configured in the metadata. */
export function createHandlerCaller(options: HandlerCallerOptions): HandlerCaller {
  const { outbound, environment, maxResponseSize } = options;
  const webhookOf = webhookCache((definition: ActionDefinition) => open(definition, environment));
  return async (call, usage) => {
    const { name, definition, sessionVariables, options: callOptions } = call;
    const webhook = webhookOf(definition);
    const payload: JsonObject = {
      action: { name },
      input: call.input,
      session_variables: Object.fromEntries(sessionVariables),
      request_query: call.query,
    };
    const body = printJson(payload);
    const request = prepared(webhook, body, ownHeaders(call, options), sessionVariables);
    const report = new CallReport(webhook, request, payload);
    const counter = new ResponseCounter(usage, maxResponseSize);
    const timeout = timeoutWithin(definition.timeout * 1000, callOptions);
    const observed = (outcome: ActionOutcome): ActionObservation => ({
      kind: 'action',
      action: name,
      type: KINDS[definition.kind],
      ...report.logged(),
      requestSize: Buffer.byteLength(body),
      transformedRequestSize: request.context === null ? null : Buffer.byteLength(request.body ?? ''),
      outcome,
      trace: callOptions.trace,
    });
    let response: OutboundResponse;
    try {
      const { url, method, headers, body: requestBody } = request;
      const outgoing: WebhookRequest = {
        ...{ kind: 'action', url, template: definition.handler, method, headers, body: requestBody },
        ...{ timeout, maxResponseSize, onBytes: counter.onBytes, reserveMemory: call.reserveMemory },
      };
      response = await callWebhook(outbound, outgoing, callOptions);
    } catch (error) {
      const refusal = counter.refusal(definition.kind !== 'query');
      if (refusal !== null) throw refusal;
      const reason =
        error instanceof OutboundError && error.failure === 'too-large'
          ? `the responses of handlers exceed ${maxResponseSize} bytes`
          : httpException({ url: request.url, template: definition.handler, method: request.method, timeout }, error);
      // Cancelled with the request, so the handler did not fail.
      if (!(error instanceof OutboundError && error.failure === 'cancelled')) options.observeFailure(observed({ error: reason }));
      throw report.failure('http exception when calling webhook', reason, null, error);
    }
    options.observeResponse?.(observed({ status: response.status, responseSize: response.body.length }));
    const delay = call.onRetryAfter === undefined ? null : retryAfter(response, Date.now());
    if (delay !== null) call.onRetryAfter?.(delay);
    return checkedReply(response, webhook, request, report, sessionVariables);
  };
}

/** @throws SvcError if a variable has been removed from the environment since the metadata was checked */
function open(
  { handler, headers, requestTransform, responseTransform, signature }: ActionDefinition,
  environment: EnvironmentVariables,
): Webhook {
  const missing: MissingVariables = (variables) => new SvcError('not-found', variablesNotSet(variables), { remedies: [SET_VARIABLES] });
  const definition = { url: { kind: 'template', text: handler } as const, headers, requestTransform, responseTransform, signature };
  return openWebhook(definition, environment, missing);
}

/** Returns the headers of a client's request that a handler gets. */
export function headersForHandler(definition: ActionDefinition, headers: IncomingHttpHeaders | undefined): Record<string, string> {
  return definition.forwardClientHeaders && headers !== undefined ? clientHeaders(headers, definition.ignoredClientHeaders) : {};
}

function ownHeaders(
  { definition, headers }: HandlerCall,
  { userAgent, configuredHeadersFirst }: HandlerCallerOptions,
): Record<string, string> {
  const defaults = { 'content-type': 'application/json', 'user-agent': userAgent };
  const client = headersForHandler(definition, headers);
  if (!configuredHeadersFirst) return { ...defaults, ...client };
  const own: Record<string, string> = { ...client, ...defaults };
  for (const { name } of definition.headers) delete own[name.toLowerCase()];
  return own;
}

function prepared(
  webhook: Webhook,
  body: string,
  headers: Readonly<Record<string, string>>,
  sessionVariables: ReadonlyMap<string, string>,
): WebhookCall {
  try {
    return webhook.prepare(body, headers, sessionVariables);
  } catch (error) {
    if (!(error instanceof TransformFailure)) throw error;
    throw new SvcError('unexpected', 'Request Transformation Failed', { internal: error.faults, cause: error });
  }
}

/** @throws SvcError */
async function checkedReply(
  response: OutboundResponse,
  webhook: Webhook,
  { context }: WebhookCall,
  report: CallReport,
  sessionVariables: ReadonlyMap<string, string>,
): Promise<HandlerReply> {
  const { status } = response;
  let body: Json;
  try {
    body =
      webhook.transformResponse === null
        ? await responseJsonCooperatively(response.body)
        : transformed(response, webhook, context, sessionVariables);
  } catch (error) {
    if (!(error instanceof ResponseFault)) throw error;
    throw report.failure('not a valid json response from webhook', `invalid JSON: the response ${error.message}`, response, error);
  }
  if (status >= 200 && status < 300) {
    return {
      body,
      cookies: cookiesOf(response),
      refused: (message) => report.failure(message, 'unexpected response', response, undefined, 400),
    };
  }
  if (status >= 400 && status < 500) throw errorOf(status, body) ?? report.failure('internal error', 'not a valid response', response);
  throw report.failure('internal error', `expecting 2xx or 4xx status code, but found ${status}`, response);
}

/** @throws SvcError, ResponseFault */
function transformed(
  { status, body }: OutboundResponse,
  webhook: Webhook,
  request: WebhookCall['context'],
  sessionVariables: ReadonlyMap<string, string>,
): Json {
  try {
    return (
      webhook.transformResponse?.({
        body: responseJsonOrNull(body),
        status,
        sessionVariables: request?.sessionVariables ?? Object.fromEntries(sessionVariables),
        request,
      }) ?? null
    );
  } catch (error) {
    if (!(error instanceof TransformFailure)) throw error;
    throw new SvcError('unexpected', 'Response Transformation Failed', { internal: error.faults, cause: error });
  }
}

/** Returns the handler's own error; `null` if it does not have the form `{message, code?, extensions?}`. */
function errorOf(status: number, body: Json): SvcError | null {
  if (!isJsonObject(body)) return null;
  const { message, code, extensions } = body;
  if (typeof message !== 'string') return null;
  const shownCode = typeof code === 'string' ? code : 'unexpected';
  const shown = isJsonObject(extensions) ? extensions : { path: '$', code: shownCode };
  return new SvcError('unexpected', message, { status, shownCode, graphqlErrors: [{ message, extensions: shown }] });
}

/** Describes a call for administrators and logs: without secrets of the environment and without credentials. */
class CallReport {
  readonly #webhook: Webhook;
  readonly #request: WebhookCall;
  readonly #payload: JsonObject;

  constructor(webhook: Webhook, request: WebhookCall, payload: JsonObject) {
    this.#webhook = webhook;
    this.#request = request;
    this.#payload = payload;
  }

  logged(): Pick<ActionObservation, 'request' | 'transformedRequest'> {
    const { definition } = this.#webhook;
    return {
      request: { url: loggedUrl(definition.url), method: 'POST', headers: this.#headers() },
      transformedRequest: this.#transformed(),
    };
  }

  /** @param response `null` if there was none */
  failure(message: string, error: Json, response: OutboundResponse | null, cause?: unknown, status = 500): SvcError {
    const internal: JsonObject = {
      error,
      request: {
        url: loggedUrl(this.#webhook.definition.url),
        headers: this.#headers(),
        body: this.#payload,
        transformed_request: this.#transformed(bodyJson(this.#request.body)),
      },
      response:
        response === null ? null : { status: response.status, headers: headerList(response.headers), body: shownBody(response.body) },
    };
    return new SvcError('unexpected', message, { status, internal, ...(cause === undefined ? {} : { cause }) });
  }

  #headers(): readonly JsonObject[] {
    return headerList(this.#request.headers, this.#webhook.definition.headers);
  }

  #transformed(body?: Json): JsonObject | null {
    const { url, method, context } = this.#request;
    if (context === null) return null;
    const shown = loggedTransformedUrl(url, this.#webhook.definition.url, this.#webhook.url);
    return { url: shown, method, headers: this.#headers(), ...(body === undefined ? {} : { body }) };
  }
}

function headerList(...of: Parameters<typeof loggedHeaders>): readonly JsonObject[] {
  return loggedHeaders(...of).map(({ name, value }) => ({ name, value }));
}

function bodyJson(body: string | undefined): Json {
  if (body === undefined) return null;
  try {
    return parseJson(body);
  } catch {
    return body;
  }
}

/** Maximum size of a response body in errors, in bytes. */
const MAX_SHOWN_BODY = 65_536;

function shownBody(body: Buffer): Json {
  if (body.length > MAX_SHOWN_BODY) return `${body.toString('utf8', 0, 200)}… (${body.length} bytes)`;
  return responseJsonOrNull(body) ?? body.toString('utf8');
}
