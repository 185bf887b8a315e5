/** Webhook mode: an endpoint of the deployer identifies the client. */
import type { IncomingHttpHeaders } from 'node:http';
import type { HookMethod } from '../../config/option-types.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { Observer } from '../../observability/observation.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { OutboundError } from '../../http-client/outbound-error.ts';
import { safeUrl } from '../../http-client/safe-url.ts';
import { type Json, printJson } from '../../util/json.ts';
import { callWebhook } from '../../webhooks/call-webhook.ts';
import { forwardedHeaders } from '../../webhooks/client-headers.ts';
import { cookiesOf } from '../../webhooks/cookies.ts';
import type { Authenticated, CredentialCheck, GraphqlPayload, RequestHead } from '../credentials.ts';
import type { PrefixAliases } from '../prefix-aliases.ts';
import { describedHeaders } from './described-headers.ts';
import { describedRequest } from './described-request.ts';
import { decodeReply, INVALID_RESPONSE, webhookFailure } from './reply.ts';
import type { OutboundResponse } from '../../http-client/request.ts';

export interface WebhookOptions {
  readonly url: string;
  readonly method: HookMethod;
  /** If true, the body of a POST includes the GraphQL request. */
  readonly sendRequestBody: boolean;
  readonly outbound: OutboundClient;
  readonly observe: Observer;
  /** Other prefixes of session variables in responses. Defaults to none. */
  readonly prefixAliases?: PrefixAliases;
  /** In ms. Defaults to 30 seconds. */
  readonly timeout?: number;
}

/** The URL template for traces: the whole URL counts as a variable, so that no trace contains its path. */
const TEMPLATE = '{{SVC_GRAPHQL_AUTH_HOOK}}';
const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_SIZE = 1_048_576;
const USER_AGENT = 'svc-graphql';

export function createWebhookCheck(options: WebhookOptions): CredentialCheck {
  return {
    kind: 'webhook',
    // A request without credentials goes to the webhook, too.
    check: (request, graphql, client) => authenticate(options, request, graphql, client.signal()),
    place: webhookCredentials,
    headers: '*',
    missing: () => webhookFailure(INVALID_RESPONSE),
    accepted: 'credentials that the webhook accepts',
    stop() {},
  };
}

/** `Authorization` schemes whose credentials a browser sends again by itself. */
const REMEMBERED_SCHEME = /^\s*(?:basic|digest|negotiate|ntlm)\b/i;

/** The webhook may use any header, so a cookie or remembered credentials count as `browser`. */
function webhookCredentials({ cookie, authorization }: IncomingHttpHeaders): 'browser' | 'header' {
  return cookie !== undefined || (authorization !== undefined && REMEMBERED_SCHEME.test(authorization)) ? 'browser' : 'header';
}

async function authenticate(
  options: WebhookOptions,
  request: RequestHead,
  graphql: GraphqlPayload | null,
  signal: AbortSignal,
): Promise<Authenticated> {
  const response = await call(options, request, graphql, signal);
  const { status } = response;
  if (status === 401) {
    report(options, request, status, null, null);
    throw new SvcError('access-denied', 'Authentication hook unauthorized this request', { status: 401 });
  }
  if (status !== 200) {
    report(options, request, status, null, `expected the status 200 or 401, but got ${status}`);
    throw webhookFailure(INVALID_RESPONSE);
  }
  try {
    const { session, malformed } = decodeReply(
      { body: response.body.toString('utf8'), headers: response.headers },
      Date.now(),
      options.prefixAliases ?? [],
    );
    report(options, request, status, null, malformed.length === 0 ? null : `ignored malformed keys: ${malformed.join(', ')}`);
    return { session, cookies: cookiesOf(response) };
  } catch (error) {
    report(options, request, status, null, error instanceof SvcError ? error.message : INVALID_RESPONSE);
    throw error;
  }
}

async function call(
  { url, method, sendRequestBody, outbound, timeout = TIMEOUT_MS, ...options }: WebhookOptions,
  request: RequestHead,
  graphql: GraphqlPayload | null,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const bounds = { kind: 'auth', url, template: TEMPLATE, method, timeout, maxResponseSize: MAX_RESPONSE_SIZE } as const;
  try {
    if (method === 'GET') {
      const headers = { ...forwardedHeaders(request.headers), 'user-agent': USER_AGENT };
      return await callWebhook(outbound, { ...bounds, headers }, { signal, trace: request.trace });
    }
    const body: Json = { headers: describedHeaders(request), ...(sendRequestBody ? { request: await describedRequest(graphql) } : {}) };
    const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
    return await callWebhook(outbound, { ...bounds, headers, body: printJson(body) }, { signal, trace: request.trace });
  } catch (error) {
    const reason = error instanceof OutboundError ? error.message : 'the call failed';
    report({ url, method, observe: options.observe }, request, null, reason, null);
    throw webhookFailure('webhook authentication request failed', error);
  }
}

function report(
  { url, method, observe }: Pick<WebhookOptions, 'url' | 'method' | 'observe'>,
  { trace }: RequestHead,
  status: number | null,
  error: string | null,
  message: string | null,
): void {
  observe({ kind: 'webhook', url: safeUrl(url), method, status, error, message, trace });
}
