/** What roles see of a source of Citus: as a naive evaluator says, nothing of what they do not see, by statements that Citus takes. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { testReads, testWrites } from '../permission-safety/of-kind.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Shapes, watchShapes } from './watch-shapes.ts';

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

testReads('dbc', () => ({ service }), { all: [5_000, 40], perWorld: [500, 40], rolesPerWorld: [12, 1], perRole: [40, 20], each: 60 });
testWrites('dbc', () => ({ service }), [2_000, 60]);

it('did so by statements that Citus takes', () => {
  console.info(`shapes: ${JSON.stringify({ ...shapes.seen, comparing: shapes.comparing })}`);
  expect(shapes.complaints).toEqual([]);
  for (const kind of ['select', 'mutation'] as const) expect(shapes.seen[kind]).toBeGreaterThan(0);
});
