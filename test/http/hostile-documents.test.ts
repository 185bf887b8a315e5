/** Requests that keep the server busy are answered or rejected within a bound of CPU time, and the work is linear. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuOf, slowness } from '../support/cpu.ts';
import { sample } from '../support/deep.ts';
import { budgetOf, hostileRequests, hostileSchema } from '../support/hostile-documents.ts';
import { openRawConnection, type RawAnswer, type RawConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** For the test of the measurement. */
const BUDGET_MS = 50;
/** Number of attempts. The best counts: the compiler, garbage collection and other load make an attempt more expensive, never cheaper. */
const ATTEMPTS = 10;

let service: TestService;
let connection: RawConnection;

beforeAll(async () => {
  // Without a cache every attempt is the first.
  service = await startTestService({ OPERATION_CACHE_SIZE: '0' });
  await service.sql(hostileSchema.sql);
  for (const table of hostileSchema.tables) await service.metadata('pg_track_table', { table });
  for (const { kind, ...args } of hostileSchema.relationships) await service.metadata(`pg_create_${kind}_relationship`, args);
  connection = await openRawConnection(service.url);
});
afterAll(async () => {
  connection.close();
  await service.stop();
});

it('measures CPU time', async () => {
  const used = await cpuOf(async () => {
    const started = process.cpuUsage();
    while (process.cpuUsage(started).user < BUDGET_MS * 1000);
    await new Promise((resolve) => setImmediate(resolve));
  });
  expect(used).toBeGreaterThan(BUDGET_MS / 5);
});

describe('a hostile document', () => {
  it.each(sample(hostileRequests, 80, ({ name }) => name.startsWith('two roots')).map((hostile) => [hostile.name, hostile] as const))(
    'is answered or rejected within its CPU budget: %s',
    async (_name, hostile) => {
      const body = Buffer.from(hostile.body());
      const budget = budgetOf(hostile);
      let answer: RawAnswer = { status: 0, text: '' };
      let best = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < ATTEMPTS && best > budget; attempt++) {
        const used = await cpuOf(async () => {
          answer = await connection.post('/v1/graphql', body);
        });
        best = Math.min(best, used);
      }
      expect([200, 400]).toContain(answer.status);
      for (const one of [JSON.parse(answer.text) as object].flat()) expect(Object.keys(one)).toHaveLength(1);
      // Rejected deliberately, not by an internal error.
      expect(answer.text).not.toContain('"code":"unexpected"');
      expect(best).toBeLessThan(best < budget ? budget : budget * (await slowness()));
    },
  );
});

describe('the number of values in a request', () => {
  const REFUSED = 'JSON has too many values: their weight exceeds the limit of ';
  const numbers = (count: number): string => `[${'1,'.repeat(count - 1)}1]`;
  const query = (variables: string): string =>
    `{"query":"query ($d: jsonb) { author(where: {data: {_eq: $d}}) { id } }","variables":${variables}}`;
  const message = async (path: string, body: string): Promise<unknown> => {
    const { json } = await service.send(path, { method: 'POST', body });
    return (json as { errors?: [{ message: string }] }).errors?.[0].message ?? (json as { error?: string }).error;
  };

  it('is limited', async () => {
    expect(await message('/v1/graphql', query(`{"d":${numbers(190_000)}}`))).toBeUndefined();
    expect(await message('/v1/graphql', query(`{"d":${numbers(210_000)}}`))).toBe(`${REFUSED}200000`);
  });

  it('may be higher in a larger request', async () => {
    const text = (length: number): string => `"${'x'.repeat(length)}"`;
    expect(await message('/v1/graphql', query(`{"d":[${text(800_000)},${numbers(210_000)}]}`))).toBeUndefined();
  });

  it('is unlimited for administrators', async () => {
    const args = `{"webhook_url":"http://x","body":${numbers(210_000)},"request_transform":{"version":2,"method":"PUT"}}`;
    expect(await message('/v1/metadata', `{"type":"test_webhook_transform","args":${args}}`)).toBeUndefined();
  });
});

describe('the work for a document', () => {
  const many = (count: number, text: (n: number) => string): string => Array.from({ length: count }, (_, n) => text(n)).join('');

  /** Characters of the statement: a measure of planning without a clock. */
  async function statementSize(query: string): Promise<number> {
    const answer = await service.send('/v1/graphql/explain', { method: 'POST', body: JSON.stringify({ query: { query } }) });
    expect(answer.status).toBe(200);
    return JSON.stringify((answer.json as { sql: string | null }[]).map(({ sql }) => sql)).length;
  }

  it.each([
    ['aliases of a column', (n: number) => `{ author { ${many(n, (i) => `a${i}: id `)} } }`],
    ['aliases of a root field', (n: number) => `{ ${many(n, (i) => `a${i}: author { id } `)} }`],
    ['aliases of a relationship', (n: number) => `{ author { ${many(n, (i) => `a${i}: books { id } `)} } }`],
    ['conditions', (n: number) => `{ author(where: {_or: [${many(n, (i) => `{id: {_eq: ${i}}} `)}]}) { id } }`],
    [
      'conditions inside each other',
      (n: number) => `{ author(where: ${'{_not: '.repeat(n / 2)}{id: {_eq: 1}}${'}'.repeat(n / 2)}) { id } }`,
    ],
    ['values', (n: number) => `{ author(where: {id: {_in: [${many(n, (i) => `${i} `)}]}}) { id } }`],
    ['orders', (n: number) => `{ author(order_by: [${many(n, () => '{id: asc} ')}]) { id } }`],
    ['levels', (n: number) => `{ author { ${'books { author { '.repeat(n / 8)} id ${'} } '.repeat(n / 8)} } }`],
    ['overlapping selections', (n: number) => `{ author { ${many(n, (i) => `books { a${i % 7}: id author { name } } `)} } }`],
    [
      'a fragment in many places',
      (n: number) => `{ ${many(n, (i) => `a${i}: author { ...F } `)} } fragment F on author { id name books { id } }`,
    ],
  ])('is linear: %s', async (_name, document) => {
    const small = await statementSize(document(80));
    const large = await statementSize(document(160));
    expect(large).toBeLessThan(small * 2.2);
  });
});
