/** Random requests before and after changes that their role must not notice. */
import { expect } from 'vitest';
import { SEED } from '../support/deep.ts';
import { Choices, numbersOf } from './choices.ts';
import { editUnseen } from './edit-unseen.ts';
import { dataOperation } from './data-operation.ts';
import { makeRoots } from './make-query.ts';
import { ALL_ROLES, makeWorld } from './make-world.ts';
import { print } from './query.ts';
import { type Asked, ask, someSession } from './session.ts';
import { sameButForLastDigits } from './last-digits.ts';
import { fill, type Place, setUp } from './set-up.ts';
import type { Database, Session, World } from './world.ts';

const AT_ONCE = 4;

export interface UnseenCases {
  readonly all: number;
  readonly rolesPerWorld: number;
  readonly perRole: number;
}

function requests(choices: Choices, world: World, role: string, session: Session, count: number): Asked[] {
  return Array.from({ length: count }, () => {
    const roots = makeRoots(choices, { world, role, total: true, failing: choices.chance(60) });
    if (roots === null) return [];
    const dataOperations = world.database !== 'pg' ? [] : roots.flatMap((root) => dataOperation(world, root, true) ?? []).slice(0, 1);
    return [
      { role, session, request: print(world, roots, () => choices.chance(30)) },
      ...dataOperations.map(({ body }) => ({ role, session, request: body })),
    ];
  }).flat();
}

async function askAll({ service }: Place, asked: readonly Asked[]): Promise<string[]> {
  const answers: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < asked.length; i = next++) answers[i] = await ask(service.url, asked[i] as Asked);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

/** @returns the requests; fails if an answer changes */
export async function unseenChanges(
  place: Place,
  database: Database,
  cases: UnseenCases,
): Promise<{ readonly asked: number; readonly failed: number; readonly unchanged: number }> {
  const counts = { asked: 0, failed: 0, unchanged: 0 };
  for (let seed = SEED; counts.asked < cases.all; seed++) {
    const choices = new Choices(numbersOf(seed, 400_000));
    const world = makeWorld(choices, 7, database);
    await setUp(place, world);
    for (let i = 0; i < cases.rolesPerWorld; i++) {
      const role = choices.pick(ALL_ROLES);
      const session = someSession(choices);
      const changed = editUnseen(choices, world, role, session, 25);
      if (changed === world.data) {
        counts.unchanged++;
        continue;
      }
      const asked = requests(choices, world, role, session, cases.perRole);
      await fill(place, world, world.data);
      const before = await askAll(place, asked);
      await fill(place, world, changed);
      const after = await askAll(place, asked);
      counts.asked += asked.length;
      counts.failed += before.filter((text) => /^\{"(?:errors|path)"/.test(text)).length;
      const same = database === 'dbb' ? sameButForLastDigits : (text: string, other: string): boolean => text === other;
      const leak = before.findIndex((text, j) => !same(text, after[j] as string));
      if (leak < 0) continue;
      const tables = world.tables.filter(({ name }) => world.data.get(name) !== changed.get(name)).map(({ name }) => name);
      expect.fail(
        `world ${seed}: changes in ${tables} are noticed\n${JSON.stringify(asked[leak], null, 1)}\nbefore ${before[leak]}\nafter  ${after[leak]}`,
      );
    }
  }
  console.info(`non-interference: ${JSON.stringify(counts)}, seed ${SEED}`);
  return counts;
}
