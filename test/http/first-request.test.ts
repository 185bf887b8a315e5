/** The first request of a new process has a bounded cost, although its code is compiled and the heap grows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuOfProcess } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { budgetOf, hostileRequests, hostileSchema } from '../support/hostile-documents.ts';
import { openRawConnection } from '../support/raw-connection.ts';
import { serveInProcess } from '../support/served-process.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Factor over the budget of a later request: some code is compiled, and the heap grows. */
const FIRST = 2;
/** The bound on a slow machine: a multiple of the cost of later requests in the same process. */
const FIRST_OF_LATER = 2.5;
/** Number of later requests; their median counts. */
const LATER = 5;
/** Number of attempts, each in its own process. The best counts: other load makes an attempt more expensive, never cheaper. */
const ATTEMPTS = 8;
/** A process with less CPU time than this in `QUIET_MS` is idle. */
const IDLE_MS = 2;
const QUIET_MS = 150;

/** The most expensive requests of every kind. */
const DEAREST = [
  '250000 bytes of mixtures as jsonb',
  '500000 bytes of objects of many shapes as jsonb',
  '950000 bytes of items for bpchar: code',
  '500 aliases of a deletion',
  'a list of 5000 numbers',
  'a query by 600 comparisons of a column in a variable',
  'an update by 1000 related rows in a variable',
  '6000 rows of all columns that may be there',
  '250 insertions',
  'a batch of rows',
];

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(hostileSchema.sql);
  for (const table of hostileSchema.tables) await service.metadata('pg_track_table', { table });
  for (const { kind, ...args } of hostileSchema.relationships) await service.metadata(`pg_create_${kind}_relationship`, args);
});
afterAll(() => service.stop());

interface Cost {
  readonly first: number;
  readonly later: number;
}

/** CPU time of a new process for its first request and for later ones with the same body, in ms. */
async function costsIn(body: Buffer): Promise<Cost> {
  const served = serveInProcess(service.databaseUrl);
  const { pid } = served;
  try {
    const connection = await openRawConnection(await served.listening);
    const cpu = (): number => (pid === undefined ? null : cpuOfProcess(pid)) ?? Number.NaN;
    for (let before = cpu(), now = Number.POSITIVE_INFINITY; now - before > IDLE_MS; ) {
      before = cpu();
      await sleep(QUIET_MS);
      now = cpu();
    }
    const costs: number[] = [];
    for (let request = 0; request <= LATER; request++) {
      const before = cpu();
      const { text } = await connection.post('/v1/graphql', body);
      costs.push(cpu() - before);
      expect(text).not.toContain('"code":"unexpected"');
    }
    connection.close();
    const [first = Number.NaN, ...later] = costs;
    return { first, later: later.sort((a, b) => a - b)[Math.floor(LATER / 2)] ?? Number.NaN };
  } finally {
    served.kill('SIGTERM');
    await served.ended;
  }
}

describe.skipIf(cpuOfProcess(process.pid) === null)('the first request of a process', () => {
  it.each(sample(DEAREST, 1))('stays within its CPU budget: %s', async (name) => {
    const hostile = hostileRequests.find((request) => request.name === name);
    if (hostile === undefined) throw new Error(`there is no request ${name}`);
    const body = Buffer.from(hostile.body());
    const budget = FIRST * budgetOf(hostile);
    const ratios: number[] = [];
    for (let attempt = 0; attempt < ATTEMPTS && !ratios.some((ratio) => ratio < 1); attempt++) {
      const { first, later } = await costsIn(body);
      ratios.push(first / Math.max(budget, FIRST_OF_LATER * later));
    }
    expect(Math.min(...ratios)).toBeLessThan(1);
  });
});
