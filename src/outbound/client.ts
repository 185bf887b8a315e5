/** The HTTP client for all calls out. See README.md for what it guards against. */
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request as send } from 'undici';
import { createConnector } from './connector.ts';
import { OutboundError } from './outbound-error.ts';
import { safeUrl } from './safe-url.ts';
import { isAllowlisted, type AllowlistedHost } from './tls-allowlist.ts';

export interface OutboundRequest {
  /** `http:` or `https:`; user and password in it become basic authentication. */
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** ms for the whole call, redirects and the body of the answer included */
  readonly timeout: number;
  /** bytes */
  readonly maxResponseSize: number;
  /** A body that is larger is cut off there, rather than no answer at all. */
  readonly cutLargeResponse?: boolean;
  /** Hears of the bytes of the answer as they come; false: they are too many, together with those of other calls. */
  readonly take?: (bytes: number) => boolean;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  /** Lower-case names; a list for a header that came more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The body was larger. */
  readonly isCut?: true;
}

export interface OutboundClient {
  /** @throws OutboundError when there is no answer; an answer of any status is no failure */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  /** Asked at every call. */
  readonly tlsAllowlist?: () => readonly AllowlistedHost[];
  /** Refuse addresses that are not public; link-local ones and metadata services of clouds always are. */
  readonly refusePrivate?: boolean;
  readonly lookup?: LookupFunction;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Timers know no longer ones. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function createOutboundClient(options: OutboundOptions = {}): OutboundClient {
  const agent = (checkCertificates: boolean): Agent =>
    new Agent({
      // Each call has a time of its own for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: createConnector({
        refusePrivate: options.refusePrivate ?? false,
        checkCertificates,
        connectTimeout: CONNECT_TIMEOUT_MS,
        ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
      }),
    });
  // Two agents: a connection that was opened without a check must not serve a host that left the list.
  const strict = agent(true);
  const lenient = agent(false);
  const dispatcherFor = (url: URL): Dispatcher =>
    url.protocol === 'https:' && isAllowlisted(options.tlsAllowlist?.() ?? [], url) ? lenient : strict;

  return {
    async send(call) {
      let url = parseUrl(call.url);
      const end = endOf(call);
      try {
        for (let redirects = 0; ; redirects++) {
          const answer = await exchange(url, call, dispatcherFor(url), end.signal);
          const next = redirects < MAX_REDIRECTS ? redirectTarget(url, call, answer) : null;
          if (next === null) return answer;
          url = next;
        }
      } catch (error) {
        throw asOutboundError(error, url, end.signal.aborted, call.signal);
      } finally {
        end.forget();
      }
    },
    async close() {
      await Promise.allSettled([strict.destroy(), lenient.destroy()]);
    },
  };
}

/** Signals of the platform keep their timers, and those that they come from, long after the call. */
function endOf({ timeout, signal }: OutboundRequest): { readonly signal: AbortSignal; forget(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, Math.min(timeout, LONGEST_TIMEOUT_MS));
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    forget() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new OutboundError('invalid-url', 'not a URL', cause);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundError('invalid-url', 'not an http or https URL');
  return url;
}

async function exchange(url: URL, call: OutboundRequest, dispatcher: Dispatcher, signal: AbortSignal): Promise<OutboundResponse> {
  const { username, password } = url;
  const headers: Record<string, string> = { ...call.headers };
  if (username !== '' && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) {
    headers['authorization'] = `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
  }
  const target = new URL(url);
  target.username = '';
  target.password = '';
  target.hash = '';
  const answer = await send(target, { method: call.method, headers, body: call.body ?? null, dispatcher, signal });
  return { status: answer.statusCode, headers: answer.headers, ...(await readBounded(answer, call)) };
}

async function readBounded(
  answer: Dispatcher.ResponseData,
  { maxResponseSize: limit, cutLargeResponse = false, take }: Pick<OutboundRequest, 'maxResponseSize' | 'cutLargeResponse' | 'take'>,
): Promise<Pick<OutboundResponse, 'body' | 'isCut'>> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer.body as AsyncIterable<Buffer>) {
    // Leaving the loop destroys the stream and with it the connection.
    if (size + piece.length > limit && cutLargeResponse) {
      pieces.push(piece.subarray(0, limit - size));
      return { body: Buffer.concat(pieces), isCut: true };
    }
    size += piece.length;
    if (size > limit || take?.(piece.length) === false) throw new OutboundError('too-large', `the answer is larger than ${limit} bytes`);
    pieces.push(piece);
  }
  return { body: Buffer.concat(pieces, size) };
}

/**
 * Where to go on; null when the answer is the last one. Only reads are repeated, unless the status says that the
 * method stays; and only on the same host, so that no header of the call reaches another one.
 */
function redirectTarget(from: URL, call: OutboundRequest, answer: OutboundResponse): URL | null {
  const { location } = answer.headers;
  if (!REDIRECTS.has(answer.status) || typeof location !== 'string' || !URL.canParse(location, from.href)) return null;
  if (call.method !== 'GET' && answer.status !== 307 && answer.status !== 308) return null;
  const to = new URL(location, from);
  const upgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  if (to.hostname !== from.hostname || !(to.origin === from.origin || upgrade)) return null;
  to.username = from.username;
  to.password = from.password;
  return to;
}

function asOutboundError(error: unknown, url: URL, isOver: boolean, cancelled: AbortSignal | undefined): OutboundError {
  if (error instanceof OutboundError) return error;
  const where = safeUrl(url);
  if (cancelled?.aborted === true) return new OutboundError('cancelled', `the call to ${where} was cancelled`, error);
  if (isOver) return new OutboundError('timeout', `no answer from ${where} in time`, error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof OutboundError) return cause;
  }
  const code = (error as { code?: unknown } | null)?.code;
  return new OutboundError('connection', `${where} cannot be called${typeof code === 'string' ? `: ${code}` : ''}`, error);
}
