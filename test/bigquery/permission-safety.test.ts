/** Properties of `test/permission-safety` on BigQuery. */
import { afterAll, beforeAll, describe } from 'vitest';
import { testReads } from '../permission-safety/of-kind.ts';
import { type Place, warehouseVariables } from '../permission-safety/set-up.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { startTestService } from '../support/service.ts';

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

  testReads('dwh', () => place, { all: [200, 6], perWorld: [60, 6], rolesPerWorld: [3, 2], perRole: [10, 3], each: 2_000 });
});
