/** Answers to roles on a Citus source match a naive evaluator, reveal no hidden rows and use only statements that Citus accepts. */
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

it('uses only statements that Citus accepts', () => {
  console.info(`shapes: ${JSON.stringify({ ...shapes.seen, comparing: shapes.comparing })}`);
  expect(shapes.problems).toEqual([]);
  for (const kind of ['select', 'mutation'] as const) expect(shapes.seen[kind]).toBeGreaterThan(0);
});
