/** The HTTP client for all outbound calls. README.md lists what it guards against. */
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { BoundedCache } from '../util/bounded-cache.ts';
import { onCancel, type PromptCancellation } from '../util/cancellation.ts';
import { createConnector } from './connector.ts';
import { type CallEnd, exchange } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';
import { safeUrl } from './safe-url.ts';
import { isAllowlisted, type AllowlistedHost } from './tls-allowlist.ts';
import type { OutboundRequest, OutboundResponse } from './request.ts';

export interface OutboundClient {
  /** @throws OutboundError if there is no response; a response of any status is a success */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  /** Read at every call. */
  readonly tlsAllowlist?: () => readonly AllowlistedHost[];
  /** Rejects addresses that are not public. Link-local addresses and metadata services of clouds are always rejected. */
  readonly refusePrivate?: boolean;
  readonly lookup?: LookupFunction;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum delay of a Node timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function createOutboundClient(options: OutboundOptions = {}): OutboundClient {
  const agent = (checkCertificates: boolean, toMetadataServer = false): Agent =>
    new Agent({
      // Each call has its own timeout for the whole exchange.
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
  // Separate agents: a connection that was opened without a check must not serve a host that has left the list.
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
          const response = await exchange(url, call, dispatcherFor(url, call), end);
          const next = redirects < MAX_REDIRECTS ? redirectTarget(url, call, response) : null;
          if (next === null) return response;
          url = next;
        }
      } catch (error) {
        throw asOutboundError(error, url, end.isOver, call.signal);
      } finally {
        end.release();
      }
    },
    async close() {
      await Promise.allSettled([strict.destroy(), lenient.destroy(), platform.destroy()]);
    },
  };
}

/**
 * Ends a call at its timeout or cancellation. Not an `AbortSignal`: those keep their timers and sources alive long after the call, and
 * cost as much as a small call.
 */
function endOf({ timeout, signal }: OutboundRequest): CallEnd & { release(): void } {
  const finish = (): void => {
    end.isOver = true;
    end.onEnd();
  };
  const timer = setTimeout(finish, Math.min(timeout, MAX_TIMEOUT_MS));
  const stopListening = signal === undefined ? undefined : onCancel(signal, finish);
  const end = {
    isOver: signal?.aborted === true,
    onEnd: (): void => undefined,
    release(): void {
      clearTimeout(timer);
      stopListening?.();
    },
  };
  return end;
}

/** Cache of parsed URLs, read-only: the same few are called again and again. */
const parsedUrls = new BoundedCache<string, URL>({ entries: 200 });
const MAX_CACHED_LENGTH = 2048;

/** @throws OutboundError */
function parseUrl(text: string): URL {
  const cached = parsedUrls.get(text);
  if (cached !== undefined) return cached;
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new OutboundError('invalid-url', 'not a URL', cause);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundError('invalid-url', 'not an http or https URL');
  if (text.length <= MAX_CACHED_LENGTH) parsedUrls.set(text, url);
  return url;
}

/**
 * Returns the URL to follow, `null` if the response is final. Follows only reads, unless the status preserves the method, and only on the
 * same host, so that no header of the call reaches another one.
 */
function redirectTarget(from: URL, call: OutboundRequest, response: OutboundResponse): URL | null {
  const { location } = response.headers;
  if (!REDIRECTS.has(response.status) || typeof location !== 'string' || !URL.canParse(location, from.href)) return null;
  if (call.method !== 'GET' && response.status !== 307 && response.status !== 308) return null;
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
