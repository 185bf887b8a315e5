/** HTTP requests, only to the service that served the page. */
import { base } from '../browser/place.ts';
import { type Json, parseJsonText, printJson } from '../model/json.ts';
import { Failure, failureOfResponse, isAbort } from './failure.ts';
import { access, credentials, granted, mustWait, presentSession, signedIn } from './session.ts';

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly milliseconds: number;
}

export interface RequestOptions {
  readonly method?: string;
  /** JSON; numbers keep their text. */
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Omits the admin secret, for requests with a token. */
  readonly withoutSecret?: boolean;
  /** Number of retries if the service cannot be reached. */
  readonly retries?: number;
}

const RETRY_MS = 400;
/** Name of this client in the history of changes and in logs. */
const CLIENT = { 'X-Svc-Client-Name': 'svc-console' };

/** @throws Failure if the service cannot be reached, DOMException AbortError if `signal` aborts */
export async function send(path: string, options: RequestOptions = {}): Promise<HttpResponse> {
  const { method = 'POST', body, headers = {}, signal, withoutSecret = false, retries = 0 } = options;
  // `Headers` ignores case, so that a passed header replaces ours.
  const sent = new Headers(withoutSecret ? {} : credentials());
  if (body !== undefined) sent.set('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  for (let attempts = 0; ; attempts++) {
    const started = performance.now();
    try {
      const response = await fetch(new URL(path, base), {
        method,
        credentials: 'omit',
        headers: sent,
        ...(body === undefined ? {} : { body: printJson(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      return { status: response.status, text, headers: response.headers, milliseconds: performance.now() - started };
    } catch (error) {
      if (isAbort(error)) throw error;
      if (attempts >= retries) throw new Failure('The service cannot be reached.', { code: 'unreachable' });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** attempts));
    }
  }
}

/**
 * Sends a request as administrator. If the secret is missing or invalid, waits for the sign-in and tries again.
 * @throws Failure for an error response
 */
export async function sendAsAdmin(path: string, options: RequestOptions = {}): Promise<Json> {
  for (;;) {
    if (mustWait()) await signedIn(presentSession(), options.signal);
    const session = presentSession();
    const response = await send(path, { ...options, headers: { ...CLIENT, ...options.headers } });
    if (response.status >= 200 && response.status < 300) {
      if (access.peek() !== 'granted') granted(session);
      return response.text === '' ? null : parseJsonText(response.text);
    }
    if (response.status !== 401) throw failureOfResponse(response.status, response.text);
    await signedIn(session, options.signal);
  }
}
