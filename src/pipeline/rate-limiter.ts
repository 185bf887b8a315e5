/** Rate limits of roles, in this process: requests per minute, and concurrent requests. */
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { RateLimit } from '../metadata/api-limits.ts';
import type { RoleLimits } from './api-limits.ts';
import { LimitExceeded, type LimitName } from './limit-exceeded.ts';

export interface RateLimiter {
  /**
   * Admits a request and returns a function to call when it is done.
   * @param address of the client
   * @throws SvcError busy, status 429
   */
  admit(limits: RoleLimits, session: Session, address: string): () => void;
}

const MINUTE = 60_000;
/** Maximum number of clients that are counted separately; if there are more, the least recent ones are dropped. */
const MAX_COUNTERS = 100_000;
const NOTHING = (): void => undefined;

interface Counter {
  /** Number of the minute, counted from the epoch. */
  minute: number;
  count: number;
  /** Count of the previous minute. */
  previous: number;
}

/** @param now epoch milliseconds */
export function createRateLimiter(now: () => number = Date.now): RateLimiter {
  const counters = new Map<string, Counter>();
  const running = new Map<string, number>();

  const counterOf = (key: string, minute: number): Counter => {
    const counter = counters.get(key);
    if (counter?.minute === minute) return counter;
    const next = { minute, count: 0, previous: counter?.minute === minute - 1 ? counter.count : 0 };
    // Reinserted at the end, so that the front has the least recent ones.
    counters.delete(key);
    counters.set(key, next);
    for (const [oldest, { minute: last }] of counters) {
      if (last >= minute - 1 && counters.size <= MAX_COUNTERS) break;
      counters.delete(oldest);
    }
    return next;
  };

  /** Estimates the count of the last 60 seconds: this minute, plus a share of the previous one as if its requests were evenly spread. */
  const count = (rate: RateLimit, session: Session, address: string): void => {
    const time = now();
    const minute = Math.floor(time / MINUTE);
    const counter = counterOf(keyOf(rate, session, address), minute);
    const before = counter.previous * (1 - (time - minute * MINUTE) / MINUTE);
    if (counter.count + before + 1 > rate.maxReqsPerMin) {
      throw busy('rate', `the limit of ${rate.maxReqsPerMin} requests per minute is reached`);
    }
    counter.count += 1;
  };

  const start = (role: string, limit: number): (() => void) => {
    const others = running.get(role) ?? 0;
    if (others >= limit) throw busy('concurrency', `the limit of ${limit} concurrent requests is reached`);
    running.set(role, others + 1);
    return () => {
      const left = (running.get(role) ?? 1) - 1;
      if (left === 0) running.delete(role);
      else running.set(role, left);
    };
  };

  return {
    admit({ rate, concurrency }, session, address) {
      const release = concurrency === null ? NOTHING : start(session.role, concurrency);
      try {
        if (rate !== null) count(rate, session, address);
      } catch (error) {
        release();
        throw error;
      }
      return release;
    },
  };
}

function busy(limit: LimitName, message: string): SvcError {
  return new LimitExceeded(limit, 'busy', message, { status: 429 });
}

function keyOf({ uniqueParams }: RateLimit, session: Session, address: string): string {
  if (uniqueParams === undefined) return JSON.stringify([session.role]);
  if (uniqueParams === 'IP') return JSON.stringify([session.role, address]);
  return JSON.stringify([session.role, ...uniqueParams.map((name) => session.variables.get(name) ?? null)]);
}
