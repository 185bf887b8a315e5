/** A service with little memory, and one client that keeps sending large documents with different filters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type ServedProcess, serveInProcess } from '../support/served-process.ts';

const HEAP_MB = 128;
const REQUESTS = 200;
const AT_ONCE = 4;

let database: TestDatabase;
let served: ServedProcess;

// A short run only tests the estimated sizes (`plan-size`): here a process answers until its memory would be full.
describe.runIf(DEEP)('plans of large documents', () => {
  beforeAll(async () => {
    database = await testDatabase();
    served = serveInProcess(database.url, { PG_CONNECTIONS: '3', ENABLED_LOG_TYPES: 'startup' }, [`--max-old-space-size=${HEAP_MB}`]);
  });
  afterAll(async () => {
    served.kill('SIGKILL');
    await served.ended;
    await database.drop();
  });

  async function post(url: string, path: string, body: unknown): Promise<unknown> {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  }

  it('stay within a memory limit, in the service and in the database', async () => {
    const url = await served.listening;
    await post(url, '/v2/query', { type: 'run_sql', args: { sql: 'create table item (id int primary key, name text)' } });
    await post(url, '/v1/metadata', { type: 'pg_track_table', args: { table: 'item' } });
    const query = (salt: number): string =>
      `{ ${Array.from({ length: 180 }, (_, n) => `a${n}: item(where: {id: {_${n % 2 === 0 ? 'eq' : 'gt'}: ${n + salt}}, name: {_like: "x${n}"}}, limit: ${salt}) { id name }`).join(' ')} }`;
    let salt = 0;
    const client = async (): Promise<void> => {
      while (salt < REQUESTS) {
        const answer = (await post(url, '/v1/graphql', { query: query(++salt) })) as { data?: unknown };
        expect(answer).toMatchObject({ data: { a0: [] } });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    expect(await post(url, '/v1/graphql', { query: '{ item { id } }' })).toEqual({ data: { item: [] } });
  });
});
