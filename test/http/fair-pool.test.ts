/** Roles share the connection pool of a source: none of them fills it so that others wait. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases, DEEP } from '../support/deep.ts';
import { AT_GATE, type Gate, gateOf } from '../support/gate.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let gate: Gate;
const CONNECTIONS = 8;

beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: String(CONNECTIONS), ENABLED_APIS: 'graphql,metadata,metrics' });
  await service.sql(`create table item (id int primary key); insert into item values (1);
    create view slow as select item.id from item, lateral (select ${AT_GATE}, pg_sleep(0.1)) as pause`);
  gate = await gateOf(service.databaseUrl);
  for (const table of ['item', 'slow']) {
    await service.metadata('pg_track_table', { table });
    for (const role of ['greedy', 'other', 'third']) {
      await service.metadata('pg_create_select_permission', { table, role, permission: { columns: ['id'], filter: {} } });
    }
  }
});
afterAll(async () => {
  await gate.end();
  await service.stop();
});

const SLOW = '{ slow { id } }';
/** Roles in the order of their responses. */
const answered: string[] = [];

async function ask(query: string, role: string): Promise<void> {
  expect(await service.graphql(query, { role })).not.toHaveProperty('errors');
  answered.push(role);
}

/** Statements that wait for a connection. */
async function pending(): Promise<number> {
  const { text } = await service.send('/v1/metrics');
  return [...text.matchAll(/^svc_postgres_pool_pending_requests\{[^}]*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Number of concurrent statements of a role that uses its whole share. */
async function flood(count: number): Promise<Promise<void>[]> {
  answered.length = 0;
  await gate.shut();
  const asked = Array.from({ length: count }, () => ask(SLOW, 'greedy'));
  await expect.poll(async () => (await gate.waiting()) + (await pending())).toBe(count);
  return asked;
}

it('leaves a connection to other roles when one role sends many requests', async () => {
  const asked = await flood(cases(40, 16));
  // No cached plan yet, so it needs a connection of its own.
  await ask('{ item(where: {id: {_gt: 0}}) { id } }', 'other');
  expect(answered).toEqual(['other']);
  await gate.open();
  await Promise.all(asked);
});

it.runIf(DEEP)('serves waiting roles in turn', async () => {
  const asked = await flood(40);
  const before = await pending();
  const others = ['other', 'other', 'third', 'third'].map((role) => ask(SLOW, role));
  // One connection was left for them.
  await expect.poll(async () => (await pending()) - before).toBe(others.length - 1);
  await gate.open();
  await Promise.all([...asked, ...others]);
  // 40 with 7 or 8 at once take five or six rounds; the others are in the next two.
  const places = answered.flatMap((role, place) => (role === 'greedy' ? [] : [place]));
  expect(places).toHaveLength(others.length);
  expect(Math.max(...places)).toBeLessThan(3 * CONNECTIONS);
});

it('returns an error to a request that waits too long', async () => {
  const impatient = await startTestService({ PG_CONNECTIONS: '1', PG_POOL_TIMEOUT: '1' });
  await impatient.sql(`create view slow as select 1 as id, ${AT_GATE}::text as pause`);
  await impatient.metadata('pg_track_table', { table: 'slow' });
  const held = await gateOf(impatient.databaseUrl);
  await held.shut();
  const first = impatient.graphql('{ slow { id pause } }');
  await held.untilWaiting(1);
  expect(await impatient.graphql('{ slow { id pause } }')).toMatchObject({
    errors: [
      {
        message: expect.stringContaining('no connection became free in time'),
        extensions: { code: 'postgres-max-connections-error' },
      },
    ],
  });
  await held.end();
  expect(await first).toHaveProperty('data');
  await impatient.stop();
});
