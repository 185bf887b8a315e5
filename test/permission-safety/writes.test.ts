/** Random mutations of random worlds: the service writes and rejects what a naive evaluator writes and rejects. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { writesAsNaive } from './writes-as-naive.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(4_000, 40));

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64' });
});
afterAll(async () => {
  await service?.stop();
});

it(
  `runs ${CASES} random mutations as a naive evaluator does (seed ${SEED})`,
  async () => {
    const counts = await writesAsNaive({ service }, 'pg', { all: CASES, perWorld: 60 });
    // The share of one kind of cases among many.
    expect(counts.written).toBeGreaterThan(DEEP ? 0.2 * counts.asked : 0);
    expect(counts.refused).toBeGreaterThan(DEEP ? 0.1 * counts.asked : 0);
  },
  Math.max(600_000, CASES * 60),
);
