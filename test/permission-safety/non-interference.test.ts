/**
 * Changes rows that a role does not see, and cells that neither it nor its permissions read. No byte
 * of any answer may change, errors included.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP, SEED, cases } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { unseenChanges } from './unseen-changes.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(10_000, 40));
const TIMEOUT = Math.max(600_000, CASES * 60);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64', LEGACY_ROWS_FOR_ALL_ROLES: 'true' });
});
afterAll(async () => {
  await service?.stop();
});

it(
  `answers ${CASES} random requests identically after changes of unseen data (seed ${SEED})`,
  async () => {
    // A short run sees several worlds too.
    const counts = await unseenChanges({ service }, 'pg', { all: CASES, rolesPerWorld: cases(12, 2), perRole: cases(40, 10) });
    expect(counts.failed).toBeLessThan((DEEP ? 0.6 : 0.9) * counts.asked);
  },
  TIMEOUT,
);
