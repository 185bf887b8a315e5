import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

/** How long a statement may go on after nobody waits for it any more. */
const ALLOWED_MS = 100;
/** A busy machine may be late now and then. */
const ATTEMPTS = 3;
const TIME_LIMIT_MS = 1000;

let service: TestService;
let watcher: pg.Client;

beforeAll(async () => {
  service = await startTestService({ REQUEST_TIMEOUT: String(TIME_LIMIT_MS / 1000), PG_CONNECTIONS: '3' });
  await service.sql(`create table item (id int primary key); insert into item values (1);
    create view slow_item as select item.* from item, lateral (select pg_sleep(30 + item.id)) as pause;
    create function slow_change() returns setof item language plpgsql as $$ begin perform pg_sleep(30); return query select * from item; end $$`);
  for (const table of ['item', 'slow_item']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_track_function', { function: 'slow_change', configuration: { exposed_as: 'mutation' } });
  watcher = new pg.Client(service.databaseUrl);
  await watcher.connect();
});
afterAll(async () => {
  await watcher.end();
  await service.stop();
});

async function sleeping(): Promise<number> {
  const { rows } = await watcher.query(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return (rows as { count: number }[])[0]?.count ?? 0;
}

async function until(count: number, atMost: number): Promise<void> {
  const end = performance.now() + atMost;
  while ((await sleeping()) !== count) {
    if (performance.now() > end) throw new Error(`not ${count} sleeping statements after ${atMost} ms`);
    await sleep(2);
  }
}

/** Sends a request; `leave` closes its connection. */
function ask(body: string): { readonly answer: Promise<string>; leave(): void } {
  let leave = (): void => undefined;
  const answer = new Promise<string>((resolve) => {
    const out = request(`${service.url}/v1/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' } }, (r) => {
      let text = '';
      r.on('data', (chunk) => {
        text += chunk;
      });
      r.on('end', () => resolve(text));
    });
    out.on('error', () => resolve('gone'));
    leave = () => out.destroy();
    out.end(body);
  });
  return { answer, leave: () => leave() };
}

async function bestOf(measure: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && best > ALLOWED_MS; attempt++) best = Math.min(best, await measure());
  return best;
}

const READ = '{"query":"{ slow_item { id } }"}';
const CHANGE = '{"query":"mutation { slow_change { id } }"}';

describe.each([
  ['a query', READ],
  ['a mutation', CHANGE],
  ['a query in a batch', `[{"query":"{ item { id } }"},${READ},${CHANGE}]`],
])('%s in the database', (_what, body) => {
  it('is cancelled when its client goes away', async () => {
    const late = await bestOf(async () => {
      const { leave, answer } = ask(body);
      await until(1, 900);
      const started = performance.now();
      leave();
      await until(0, 900);
      expect(await answer).toBe('gone');
      return performance.now() - started;
    });
    expect(late).toBeLessThan(ALLOWED_MS);
  });
});

it.each([
  ['a query', READ],
  ['a mutation', CHANGE],
])('%s is cancelled when its time is over, and its client told', async (_what, body) => {
  const late = await bestOf(async () => {
    const started = performance.now();
    const { answer } = ask(body);
    await until(1, 900);
    await until(0, 5000);
    const took = performance.now() - started;
    expect(JSON.parse(await answer)).toMatchObject({ errors: [{ extensions: { code: 'timeout' } }] });
    expect(took).toBeGreaterThan(TIME_LIMIT_MS - 1);
    return took - TIME_LIMIT_MS;
  });
  expect(late).toBeLessThan(ALLOWED_MS);
});

it('does not run what still waits for a connection when its client goes away', async () => {
  const running = [ask(READ), ask(READ), ask(READ)];
  await until(3, 900);
  const waiting = ask(CHANGE);
  await sleep(50);
  waiting.leave();
  await waiting.answer;
  for (const each of running) each.leave();
  await until(0, 900);
  await sleep(100);
  expect(await sleeping()).toBe(0);
  expect(await service.graphql('{ item { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
});
