/** Why a call brought no answer, in the form in which administrators and the logs of invocations are told it. */
import { OutboundError } from '../http-client/outbound-error.ts';
import type { JsonObject } from '../util/json.ts';
import { loggedMessage, loggedPath } from './logged-call.ts';

export interface FailedCall {
  readonly url: string;
  /** The URL as the metadata write it, or `{{NAME}}` for all of a variable: what a path has from the environment is not told. */
  readonly template: string;
  readonly method: string;
  /** ms */
  readonly timeout: number;
}

/** @param error what `callWebhook` threw; neither user and password of the URL nor its parameters are in the answer */
export function httpException({ url, template, method, timeout }: FailedCall, error: unknown): JsonObject {
  const known = error instanceof OutboundError ? error : null;
  if (known?.failure === 'invalid-url' || !URL.canParse(url)) {
    return { type: 'invalid_url', message: known?.message ?? 'not a URL' };
  }
  const parsed = new URL(url);
  const { protocol, hostname, port, search } = parsed;
  const path = loggedPath(parsed, template);
  const secure = protocol === 'https:';
  return {
    type: 'http_exception',
    message: loggedMessage(messageOf(known), url, template),
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
