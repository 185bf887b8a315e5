/** What roles see of a source of Citus: as a naive evaluator says, nothing of what they do not see, by statements that Citus takes. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { answersAsNaive } from '../permission-safety/answers-as-naive.ts';
import { unseenChanges } from '../permission-safety/unseen-changes.ts';
import { writesAsNaive } from '../permission-safety/writes-as-naive.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Shapes, watchShapes } from './watch-shapes.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(5_000, 40));
const WRITES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(2_000, 60));
const TIMEOUT = Math.max(600_000, CASES * 60);

let service: TestService;
let shapes: Shapes;
beforeAll(async () => {
  shapes = watchShapes();
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64' });
});
afterAll(async () => {
  await service?.stop();
  vi.restoreAllMocks();
});

it(
  `answers ${CASES} random requests as a naive evaluator does (seed ${SEED})`,
  async () => {
    const counts = await answersAsNaive({ service }, 'dbc', { all: CASES, perWorld: cases(500, 40) });
    // A share is one of many cases.
    expect(counts.nonEmpty).toBeGreaterThan(DEEP ? 0.3 * counts.answered : 0);
  },
  TIMEOUT,
);

it(
  `answers ${CASES} random requests the same when what the role does not see is changed (seed ${SEED})`,
  async () => {
    const counts = await unseenChanges({ service }, 'dbc', { all: CASES, rolesPerWorld: cases(12, 1), perRole: cases(40, 20) });
    expect(counts.failed).toBeLessThan(DEEP ? 0.6 * counts.asked : counts.asked);
  },
  TIMEOUT,
);

it(
  `does ${WRITES} random mutations as a naive evaluator does (seed ${SEED})`,
  async () => {
    const counts = await writesAsNaive({ service }, 'dbc', { all: WRITES, perWorld: 60 });
    // A share is one of many cases.
    expect(counts.written).toBeGreaterThan(DEEP ? 0.2 * counts.asked : 0);
    expect(counts.refused).toBeGreaterThan(DEEP ? 0.1 * counts.asked : 0);
  },
  TIMEOUT,
);

it('did so by statements that Citus takes', () => {
  console.info(`shapes: ${JSON.stringify({ ...shapes.seen, comparing: shapes.comparing })}`);
  expect(shapes.complaints).toEqual([]);
  for (const kind of ['select', 'mutation'] as const) expect(shapes.seen[kind]).toBeGreaterThan(0);
});
