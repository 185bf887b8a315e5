/** The first request of a new process costs little more than later ones may: its code has been walked through before. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuOfProcess } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { budgetOf, hostileRequests, hostileSchema } from '../support/hostile-documents.ts';
import { openRawConnection } from '../support/raw-connection.ts';
import { serveInProcess } from '../support/served-process.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** How much more than a later request the first one may cost: some code is compiled, and the heap grows. */
const FIRST = 1.5;
/** The same, as a multiple of what later requests cost in the same process: the bound where the machine is slow. */
const FIRST_OF_LATER = 2;
/** The median of so many requests is what a later one costs. */
const LATER = 5;
/** The best counts, each in a process of its own: others on the machine make an attempt dearer, never cheaper. */
const ATTEMPTS = 5;
/** A process that computes less than this in `QUIET_MS` has nothing to do. */
const IDLE_MS = 2;
const QUIET_MS = 150;

/** Those that cost most, of every kind. */
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

/** ms of CPU that a new process takes for its first request, and for later ones of the same body. */
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

describe.skipIf(cpuOfProcess(process.pid) === null)('the first request', () => {
  it.each(sample(DEAREST, 1))('%s', async (name) => {
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
