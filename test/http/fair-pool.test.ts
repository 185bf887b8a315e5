/** Roles share the connections of a source: none of them fills the pool so that others wait. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '8' });
  await service.sql(`create table item (id int primary key); insert into item values (1);
    create view slow as select item.id from item, lateral (select pg_sleep(0.6 + item.id * 0)) as pause`);
  for (const table of ['item', 'slow']) {
    await service.metadata('pg_track_table', { table });
    for (const role of ['greedy', 'other', 'third']) {
      await service.metadata('pg_create_select_permission', { table, role, permission: { columns: ['id'], filter: {} } });
    }
  }
});
afterAll(() => service.stop());

const SLOW = '{ slow { id } }';

async function took(query: string, role: string): Promise<number> {
  const started = performance.now();
  expect(await service.graphql(query, { role })).not.toHaveProperty('errors');
  return performance.now() - started;
}

it('a role that asks for very much leaves a connection to others', async () => {
  const flood = Array.from({ length: cases(40, 16) }, () => took(SLOW, 'greedy'));
  await new Promise((resolve) => setTimeout(resolve, 150));
  // Not known yet, so it needs a connection alone.
  expect(await took('{ item(where: {id: {_gt: 0}}) { id } }', 'other')).toBeLessThan(400);
  await Promise.all(flood);
});

it.runIf(DEEP)('those who wait take turns', async () => {
  const flood = Array.from({ length: 40 }, () => took(SLOW, 'greedy'));
  await new Promise((resolve) => setTimeout(resolve, 150));
  // 40 at 7 or 8 at once take five or six rounds; the others are in the next two.
  const waits = await Promise.all(['other', 'other', 'third', 'third'].map((role) => took(SLOW, role)));
  expect(Math.max(...waits)).toBeLessThan(2000);
  expect(Math.max(...(await Promise.all(flood)))).toBeGreaterThan(2800);
});

it('who waits too long is told so', async () => {
  const impatient = await startTestService({ PG_CONNECTIONS: '1', PG_POOL_TIMEOUT: '1' });
  await impatient.sql('create view slow as select 1 as id, pg_sleep(1.6)::text as pause');
  await impatient.metadata('pg_track_table', { table: 'slow' });
  const answers = await Promise.all([1, 2].map(() => impatient.graphql('{ slow { id pause } }')));
  expect(answers.filter((answer) => 'data' in answer)).toHaveLength(1);
  expect(answers.find((answer) => 'errors' in answer)).toMatchObject({
    errors: [{ message: /no connection became free in time/, extensions: { code: 'postgres-max-connections-error' } }].map((error) => ({
      ...error,
      message: expect.stringMatching(error.message) as string,
    })),
  });
  await impatient.stop();
});
