/** The properties of `test/permission-safety`, on BigQuery. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersAsNaive } from '../permission-safety/answers-as-naive.ts';
import { type Place, warehouseVariables } from '../permission-safety/set-up.ts';
import { unseenChanges } from '../permission-safety/unseen-changes.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService } from '../support/service.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(200, 6));
const TIMEOUT = Math.max(600_000, CASES * 2_000);

describe.skipIf(!hasBigQuery())('BigQuery', () => {
  let bigquery: BigQuery;
  let place: Place;
  beforeAll(async () => {
    bigquery = await startBigQuery({ datasets: { world: {} } });
    const service = await startTestService({ OPERATION_CACHE_SIZE: '64', DEV_MODE: 'true' }, warehouseVariables(bigquery));
    place = { service, bigquery };
  });
  afterAll(async () => {
    await place?.service.stop();
    await bigquery?.stop();
  });

  it(
    `answers ${CASES} random requests as a naive evaluator does (seed ${SEED})`,
    async () => {
      const counts = await answersAsNaive(place, 'dwh', { all: CASES, perWorld: cases(60, 6) });
      // A share is one of many cases.
      expect(counts.nonEmpty).toBeGreaterThan(DEEP ? 0.3 * counts.answered : 0);
    },
    TIMEOUT,
  );

  it(
    `answers ${CASES} random requests the same when what the role does not see is changed (seed ${SEED})`,
    async () => {
      const counts = await unseenChanges(place, 'dwh', { all: CASES, rolesPerWorld: cases(3, 2), perRole: cases(10, 3) });
      expect(counts.failed).toBeLessThan(DEEP ? 0.6 * counts.asked : counts.asked);
    },
    TIMEOUT,
  );
});
