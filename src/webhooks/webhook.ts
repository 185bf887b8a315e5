/** Configured webhooks: URL, headers, transforms and signature. The caller sends the result of `prepare` with the outbound client. */
import {
  type ConfiguredText,
  type EnvironmentVariables,
  environmentVariable,
  type HeaderDefinition,
  type MissingVariables,
} from '../metadata/environment-template.ts';
import type { Signature } from '../metadata/signature.ts';
import type { RequestTransform, ResponseTransform } from '../metadata/transform.ts';
import { type RequestContext, requestContext } from './transform/context.ts';
import { compileRequestTransform, type Header, type RequestTransformer } from './transform/request-transform.ts';
import { compileResponseTransform, type ResponseTransformer } from './transform/response-transform.ts';
import { TransformFailure, wrongResult } from './transform/transform-failure.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { configuredHeaders, configuredUrl } from './configured.ts';
import { loggedHeaders, loggedTransformedUrl, loggedUrl } from './logged-call.ts';
import { SIGNATURE_HEADER, signatureOf } from './signature.ts';
import type { OutboundRequest } from '../http-client/request.ts';

export interface WebhookDefinition {
  readonly url: ConfiguredText;
  readonly headers: readonly HeaderDefinition[];
  readonly requestTransform?: RequestTransform | undefined;
  readonly responseTransform?: ResponseTransform | undefined;
  readonly signature?: Signature | undefined;
}

type Method = OutboundRequest['method'];
const METHODS: ReadonlySet<string> = new Set<Method>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export interface WebhookCall {
  readonly url: string;
  readonly method: Method;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` if a transform removed it. */
  readonly body: string | undefined;
  /** The body is form-encoded instead of JSON. */
  readonly isForm: boolean;
  /** The input of the request transform; `null` without one. */
  readonly context: RequestContext | null;
}

export interface Webhook {
  readonly definition: WebhookDefinition;
  /** With values of the environment: not for logs. */
  readonly url: string;
  /** `null` without a response transform. */
  readonly transformResponse: ResponseTransformer | null;
  /**
   * @param body JSON text
   * @param headers of the service itself; they take precedence over configured ones
   * @param sessionVariables `null` if the call has no session
   * @throws TransformFailure
   */
  prepare(body: string, headers: Readonly<Record<string, string>>, sessionVariables: ReadonlyMap<string, string> | null): WebhookCall;
}

/**
 * Fills the definition from the environment and compiles its templates.
 * @throws the error of `missing` if variables are not set
 * @throws TransformFailure
 */
export function openWebhook(definition: WebhookDefinition, environment: EnvironmentVariables, missing: MissingVariables): Webhook {
  const { requestTransform, responseTransform, signature } = definition;
  const url = configuredUrl(definition.url, environment, missing);
  const configured = configuredHeaders(definition.headers, environment, missing);
  const secret = signature && environmentVariable(signature.secretFromEnv, environment, missing);
  const transform = requestTransform && compileRequestTransform(requestTransform);
  const transformedCall = (by: RequestTransformer, call: Untransformed): WebhookCall => {
    try {
      return transformed(by, call);
    } catch (error) {
      throw error instanceof TransformFailure ? withoutUrl(error, url, loggedUrl(definition.url)) : error;
    }
  };
  return {
    definition,
    url,
    transformResponse: responseTransform === undefined ? null : compileResponseTransform(responseTransform),
    prepare(body, own, sessionVariables) {
      const headers = { ...configured, ...own };
      const call =
        transform === undefined ? plain(url, headers, body) : transformedCall(transform, { url, headers, body, sessionVariables });
      return secret === undefined ? call : signed(call, secret);
    },
  };
}

function plain(url: string, headers: Readonly<Record<string, string>>, body: string): WebhookCall {
  return { url, method: 'POST', headers, body, isForm: false, context: null };
}

interface Untransformed {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly sessionVariables: ReadonlyMap<string, string> | null;
}

function transformed(transform: RequestTransformer, { url, headers, body: text, sessionVariables }: Untransformed): WebhookCall {
  const body = parseJson(text);
  const context = requestContext({ body, baseUrl: url, sessionVariables });
  const request = transform({ method: 'POST', url, headers: Object.entries(headers), body: { kind: 'json', value: body } }, context);
  const { method, body: changed } = request;
  if (!isMethod(method)) throw wrongResult(`Unsupported HTTP method: ${method}`);
  return { url: request.url, method, headers: joined(request.headers), body: bodyText(changed), isForm: changed.kind === 'form', context };
}

/** Replaces the URL in failures, which are shown and logged, by the one written in the metadata: the filled one may contain secrets. */
function withoutUrl(failure: TransformFailure, url: string, written: string): TransformFailure {
  // A failure contains texts as they are, or as JSON.
  const masked = [url, JSON.stringify(url).slice(1, -1)].reduce((faults, text) => {
    const inJson = JSON.stringify(text).slice(1, -1);
    return inJson === '' ? faults : faults.replaceAll(inJson, () => JSON.stringify(written).slice(1, -1));
  }, printJson(failure.faults));
  return new TransformFailure(parseJson(masked) as readonly JsonObject[]);
}

function isMethod(method: string): method is Method {
  return METHODS.has(method);
}

/** Joins headers by name; the last one wins, since added ones come after original ones. */
function joined(headers: readonly Header[]): Record<string, string> {
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
}

function bodyText(body: ReturnType<RequestTransformer>['body']): string | undefined {
  switch (body.kind) {
    case 'json':
      return printJson(body.value);
    case 'form':
      return body.text;
    case 'none':
      return undefined;
  }
}

function signed(call: WebhookCall, secret: string): WebhookCall {
  const signature = signatureOf(secret, call.body ?? '', Math.floor(Date.now() / 1000));
  return { ...call, headers: { ...call.headers, [SIGNATURE_HEADER]: signature } };
}

/** Opens the webhook of each object on first use and caches it. */
export function webhookCache<T extends object>(open: (of: T) => Webhook): (of: T) => Webhook {
  const opened = new WeakMap<T, Webhook>();
  return (of) => {
    let webhook = opened.get(of);
    if (webhook === undefined) {
      webhook = open(of);
      opened.set(of, webhook);
    }
    return webhook;
  };
}

/** Reads the session variables stored with an event: a JSON object of strings. */
export function storedSessionVariables(json: Json | undefined): ReadonlyMap<string, string> | null {
  if (!isJsonObject(json)) return null;
  return new Map(Object.entries(json).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])));
}

/** Describes a call for logs: as configured, and as transformed. */
export function loggedCall({ definition, url }: Webhook, call: WebhookCall): JsonObject {
  const headers = loggedHeaders(call.headers, definition.headers).map(({ name, value }) => [name, value]);
  const original = { url: loggedUrl(definition.url), method: 'POST' };
  if (call.context === null) return { original_request: { ...original, headers }, transformed_request: null };
  return {
    original_request: original,
    transformed_request: { url: loggedTransformedUrl(call.url, definition.url, url), method: call.method, headers },
  };
}
