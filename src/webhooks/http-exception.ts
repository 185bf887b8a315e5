/** The reason for a missing response, in the form for administrators and invocation logs. */
import { OutboundError } from '../http-client/outbound-error.ts';
import type { JsonObject } from '../util/json.ts';
import { loggedMessage, loggedPath } from './logged-call.ts';

export interface FailedCall {
  readonly url: string;
  /** The URL as written in the metadata, or `{{NAME}}` for one from a variable; path segments from the environment are not shown. */
  readonly template: string;
  readonly method: string;
  /** In ms. */
  readonly timeout: number;
}

/** Describes an error of `callWebhook`, without user, password and query parameters of the URL. */
export function httpException({ url, template, method, timeout }: FailedCall, error: unknown): JsonObject {
  const failure = error instanceof OutboundError ? error : null;
  if (failure?.failure === 'invalid-url' || !URL.canParse(url)) {
    return { type: 'invalid_url', message: failure?.message ?? 'not a URL' };
  }
  const parsed = new URL(url);
  const { protocol, hostname, port, search } = parsed;
  const path = loggedPath(parsed, template);
  const secure = protocol === 'https:';
  return {
    type: 'http_exception',
    message: loggedMessage(messageOf(failure), url, template),
    request: {
      host: hostname,
      port: port === '' ? (secure ? 443 : 80) : Number(port),
      secure,
      path,
      queryString: search === '' ? '' : '?***',
      method,
      responseTimeout: timeout,
    },
  };
}

function messageOf(error: OutboundError | null): string {
  switch (error?.failure) {
    case undefined:
      return 'Connection failure: the call failed';
    case 'timeout':
      return 'Response timeout';
    case 'connection':
      return hasCode(error, 'UND_ERR_CONNECT_TIMEOUT') ? 'Connection timeout' : `Connection failure: ${error?.message ?? ''}`;
    default:
      return error?.message ?? '';
  }
}

function hasCode(error: unknown, code: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if ((cause as { code?: unknown }).code === code) return true;
  return false;
}
