import { expect, test } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import type { Session } from '../auth/session.ts';
import type { RateLimit } from '../metadata/api-limits.ts';
import { createRateLimiter } from './rate-limiter.ts';
import type { RoleLimits } from './api-limits.ts';

const NONE: RoleLimits = { depth: null, objects: null, time: null, batch: null, rate: null, concurrency: null };
const session = (role: string, variables: Record<string, string> = {}): Session => ({
  role,
  variables: new Map(Object.entries(variables)),
  backendOnly: false,
});

/** Returns the number of admitted requests among `count`. */
function admitted(count: number, ask: () => void): number {
  let let_in = 0;
  for (let i = 0; i < count; i++) {
    try {
      ask();
      let_in += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: 'busy', status: 429 });
    }
  }
  return let_in;
}

test('admits no more requests than the limit within 60 seconds, rejected ones not counted', () => {
  let time = 1_000_000 * 60_000;
  const admission = createRateLimiter(() => time);
  const rate: RateLimit = { maxReqsPerMin: 10 };
  const ask = (): void => void admission.admit({ ...NONE, rate }, session('user'), '');
  expect(admitted(100, ask)).toBe(10);
  time += 30_000;
  expect(admitted(100, ask)).toBe(0);
  time += 30_000; // The next minute, in which the previous one still counts.
  expect(admitted(100, ask)).toBe(0);
  time += 30_000;
  expect(admitted(100, ask)).toBe(5);
  time += 90_000;
  expect(admitted(100, ask)).toBe(10);
});

test('counts requests by role, and separately by address or session variables', () => {
  const admission = createRateLimiter(() => 0);
  const ask = (rate: RateLimit, who: Session, address: string): number =>
    admitted(9, () => void admission.admit({ ...NONE, rate }, who, address));
  const byAddress: RateLimit = { maxReqsPerMin: 2, uniqueParams: 'IP' };
  expect(['1', '2', '1'].map((address) => ask(byAddress, session('user'), address))).toEqual([2, 2, 0]);
  expect(ask(byAddress, session('other'), '1')).toBe(2);

  const byUser: RateLimit = { maxReqsPerMin: 3, uniqueParams: ['x-svc-org', 'x-svc-user-id'] };
  const user = (id: string, org?: string): Session =>
    session('person', { 'x-svc-user-id': id, ...(org === undefined ? {} : { 'x-svc-org': org }) });
  expect([user('1'), user('2'), user('1', 'a'), user('1')].map((who) => ask(byUser, who, ''))).toEqual([3, 3, 3, 0]);
});

test('limits concurrent requests per role', () => {
  const admission = createRateLimiter();
  const limits = { ...NONE, concurrency: 2 };
  const leave = admission.admit(limits, session('user'), '');
  admission.admit(limits, session('user'), '');
  expect(admitted(5, () => void admission.admit(limits, session('user'), ''))).toBe(0);
  expect(admitted(5, () => void admission.admit(limits, session('other'), ''))).toBe(2);
  leave();
  expect(admitted(5, () => void admission.admit(limits, session('user'), ''))).toBe(1);
});

test('does not count a request rejected for its rate as running', () => {
  const admission = createRateLimiter(() => 0);
  const limits = { ...NONE, concurrency: 1, rate: { maxReqsPerMin: 1 } };
  admission.admit(limits, session('user'), '')();
  for (let i = 0; i < 3; i++) expect(() => admission.admit(limits, session('user'), '')).toThrow('1 requests per minute');
});

test.runIf(DEEP)('limits the number of counters', () => {
  let time = 0;
  const admission = createRateLimiter(() => time);
  const rate: RateLimit = { maxReqsPerMin: 1, uniqueParams: 'IP' };
  const ask = (address: number): void => void admission.admit({ ...NONE, rate }, session('user'), String(address));
  for (let address = 0; address < 150_000; address++) ask(address);
  expect(() => ask(149_999)).toThrow('per minute'); // Still counted.
  ask(0); // Dropped.
  time += 1;
  expect(() => ask(0)).toThrow('per minute');
});
