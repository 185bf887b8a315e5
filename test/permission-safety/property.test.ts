/**
 * Random tables, rows, rules, inherited roles and requests: the service answers as if the rows and
 * cells that a role does not see were not there. SVC_SAFETY_CASES and SVC_TEST_SEED say how many
 * cases and which.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { answer, difference, Undetermined } from './answer.ts';
import { CHOICE_MAX, Choices, numbersOf } from './choices.ts';
import { ALL_ROLES, makeWorld } from './make-world.ts';
import { legacyRequest } from './legacy-query.ts';
import { makeRoots } from './make-query.ts';
import { print, type Root } from './query.ts';
import type { Scene } from './seen.ts';
import { ask, someSession } from './session.ts';
import { setUp } from './set-up.ts';
import type { World } from './world.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(10_000, 240));
/** A short run sees several worlds too. */
const CASES_PER_WORLD = cases(500, 80);
const AT_ONCE = 4;
const TIMEOUT = Math.max(600_000, CASES * 60);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64', LEGACY_ROWS_FOR_ALL_ROLES: 'true' });
});
afterAll(async () => {
  await service?.stop();
});

const counts = { answered: 0, nonEmpty: 0, undetermined: 0, nothing: 0, legacy: 0 };

async function check(world: World, numbers: readonly number[]): Promise<void> {
  const choices = new Choices(numbers);
  const role = choices.pick(ALL_ROLES);
  const session = someSession(choices);
  const roots = makeRoots(choices, { world, role, total: false, failing: false });
  if (roots === null) {
    counts.nothing++;
    return;
  }
  const scene: Scene = { world, data: world.data, session, visible: new Map() };
  await checkLegacy(scene, role, roots);
  let expected: ReturnType<typeof answer>;
  try {
    expected = answer(scene, role, roots);
  } catch (error) {
    if (!(error instanceof Undetermined)) throw error;
    counts.undetermined++;
    return;
  }
  const request = print(world, roots, () => choices.chance(30));
  const actual = JSON.parse(await ask(service.url, { role, session, request })) as { data?: unknown };
  counts.answered++;
  if (/\[\{|":[0-9"t]/.test(JSON.stringify(actual.data))) counts.nonEmpty++;
  const found = difference(expected, actual.data);
  if (found === null && !('errors' in actual)) return;
  const permissions = [...world.permissions].map(([name, own]) => [name, Object.fromEntries(own)]);
  expect.fail(
    `${found}\n${JSON.stringify({ role, session, ...request }, null, 1)}\nanswer ${JSON.stringify(actual)}\n` +
      `rules ${process.env['SVC_SAFETY_VERBOSE'] ? JSON.stringify(permissions) : '(SVC_SAFETY_VERBOSE=1 prints them)'}`,
  );
}

/** The legacy API answers the same, as far as it can be asked. */
async function checkLegacy(scene: Scene, role: string, roots: readonly Root[]): Promise<void> {
  const { world, session } = scene;
  const request = roots.flatMap((root) => legacyRequest(world, root, false) ?? [])[0];
  if (request === undefined) return;
  const { root, body } = request;
  let expected: ReturnType<typeof answer>;
  try {
    expected = answer(scene, role, [root]);
  } catch (error) {
    if (!(error instanceof Undetermined)) throw error;
    return;
  }
  const rows = JSON.parse(await ask(service.url, { role, session, request: body })) as unknown;
  counts.legacy++;
  const found = difference(expected, { [root.alias]: rows });
  if (found !== null)
    expect.fail(`legacy ${found}\n${JSON.stringify({ role, session, ...body }, null, 1)}\nanswer ${JSON.stringify(rows)}`);
}

it(
  `answers ${CASES} random requests as a naive evaluator does (seed ${SEED})`,
  async () => {
    for (let seed = SEED; counts.answered < CASES; seed++) {
      const world = makeWorld(new Choices(numbersOf(seed, 20_000)), 7);
      await setUp(service, world);
      const numbers = fc.noBias(fc.array(fc.nat(CHOICE_MAX), { minLength: 300, maxLength: 300 }));
      const property = fc.asyncProperty(numbers, (items) => check(world, items));
      const numRuns = CASES_PER_WORLD / AT_ONCE;
      const results = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, part) => fc.check(property, { numRuns, seed: seed * AT_ONCE + part })),
      );
      const failed = results.find((result) => result.failed);
      if (failed !== undefined) expect.fail(`world ${seed}: ${(failed.errorInstance as Error | null)?.message ?? 'interrupted'}`);
    }
    console.info(`permission safety: ${JSON.stringify(counts)}, seed ${SEED}`);
    // Else it would say nothing that all is well.
    expect(counts.nonEmpty).toBeGreaterThan(0.3 * counts.answered);
    expect(counts.legacy).toBeGreaterThan(0.1 * counts.answered);
  },
  TIMEOUT,
);
