/** Nothing that the limits let through keeps the database busy for long, or takes much of its memory. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { cpuOfProcess } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { hostileQuestions, relatedSchema } from '../support/hostile-conditions.ts';
import { startTestService, type TestService } from '../support/service.ts';

const MOST_MS = 2_000;
const ATTEMPTS = 5;
const MOST_MEGABYTES = 500;

let service: TestService;
let watcher: pg.Client;

beforeAll(async () => {
  service = await startTestService({ OPERATION_CACHE_SIZE: '0', REQUEST_TIMEOUT: '20' });
  await service.sql(relatedSchema.sql);
  for (const table of relatedSchema.tables) await service.metadata('pg_track_table', { table });
  for (const { kind, ...args } of relatedSchema.relationships) await service.metadata(`pg_create_${kind}_relationship`, args);
  watcher = new pg.Client({ connectionString: service.databaseUrl });
  await watcher.connect();
});
afterAll(async () => {
  await watcher.end();
  await service.stop();
});

/** The processes that answer the service. */
async function backends(): Promise<readonly number[]> {
  const text = 'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  return (await watcher.query<{ pid: number }>(text)).rows.map(({ pid }) => pid);
}

/** Most that a process has had, in megabytes; null where the system does not say. */
function mostMemoryOf(pid: number): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}

interface Used {
  /** Of the processor; where the system does not say, by the clock. */
  readonly ms: number;
  readonly megabytes: number;
}

async function usedBy(run: () => Promise<unknown>): Promise<Used> {
  const before = new Map((await backends()).map((pid) => [pid, cpuOfProcess(pid)]));
  const begun = performance.now();
  await run();
  const elapsed = performance.now() - begun;
  const pids = await backends();
  const times = pids.map((pid) => ({ now: cpuOfProcess(pid), earlier: before.get(pid) ?? 0 }));
  const ms = times.some(({ now }) => now === null) ? elapsed : times.reduce((sum, { now, earlier }) => sum + (now ?? 0) - earlier, 0);
  return { ms, megabytes: Math.max(...pids.map((pid) => mostMemoryOf(pid) ?? 0)) };
}

it('work of the database is seen', async () => {
  const query = '{ node { id children { id children { id parent { id name } } } } }';
  const { ms, megabytes } = await usedBy(() => service.graphql(query));
  expect(ms).toBeGreaterThan(1);
  expect(megabytes).toBeGreaterThan(1);
});

const answered: string[] = [];
/** What people ask, too. */
const SENSIBLE = ['all of 160 times parents', 'any of 160 times no children', 'an update by 40 times numbers of children'];
const asked = sample(hostileQuestions, 24, ({ name }) => SENSIBLE.includes(name));

describe('a hostile question', () => {
  it.each(asked.map((question) => [question.name, question] as const))('%s', async (name, { query, variables }) => {
    let text = '';
    let ms = Number.POSITIVE_INFINITY;
    let megabytes = 0;
    // The best counts: others on the machine make an attempt dearer, never cheaper.
    for (let attempt = 0; attempt < ATTEMPTS && ms >= MOST_MS; attempt++) {
      const used = await usedBy(async () => {
        ({ text } = await service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query, variables }) }));
      });
      ms = Math.min(ms, used.ms);
      megabytes = Math.max(megabytes, used.megabytes);
    }
    if (text.startsWith('{"data":')) answered.push(name);
    // Refused before it is run, not given up.
    else
      expect(text).toMatch(
        /weigh more than 5000|more than 5000 parts|nested deeper than|are larger than 16777216 bytes|more than \d+ characters/,
      );
    expect(ms).toBeLessThan(MOST_MS);
    expect(megabytes).toBeLessThan(MOST_MEGABYTES);
  });
});

it('the limits let through what people ask', () => {
  if (asked === hostileQuestions) expect(answered.length).toBeGreaterThan(hostileQuestions.length / 3);
  expect(answered).toEqual(expect.arrayContaining(SENSIBLE));
});

describe('a rule over relationships', () => {
  it('counts wherever it holds', async () => {
    const filter = { parent: { parent: { parent: { id: { _gte: 0 } } } } };
    await service.metadata('pg_create_select_permission', { table: 'node', role: 'child', permission: { columns: '*', filter } });
    const query = 'query ($w: node_bool_exp!) { node(where: $w) { id } }';
    const ask = (count: number): Promise<unknown> =>
      service.graphql(query, {
        role: 'child',
        variables: { w: { _or: Array.from({ length: count }, (_, n) => ({ children: { id: { _eq: n } } })) } },
      });
    expect(await ask(40)).toHaveProperty('data');
    expect(await ask(60)).toMatchObject({
      errors: [{ message: "the operation's conditions, orders and nested rows weigh more than 5000" }],
    });
  });
});
