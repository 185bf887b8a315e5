/** The properties of `test/permission-safety`, on MariaDB. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersAsNaive } from '../permission-safety/answers-as-naive.ts';
import { type Place, placeVariable } from '../permission-safety/set-up.ts';
import { unseenChanges } from '../permission-safety/unseen-changes.ts';
import { writesAsNaive } from '../permission-safety/writes-as-naive.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService } from '../support/service.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(10_000, 40));
const WRITES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(4_000, 60));
const TIMEOUT = Math.max(600_000, CASES * 60);

describe.skipIf(!hasMariadb())('MariaDB', () => {
  let mariadb: TestMariadb;
  let place: Place;
  beforeAll(async () => {
    mariadb = await startMariadb();
    const service = await startTestService({ OPERATION_CACHE_SIZE: '64' }, placeVariable(mariadb));
    place = { service, mariadb };
  });
  afterAll(async () => {
    await place?.service.stop();
    await mariadb?.stop();
  });

  it(
    `answers ${CASES} random requests as a naive evaluator does (seed ${SEED})`,
    async () => {
      const counts = await answersAsNaive(place, 'dbb', { all: CASES, perWorld: cases(500, 40) });
      // A share is one of many cases.
      expect(counts.nonEmpty).toBeGreaterThan(DEEP ? 0.3 * counts.answered : 0);
    },
    TIMEOUT,
  );

  it(
    `answers ${CASES} random requests the same when what the role does not see is changed (seed ${SEED})`,
    async () => {
      const counts = await unseenChanges(place, 'dbb', { all: CASES, rolesPerWorld: cases(12, 2), perRole: cases(40, 20) });
      expect(counts.failed).toBeLessThan(DEEP ? 0.6 * counts.asked : counts.asked);
    },
    TIMEOUT,
  );

  it(
    `does ${WRITES} random mutations as a naive evaluator does (seed ${SEED})`,
    async () => {
      const counts = await writesAsNaive(place, 'dbb', { all: WRITES, perWorld: 60 });
      expect(counts.written).toBeGreaterThan(DEEP ? 0.2 * counts.asked : 0);
      expect(counts.refused).toBeGreaterThan(DEEP ? 0.1 * counts.asked : 0);
    },
    TIMEOUT,
  );
});
