/** No request within the limits keeps the database busy for long or uses much of its memory. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { cpuOfProcess } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { hostileQueries, relatedSchema } from '../support/hostile-conditions.ts';
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

/** The server processes of the service's sessions. */
async function backends(): Promise<readonly number[]> {
  const text = 'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  return (await watcher.query<{ pid: number }>(text)).rows.map(({ pid }) => pid);
}

/** Peak memory of a process, in megabytes; null if the system does not report it. */
function mostMemoryOf(pid: number): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}

interface Used {
  /** CPU time in ms, or elapsed time if the system does not report it. */
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

it('measures work of the database', async () => {
  const query = '{ node { id children { id children { id parent { id name } } } } }';
  const { ms, megabytes } = await usedBy(() => service.graphql(query));
  expect(ms).toBeGreaterThan(1);
  expect(megabytes).toBeGreaterThan(1);
});

const answered: string[] = [];
/** Legitimate queries of users. */
const SENSIBLE = ['all of 160 times parents', 'any of 160 times no children', 'an update by 40 times numbers of children'];
const asked = sample(hostileQueries, 24, ({ name }) => SENSIBLE.includes(name));

describe('a hostile condition', () => {
  it.each(asked.map((question) => [question.name, question] as const))(
    'is cheap for the database: %s',
    async (name, { query, variables }) => {
      let text = '';
      let ms = Number.POSITIVE_INFINITY;
      let megabytes = 0;
      // The best counts: other load makes an attempt more expensive, never cheaper.
      for (let attempt = 0; attempt < ATTEMPTS && ms >= MOST_MS; attempt++) {
        const used = await usedBy(async () => {
          ({ text } = await service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query, variables }) }));
        });
        ms = Math.min(ms, used.ms);
        megabytes = Math.max(megabytes, used.megabytes);
      }
      if (text.startsWith('{"data":')) answered.push(name);
      // Rejected before execution, not aborted.
      else
        expect(text).toMatch(
          /weigh more than 5000|more than 5000 parts|nested deeper than|are larger than 16777216 bytes|more than \d+ characters/,
        );
      expect(ms).toBeLessThan(MOST_MS);
      expect(megabytes).toBeLessThan(MOST_MEGABYTES);
    },
  );
});

it('permits the queries of real users', () => {
  if (asked === hostileQueries) expect(answered.length).toBeGreaterThan(hostileQueries.length / 3);
  expect(answered).toEqual(expect.arrayContaining(SENSIBLE));
});

describe('a permission over relationships', () => {
  it('counts against the limit wherever it applies', async () => {
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
