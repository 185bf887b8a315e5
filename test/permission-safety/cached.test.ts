/** Cached answers: no session receives an answer that differs from the one without `@cached`. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CHOICE_MAX, Choices, numbersOf } from './choices.ts';
import { ALL_ROLES, makeWorld } from './make-world.ts';
import { makeRoots } from './make-query.ts';
import { print } from './query.ts';
import { ask, someSession } from './session.ts';
import { setUp } from './set-up.ts';

const REQUESTS = Number(process.env['SVC_SAFETY_CASES'] ?? cases(500, 40));
const PER_WORLD = cases(200, 20);
const SESSIONS = 4;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '4', ENABLED_APIS: 'graphql,metadata,metrics' });
});
afterAll(async () => {
  await service?.stop();
});

async function hits(): Promise<number> {
  const { text } = await service.send('/v1/metrics');
  return Number(/svc_cache_requests_total\{status="hit"\} (\d+)/.exec(text)?.[1]);
}

it(
  `never returns an answer that is cached for another session (seed ${SEED})`,
  async () => {
    let asked = 0;
    let different = 0;
    for (let seed = SEED; asked < REQUESTS; seed++) {
      const world = makeWorld(new Choices(numbersOf(seed, 20_000)), 7, 'pg');
      await setUp({ service }, world);
      for (let i = 0; i < PER_WORLD; i++) {
        const choices = new Choices(numbersOf(seed * 1_000_003 + i, 400).map((number) => number % (CHOICE_MAX + 1)));
        const role = choices.pick(ALL_ROLES);
        // Answers are compared byte for byte, so the order must be total.
        const roots = makeRoots(choices, { world, role, total: true, failing: false });
        if (roots === null) continue;
        asked += 1;
        const request = print(world, roots, () => choices.chance(30));
        const cachedRequest = { ...request, query: request.query.replace(' { ', ' @cached { ') };
        expect(cachedRequest.query).toContain('@cached');
        const others = Array.from({ length: SESSIONS }, () => ({
          role: choices.chance(70) ? role : choices.pick(ALL_ROLES),
          session: someSession(choices),
        }));
        const answers = new Set<string>();
        // All at once, so that equal requests are coalesced, and once more, so that cached answers are returned.
        for (let round = 0; round < 2; round++) {
          const cached = await Promise.all(others.map((who) => ask(service.url, { ...who, request: cachedRequest })));
          for (const [n, who] of others.entries()) {
            const plain = await ask(service.url, { ...who, request });
            expect(cached[n], JSON.stringify({ seed, ...who, ...request })).toBe(plain);
            answers.add(plain);
          }
        }
        if (answers.size > 1) different += 1;
      }
    }
    // Otherwise success would prove nothing.
    expect(different).toBeGreaterThan(DEEP ? 0.1 * asked : 0);
    expect(await hits()).toBeGreaterThan(asked);
  },
  Math.max(600_000, REQUESTS * 200),
);
