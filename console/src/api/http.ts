/** Requests to the service that the page came from, and to no other. */
import { base } from '../browser/place.ts';
import { type Json, parseJson, printJson } from '../model/json.ts';
import { Failure, failureOfAnswer, isAbort } from './failure.ts';
import { access, credentials, granted, mustWait, signedIn } from './session.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly milliseconds: number;
}

export interface RequestOptions {
  readonly method?: string;
  /** JSON, printed with its numbers as they are. */
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Sent without the secret: somebody else's token takes its place. */
  readonly asStranger?: boolean;
  /** How often a read is asked again when the service cannot be reached. */
  readonly retries?: number;
}

const RETRY_MS = 400;

/** @throws Failure when the service cannot be reached; DOMException AbortError when `signal` says so */
export async function send(path: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = 'POST', body, headers = {}, signal, asStranger = false, retries = 0 } = options;
  // Set one by one: a header that is given under another spelling replaces ours.
  const sent = new Headers(asStranger ? {} : credentials());
  if (body !== undefined) sent.set('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  for (let tried = 0; ; tried++) {
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
      if (tried >= retries) throw new Failure('The service cannot be reached.', { code: 'unreachable' });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** tried));
    }
  }
}

/**
 * An administrator's request. Where the secret is missing or wrong it waits until somebody has signed in, and goes on.
 * @throws Failure what the service refused
 */
export async function administer(path: string, options: RequestOptions = {}): Promise<Json> {
  for (;;) {
    if (mustWait()) await signedIn(options.signal);
    const answer = await send(path, options);
    if (answer.status >= 200 && answer.status < 300) {
      if (access.peek() !== 'granted') granted();
      return answer.text === '' ? null : parseJson(answer.text);
    }
    if (answer.status !== 401) throw failureOfAnswer(answer.status, answer.text);
    await signedIn(options.signal);
  }
}
