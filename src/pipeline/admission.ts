/** Counts the requests of roles, in this process: how often they come and how many run at the same time. */
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { RateLimit } from '../metadata/api-limits.ts';
import type { RoleLimits } from './api-limits.ts';
import { LimitExceeded, type LimitName } from './limit-exceeded.ts';

export interface Admission {
  /**
   * Lets a request in; the answer is to be called when it is done.
   * @param address of the client
   * @throws SvcError busy, status 429
   */
  admit(limits: RoleLimits, session: Session, address: string): () => void;
}

const MINUTE = 60_000;
/** Clients that are counted apart; beyond, those that have been counted longest are forgotten. */
const MAX_COUNTERS = 100_000;
const NOTHING = (): void => undefined;

interface Counter {
  /** Number of the minute, counted from the epoch. */
  minute: number;
  count: number;
  /** Of the minute before. */
  previous: number;
}

/** @param now epoch milliseconds */
export function createAdmission(now: () => number = Date.now): Admission {
  const counters = new Map<string, Counter>();
  const running = new Map<string, number>();

  const counterOf = (key: string, minute: number): Counter => {
    const counter = counters.get(key);
    if (counter?.minute === minute) return counter;
    const next = { minute, count: 0, previous: counter?.minute === minute - 1 ? counter.count : 0 };
    // Whoever comes in this minute goes to the end, so that the front is what has not come for longest.
    counters.delete(key);
    counters.set(key, next);
    for (const [oldest, { minute: last }] of counters) {
      if (last >= minute - 1 && counters.size <= MAX_COUNTERS) break;
      counters.delete(oldest);
    }
    return next;
  };

  /** The last 60 seconds are this minute and as much of the one before as is left of them, evenly spread. */
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

  const enter = (role: string, most: number): (() => void) => {
    const others = running.get(role) ?? 0;
    if (others >= most) throw busy('concurrency', `the limit of ${most} requests at the same time is reached`);
    running.set(role, others + 1);
    return () => {
      const left = (running.get(role) ?? 1) - 1;
      if (left === 0) running.delete(role);
      else running.set(role, left);
    };
  };

  return {
    admit({ rate, concurrency }, session, address) {
      const leave = concurrency === null ? NOTHING : enter(session.role, concurrency);
      try {
        if (rate !== null) count(rate, session, address);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
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
