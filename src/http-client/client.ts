/** The HTTP client for all calls out. See README.md for what it guards against. */
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { onCancel, type PromptCancellation } from '../util/cancellation.ts';
import { createConnector } from './connector.ts';
import { type CallEnd, exchange } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';
import { safeUrl } from './safe-url.ts';
import { isAllowlisted, type AllowlistedHost } from './tls-allowlist.ts';
import type { OutboundRequest, OutboundResponse } from './request.ts';

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
  const agent = (checkCertificates: boolean, toMetadataServer = false): Agent =>
    new Agent({
      // Each call has a time of its own for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: createConnector({
        refusePrivate: options.refusePrivate ?? false,
        checkCertificates,
        toMetadataServer,
        connectTimeout: CONNECT_TIMEOUT_MS,
        ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
      }),
    });
  // Two agents: a connection that was opened without a check must not serve a host that left the list.
  const strict = agent(true);
  const lenient = agent(false);
  const platform = agent(true, true);
  const dispatcherFor = (url: URL, { metadataServer }: OutboundRequest): Dispatcher => {
    if (metadataServer === true) return platform;
    return url.protocol === 'https:' && isAllowlisted(options.tlsAllowlist?.() ?? [], url) ? lenient : strict;
  };

  return {
    async send(call) {
      let url = parseUrl(call.url);
      const end = endOf(call);
      try {
        for (let redirects = 0; ; redirects++) {
          const answer = await exchange(url, call, dispatcherFor(url, call), end);
          const next = redirects < MAX_REDIRECTS ? redirectTarget(url, call, answer) : null;
          if (next === null) return answer;
          url = next;
        }
      } catch (error) {
        throw asOutboundError(error, url, end.isOver, call.signal);
      } finally {
        end.forget();
      }
    },
    async close() {
      await Promise.allSettled([strict.destroy(), lenient.destroy(), platform.destroy()]);
    },
  };
}

/** Signals of the platform keep their timers, and those that they come from, long after the call; and they cost as much as a small call. */
function endOf({ timeout, signal }: OutboundRequest): CallEnd & { forget(): void } {
  const finish = (): void => {
    end.isOver = true;
    end.onEnd();
  };
  const timer = setTimeout(finish, Math.min(timeout, LONGEST_TIMEOUT_MS));
  const stopListening = signal === undefined ? undefined : onCancel(signal, finish);
  const end = {
    isOver: signal?.aborted === true,
    onEnd: (): void => undefined,
    forget(): void {
      clearTimeout(timer);
      stopListening?.();
    },
  };
  return end;
}

/** Of the URLs that were called last; the same few are called again and again. */
const parsed = new Map<string, URL>();
const MOST_PARSED = 200;
const LONGEST_KEPT = 2048;

/** @returns what nobody changes. @throws OutboundError */
function parseUrl(text: string): URL {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new OutboundError('invalid-url', 'not a URL', cause);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundError('invalid-url', 'not an http or https URL');
  if (text.length <= LONGEST_KEPT) {
    if (parsed.size >= MOST_PARSED) parsed.clear();
    parsed.set(text, url);
  }
  return url;
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

function asOutboundError(error: unknown, url: URL, isOver: boolean, cancelled: PromptCancellation | undefined): OutboundError {
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
