/** Random requests to a random world, answered by the service and by a naive evaluator. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { SEED } from '../support/deep.ts';
import { answer, difference, Undetermined } from './answer.ts';
import { CHOICE_MAX, Choices, numbersOf } from './choices.ts';
import { dataOperation } from './data-operation.ts';
import { ALL_ROLES, makeWorld } from './make-world.ts';
import { makeRoots } from './make-query.ts';
import { print, type Root } from './query.ts';
import type { Scene } from './seen.ts';
import { ask, someSession } from './session.ts';
import { type Place, setUp } from './set-up.ts';
import type { Database, World } from './world.ts';

const AT_ONCE = 4;

export interface Counts {
  answered: number;
  nonEmpty: number;
  undetermined: number;
  nothing: number;
  dataOperations: number;
}

/** @param cases number of requests, and of requests per world. @returns the requests; fails if answers differ */
export async function answersAsNaive(
  place: Place,
  database: Database,
  cases: { readonly all: number; readonly perWorld: number },
): Promise<Counts> {
  const counts: Counts = { answered: 0, nonEmpty: 0, undetermined: 0, nothing: 0, dataOperations: 0 };
  const compared = new Cases(place, counts);
  for (let seed = SEED; counts.answered < cases.all; seed++) {
    const world = makeWorld(new Choices(numbersOf(seed, 20_000)), 7, database);
    await setUp(place, world);
    const numbers = fc.noBias(fc.array(fc.nat(CHOICE_MAX), { minLength: 300, maxLength: 300 }));
    const property = fc.asyncProperty(numbers, (items) => compared.check(world, items));
    // Shrinking takes hundreds of requests, and each request to the emulator takes a second.
    const how = { numRuns: Math.ceil(cases.perWorld / AT_ONCE), endOnFailure: database === 'dwh' };
    const results = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, part) => fc.check(property, { ...how, seed: seed * AT_ONCE + part })),
    );
    const failed = results.find((result) => result.failed);
    if (failed !== undefined) expect.fail(`world ${seed}: ${(failed.errorInstance as Error | null)?.message ?? 'interrupted'}`);
  }
  console.info(`permission safety: ${JSON.stringify(counts)}, seed ${SEED}`);
  return counts;
}

class Cases {
  private readonly place: Place;
  private readonly counts: Counts;

  constructor(place: Place, counts: Counts) {
    this.place = place;
    this.counts = counts;
  }

  async check(world: World, numbers: readonly number[]): Promise<void> {
    const { service } = this.place;
    const { counts } = this;
    const choices = new Choices(numbers);
    const role = choices.pick(ALL_ROLES);
    const session = someSession(choices);
    const roots = makeRoots(choices, { world, role, total: false, failing: false });
    if (roots === null) {
      counts.nothing++;
      return;
    }
    const scene: Scene = { world, data: world.data, session, visible: new Map() };
    if (world.database === 'pg') await this.checkLegacy(scene, role, roots);
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

  /** The data operations return the same answer as far as they can express the request. */
  private async checkLegacy(scene: Scene, role: string, roots: readonly Root[]): Promise<void> {
    const { world, session } = scene;
    const request = roots.flatMap((root) => dataOperation(world, root, false) ?? [])[0];
    if (request === undefined) return;
    const { root, body } = request;
    let expected: ReturnType<typeof answer>;
    try {
      expected = answer(scene, role, [root]);
    } catch (error) {
      if (!(error instanceof Undetermined)) throw error;
      return;
    }
    const rows = JSON.parse(await ask(this.place.service.url, { role, session, request: body })) as unknown;
    this.counts.dataOperations++;
    const found = difference(expected, { [root.alias]: rows });
    if (found !== null)
      expect.fail(`data operation: ${found}\n${JSON.stringify({ role, session, ...body }, null, 1)}\nanswer ${JSON.stringify(rows)}`);
  }
}
