/** Calls of the handlers of actions: what is sent, and what counts as an answer. */
import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import type { ActionDefinition } from '../metadata/action.ts';
import { type Environment, variablesNotSet } from '../metadata/environment-template.ts';
import type { ActionObservation } from '../observability/observation.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { TransformFailure } from './transform/transform-failure.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { AnswerFault, answerJsonInSlices, answerJsonOrNull } from './answer-json.ts';
import { AnswerIntake, type AnswerUse } from './answer-use.ts';
import { callWebhook, type Patience, timeoutWithin, type WebhookRequest } from './call-webhook.ts';
import { clientHeaders } from './client-headers.ts';
import { cookiesOf } from './cookies.ts';
import { httpException } from './http-exception.ts';
import { loggedHeaders, loggedTransformedUrl, loggedUrl } from './logged-call.ts';
import { retryAfter } from './retry-after.ts';
import { openedOnce, openWebhook, type Webhook, type WebhookCall } from './webhook.ts';
import type { OutboundResponse } from '../http-client/request.ts';

export interface HandlerCall {
  readonly name: string;
  readonly definition: ActionDefinition;
  readonly input: JsonObject;
  readonly sessionVariables: ReadonlyMap<string, string>;
  /** Of the client; null for a call that is made later. */
  readonly query: string | null;
  /** Of the client's request; absent where there are none. */
  readonly headers?: IncomingHttpHeaders;
  readonly how: Patience;
  /** Hears of the bytes of the answer as they come; a promise: nothing more is read before that. Absent: all is read at once. */
  readonly hold?: (bytes: number) => Promise<void> | null;
  /** Hears after how many seconds the handler asks to be called again. */
  readonly onRetryAfter?: (seconds: number) => void;
}

export interface HandlerReply {
  readonly body: Json;
  readonly cookies: readonly string[];
  /** How it is refused that the body is not what was declared. */
  refused(message: string): SvcError;
}

/** @throws SvcError where the handler gives no answer, none of use, or an error */
export type HandlerCaller = (call: HandlerCall, use: AnswerUse) => Promise<HandlerReply>;

export interface HandlerCallerOptions {
  readonly outbound: OutboundClient;
  readonly environment: Environment;
  /** `svc-graphql/1.0.0` */
  readonly userAgent: string;
  /** Bytes of all answers to one request of a client. */
  readonly maxResponseSize: number;
  /** Configured headers count more than those of the service and of the client, in place of less. */
  readonly configuredHeadersFirst: boolean;
  /** Hears of every call; absent: nobody wants to know. */
  readonly observe?: (observation: ActionObservation) => void;
}

const KINDS = { query: 'query', synchronous: 'mutation-synchronous', asynchronous: 'mutation-asynchronous' } as const;

/** Calls handlers as the metadata configure them, tells of each call, and judges the answers. */
export function createHandlerCaller(options: HandlerCallerOptions): HandlerCaller {
  const { outbound, environment, maxResponseSize } = options;
  const webhookOf = openedOnce((definition: ActionDefinition) => open(definition, environment));
  return async (call, use) => {
    const { name, definition, sessionVariables, how } = call;
    const webhook = webhookOf(definition);
    const payload: JsonObject = {
      action: { name },
      input: call.input,
      session_variables: Object.fromEntries(sessionVariables),
      request_query: call.query,
    };
    const body = printJson(payload);
    const request = prepared(webhook, body, ownHeaders(call, options), sessionVariables);
    const told = new Told(webhook, request, payload);
    const intake = new AnswerIntake(use, maxResponseSize);
    const { take } = intake;
    const timeout = timeoutWithin(definition.timeout * 1000, how);
    let response: OutboundResponse;
    try {
      const { url, method, headers } = request;
      const { body: sent } = request;
      const asked: WebhookRequest = {
        ...{ kind: 'action', url, template: definition.handler, method, headers, body: sent },
        ...{ timeout, maxResponseSize, take, hold: call.hold },
      };
      response = await callWebhook(outbound, asked, how);
    } catch (error) {
      const refusal = intake.refusal(definition.kind !== 'query');
      if (refusal !== null) throw refusal;
      const reason =
        error instanceof OutboundError && error.failure === 'too-large'
          ? `the answers of handlers have more than ${maxResponseSize} bytes`
          : httpException({ url: request.url, template: definition.handler, method: request.method, timeout }, error);
      throw told.failure('http exception when calling webhook', reason, null, error);
    }
    options.observe?.({
      kind: 'action',
      action: name,
      type: KINDS[definition.kind],
      ...told.logged(),
      requestSize: Buffer.byteLength(body),
      transformedRequestSize: request.context === null ? null : Buffer.byteLength(request.body ?? ''),
      responseSize: response.body.length,
      status: response.status,
      trace: how.trace,
    });
    const wait = call.onRetryAfter === undefined ? null : retryAfter(response, Date.now());
    if (wait !== null) call.onRetryAfter?.(wait);
    return judged(response, webhook, request, told, sessionVariables);
  };
}

