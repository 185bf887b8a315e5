/** Properties of `test/permission-safety` on MariaDB. */
import { afterAll, beforeAll, describe } from 'vitest';
import { testReads, testWrites } from '../permission-safety/of-kind.ts';
import { type Place, placeVariable } from '../permission-safety/set-up.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService } from '../support/service.ts';

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

  testReads('dbb', () => place, { all: [10_000, 40], perWorld: [500, 40], rolesPerWorld: [12, 2], perRole: [40, 20], each: 60 });
  testWrites('dbb', () => place, [4_000, 60]);
});
