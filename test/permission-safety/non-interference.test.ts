/**
 * Rows that a role does not see, and cells that neither it nor its rules read, are changed; no byte
 * of any answer changes with them, errors included.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { Choices, numbersOf } from './choices.ts';
import { editUnseen } from './edit-unseen.ts';
import { legacyRequest } from './legacy-query.ts';
import { makeRoots } from './make-query.ts';
import { ALL_ROLES, makeWorld } from './make-world.ts';
import { print } from './query.ts';
import { type Asked, ask, someSession } from './session.ts';
import { fill, setUp } from './set-up.ts';
import type { Session, World } from './world.ts';

const CASES = Number(process.env['SVC_SAFETY_CASES'] ?? cases(10_000, 240));
/** A short run sees several worlds too. */
const ROLES_PER_WORLD = cases(12, 3);
const CASES_PER_ROLE = cases(40, 20);
const AT_ONCE = 4;
const TIMEOUT = Math.max(600_000, CASES * 60);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', OPERATION_CACHE_SIZE: '64', LEGACY_ROWS_FOR_ALL_ROLES: 'true' });
});
afterAll(async () => {
  await service?.stop();
});

function requests(choices: Choices, world: World, role: string, session: Session): Asked[] {
  return Array.from({ length: CASES_PER_ROLE }, () => {
    const roots = makeRoots(choices, { world, role, total: true, failing: choices.chance(60) });
    if (roots === null) return [];
    const legacy = roots.flatMap((root) => legacyRequest(world, root, true) ?? []).slice(0, 1);
    return [
      { role, session, request: print(world, roots, () => choices.chance(30)) },
      ...legacy.map(({ body }) => ({ role, session, request: body })),
    ];
  }).flat();
}

async function askAll(asked: readonly Asked[]): Promise<string[]> {
  const answers: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < asked.length; i = next++) answers[i] = await ask(service.url, asked[i] as Asked);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

it(
  `answers ${CASES} random requests the same when what the role does not see is changed (seed ${SEED})`,
  async () => {
    const counts = { asked: 0, failed: 0, unchanged: 0 };
    for (let seed = SEED; counts.asked < CASES; seed++) {
      const choices = new Choices(numbersOf(seed, 400_000));
      const world = makeWorld(choices, 7);
      await setUp(service, world);
      for (let i = 0; i < ROLES_PER_WORLD; i++) {
        const role = choices.pick(ALL_ROLES);
        const session = someSession(choices);
        const changed = editUnseen(choices, world, role, session, 25);
        if (changed === world.data) {
          counts.unchanged++;
          continue;
        }
        const asked = requests(choices, world, role, session);
        await fill(service, world, world.data);
        const before = await askAll(asked);
        await fill(service, world, changed);
        const after = await askAll(asked);
        counts.asked += asked.length;
        counts.failed += before.filter((text) => /^\{"(?:errors|path)"/.test(text)).length;
        const leak = before.findIndex((text, j) => text !== after[j]);
        if (leak < 0) continue;
        const tables = world.tables.filter(({ name }) => world.data.get(name) !== changed.get(name)).map(({ name }) => name);
        expect.fail(
          `world ${seed}: changes in ${tables} are noticed\n${JSON.stringify(asked[leak], null, 1)}\nbefore ${before[leak]}\nafter  ${after[leak]}`,
        );
      }
    }
    expect(counts.failed).toBeLessThan(0.6 * counts.asked);
    console.info(`non-interference: ${JSON.stringify(counts)}, seed ${SEED}`);
  },
  TIMEOUT,
);