/** @throws SvcError what the environment lost since the metadata was checked */
function open({ handler, headers, requestTransform, responseTransform, signature }: ActionDefinition, environment: Environment): Webhook {
  const missing = (names: readonly string[]): SvcError => new SvcError('not-found', variablesNotSet(names));
  const definition = { url: { kind: 'template', text: handler } as const, headers, requestTransform, responseTransform, signature };
  return openWebhook(definition, environment, missing);
}

/** Of the headers of a client's request those that a handler gets. */
export function forwardedTo(definition: ActionDefinition, headers: IncomingHttpHeaders | undefined): Record<string, string> {
  return definition.forwardClientHeaders && headers !== undefined ? clientHeaders(headers, definition.ignoredClientHeaders) : {};
}

function ownHeaders(
  { definition, headers }: HandlerCall,
  { userAgent, configuredHeadersFirst }: HandlerCallerOptions,
): Record<string, string> {
  const defaults = { 'content-type': 'application/json', 'user-agent': userAgent };
  const client = forwardedTo(definition, headers);
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
async function judged(
  response: OutboundResponse,
  webhook: Webhook,
  { context }: WebhookCall,
  told: Told,
  sessionVariables: ReadonlyMap<string, string>,
): Promise<HandlerReply> {
  const { status } = response;
  let body: Json;
  try {
    body =
      webhook.transformResponse === null
        ? await answerJsonInSlices(response.body)
        : transformed(response, webhook, context, sessionVariables);
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    throw told.failure('not a valid json response from webhook', `invalid JSON: the answer ${error.message}`, response, error);
  }
  if (status >= 200 && status < 300) {
    return {
      body,
      cookies: cookiesOf(response),
      refused: (message) => told.failure(message, 'unexpected response', response, undefined, 400),
    };
  }
  if (status >= 400 && status < 500) throw errorOf(status, body) ?? told.failure('internal error', 'not a valid response', response);
  throw told.failure('internal error', `expecting 2xx or 4xx status code, but found ${status}`, response);
}

/** @throws SvcError, AnswerFault */
function transformed(
  { status, body }: OutboundResponse,
  webhook: Webhook,
  request: WebhookCall['context'],
  sessionVariables: ReadonlyMap<string, string>,
): Json {
  try {
    return (
      webhook.transformResponse?.({
        body: answerJsonOrNull(body),
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

/** The handler's own error; null where it gives none of the form `{message, code?, extensions?}`. */
function errorOf(status: number, body: Json): SvcError | null {
  if (!isJsonObject(body)) return null;
  const { message, code, extensions } = body;
  if (typeof message !== 'string') return null;
  const shownCode = typeof code === 'string' ? code : 'unexpected';
  const shown = isJsonObject(extensions) ? extensions : { path: '$', code: shownCode };
  return new SvcError('unexpected', message, { status, shownCode, graphqlErrors: [{ message, extensions: shown }] });
}

/** What administrators and logs are told of a call: no secrets of the environment and no credentials. */
class Told {
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

  /** @param response null: there was none */
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

/** Bytes of an answer that are told. */
const MOST_TOLD = 65_536;

function shownBody(body: Buffer): Json {
  if (body.length > MOST_TOLD) return `${body.toString('utf8', 0, 200)}… (${body.length} bytes)`;
  return answerJsonOrNull(body) ?? body.toString('utf8');
}
