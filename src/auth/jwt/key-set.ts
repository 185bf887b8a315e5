/**
 * Keys behind a `jwk_url`: fetched at start, then refreshed in the background as the cache headers of the last response say. Requests
 * never wait for a fetch and cannot cause one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONWebKeySet } from 'jose';
import { ConfigError } from '../../config/config-error.ts';
import type { Observer } from '../../observability/observation.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { safeUrl } from '../../http-client/safe-url.ts';
import { cacheLifetime } from './cache-lifetime.ts';
import { usableKeys } from './usable-keys.ts';

export interface KeySet {
  current(): JSONWebKeySet;
  stop(): void;
}

export interface KeySetTiming {
  /** Delay before the first of five retries at start, in ms; doubles each time. */
  readonly firstRetry: number;
  /** Minimum time between two fetches, in ms. */
  readonly floor: number;
}

export interface KeySetOptions {
  readonly url: string;
  readonly outbound: OutboundClient;
  readonly observe: Observer;
  readonly timing?: KeySetTiming;
}

const TIMING: KeySetTiming = { firstRetry: 200, floor: 60_000 };
const RETRIES = 5;
const TIMEOUT_MS = 30_000;
const MAX_SIZE = 1_048_576;
/** Maximum delay of a Node timer. */
const MAX_DELAY_MS = 2_147_483_647;

interface Fetched {
  readonly keys: JSONWebKeySet;
  /** In ms; `null` if the keys never expire. */
  readonly lifetime: number | null;
}

/** @throws ConfigError if there are no keys after all retries */
export async function openKeySet(options: KeySetOptions): Promise<KeySet> {
  const { floor } = options.timing ?? TIMING;
  let { keys, lifetime } = await fetchAtStart(options);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const refresh = async (): Promise<void> => {
    try {
      ({ keys, lifetime } = await fetchKeys(options));
      report(options, 'the keys were fetched', null);
    } catch (error) {
      if (stopped) return;
      // Keeps the old keys and retries soon.
      lifetime = 0;
      report(options, 'the keys could not be fetched; the previous keys stay in use', error);
    }
    schedule();
  };
  const schedule = (): void => {
    if (stopped || lifetime === null) return;
    timer = setTimeout(() => void refresh(), Math.min(Math.max(lifetime, floor), MAX_DELAY_MS));
    timer.unref();
  };
  schedule();
  return {
    current: () => keys,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function fetchAtStart(options: KeySetOptions): Promise<Fetched> {
  const { firstRetry } = options.timing ?? TIMING;
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetchKeys(options);
    } catch (error) {
      report(options, 'the keys could not be fetched', error);
      if (attempt === RETRIES) throw new ConfigError(`no keys from jwk_url ${safeUrl(options.url)}: ${(error as Error).message}`);
      await sleep(firstRetry * 2 ** attempt);
    }
  }
}

async function fetchKeys({ url, outbound }: KeySetOptions): Promise<Fetched> {
  const headers = { accept: 'application/json', 'user-agent': 'svc-graphql' };
  const answer = await outbound.send({ kind: 'auth', url, method: 'GET', headers, timeout: TIMEOUT_MS, maxResponseSize: MAX_SIZE });
  if (answer.status !== 200) throw new Error(`the answer has the status ${answer.status}`);
  const keys = usableKeys(answer.body.toString('utf8'));
  return { keys, lifetime: cacheLifetime(one(answer.headers['cache-control']), one(answer.headers['expires']), Date.now()) };
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function report({ url, observe }: KeySetOptions, message: string, error: unknown): void {
  observe({
    kind: 'jwk-refresh',
    url: safeUrl(url),
    message,
    error: error === null ? null : error instanceof Error ? error.message : 'unknown error',
  });
}
