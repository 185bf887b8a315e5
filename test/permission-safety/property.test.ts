/**
 * Random tables, rows, permissions, inherited roles and requests: the service answers as if the rows and
 * cells that a role does not see did not exist. SVC_SAFETY_CASES and SVC_TEST_SEED set the number of
 * cases and the seed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP, SEED, cases } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { answersAsNaive } from './answers-as-naive.ts';
import { shareWithRows } from './of-kind.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(10_000, 60));
/** A short run sees several worlds too. */
const CASES_PER_WORLD = cases(500, 30);
const TIMEOUT = Math.max(600_000, CASES * 60);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64', LEGACY_ROWS_FOR_ALL_ROLES: 'true' });
});
afterAll(async () => {
  await service?.stop();
});

it(
  `answers ${CASES} random requests as a naive evaluator does (seed ${SEED})`,
  async () => {
    const counts = await answersAsNaive({ service }, 'pg', { all: CASES, perWorld: CASES_PER_WORLD });
    // Otherwise success would prove nothing.
    expect(counts.nonEmpty).toBeGreaterThan(shareWithRows(CASES / CASES_PER_WORLD) * counts.answered);
    expect(counts.dataOperations).toBeGreaterThan(DEEP ? 0.1 * counts.answered : 0);
  },
  TIMEOUT,
);
