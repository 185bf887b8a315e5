import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.ts';
import { WAIT } from '../../../../test/support/wait.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { CancellationSource } from '../../../util/cancellation.ts';
import { WireExchange } from './exchange.ts';
import { createOpener } from './open-session.ts';
import type { DriverSession } from './session.ts';
import type { JsonRow } from '../../../backend/connection.ts';

let database: TestDatabase;
let watcher: pg.Client;
beforeAll(async () => {
  database = await testDatabase();
  watcher = new pg.Client(database.url);
  await watcher.connect();
});
afterAll(async () => {
  await watcher.end();
  await database.drop();
});

const open = (): Promise<DriverSession> =>
  createOpener(() => ({
    client: { connectionString: database.url },
    ssl: [false],
    prepare: true,
    preparedMemory: 1_000_000,
    setup: null,
  }))();

/** Returns the states of the other server processes whose last query is `text`. */
async function states(text: string): Promise<unknown[]> {
  const { rows } = await watcher.query('select state, wait_event from pg_stat_activity where query = $1 and pid <> pg_backend_pid()', [
    text,
  ]);
  return rows;
}

const SLEEPING = [{ state: 'active', wait_event: 'PgSleep' }];

it('terminates a session in the server whose SQL ignores cancel requests', async () => {
  const session = await open();
  const text = 'do $$ begin loop begin perform pg_sleep(600); exception when query_canceled then null; end; end loop; end $$';
  const signal = new CancellationSource();
  const done = new Promise<WireExchange>((resolve) => {
    const exchange = new WireExchange('simple', [{ text, values: [] }], resolve);
    exchange.signal = signal;
    session.send(exchange);
  });
  await expect.poll(() => states(text), WAIT).toEqual(SLEEPING);
  signal.cancel();
  const now = Date.now();
  session.sweep(now);
  // The server has delivered the cancel request, and the SQL continues.
  await expect.poll(() => session.cancelsOpen, WAIT).toBe(0);
  await expect.poll(() => states(text), WAIT).toEqual(SLEEPING);
  expect(session.sweep(now + 60_000)).toBe(false);
  expect((await done).failure).toMatchObject({ reason: 'abort' });
  await expect.poll(() => states(text), WAIT).toEqual([]);
});

it('does not affect other sessions when it cancels a statement', async () => {
  const [session, other] = [await open(), await open()];
  const run = (of: DriverSession, text: string, signal?: CancellationSource): Promise<WireExchange> =>
    new Promise((resolve) => {
      const exchange = new WireExchange('text', [{ text, values: [] }], resolve);
      exchange.signal = signal;
      of.send(exchange);
    });
  const signal = new CancellationSource();
  const slow = run(session, 'select pg_sleep(600)', signal);
  await expect.poll(() => states('select pg_sleep(600)'), WAIT).toEqual(SLEEPING);
  signal.cancel();
  session.sweep(Date.now());
  expect((await slow).failure).toMatchObject({ reason: 'abort' });
  expect((await run(other, 'select 1')).results[0]?.rows).toEqual([['1']]);
  expect((await run(session, 'select 2')).results[0]?.rows).toEqual([['2']]);
  session.end();
  other.end();
});

it('does not terminate a running statement when a statement queued after it is cancelled', async () => {
  const session = await open();
  await watcher.query('select pg_advisory_lock(1)');
  const text = "select pg_advisory_lock(1), 'done'";
  const run = (of: string, signal?: CancellationSource): Promise<WireExchange> =>
    new Promise((resolve) => {
      const exchange = new WireExchange('text', [{ text: of, values: [] }], resolve);
      exchange.signal = signal;
      exchange.releasesEarly = true;
      session.send(exchange);
    });
  const first = run(text, new CancellationSource());
  const signal = new CancellationSource();
  const behind = run('select pg_sleep(600)', signal);
  await expect.poll(() => states(text), WAIT).toEqual([{ state: 'active', wait_event: 'advisory' }]);
  signal.cancel();
  const longAgo = Date.now() - 3_600_000;
  session.sweep(longAgo);
  expect((await behind).failure).toMatchObject({ reason: 'abort' });
  expect(session.sweep(longAgo + 60_000)).toBe(true);
  await watcher.query('select pg_advisory_unlock(1)');
  expect((await first).results[0]?.rows).toEqual([['', 'done']]);
  // The time of the second statement begins when the server starts it.
  await expect
    .poll(() => {
      session.sweep(longAgo + 120_000);
      return session.inFlight;
    }, WAIT)
    .toBe(0);
  expect(session.isClosed).toBe(false);
  session.end();
});

it('discards the remaining rows of a cancelled statement', async () => {
  const session = await open();
  const signal = new CancellationSource();
  const sizes: number[] = [];
  const text = "select 'x' || n from generate_series(1, 200000) n";
  const rows: JsonRow[] = [];
  const done = await new Promise<WireExchange>((resolve) => {
    const exchange = new WireExchange('json', [{ text, values: [] }], resolve);
    exchange.signal = signal;
    exchange.releasesEarly = true;
    exchange.collected = rows;
    exchange.resultBudget = {
      take: (bytes) => {
        sizes.push(bytes);
        if (sizes.length < 3) return true;
        signal.cancel();
        session.sweep(Date.now());
        return true;
      },
      release: () => undefined,
      print: () => true,
      refusal: () => new SvcError('bad-request', 'too much'),
    };
    session.send(exchange);
  });
  expect(done.failure).toMatchObject({ reason: 'abort' });
  await expect.poll(() => session.inFlight, WAIT).toBe(0);
  expect(sizes).toEqual([2, 2, 2]);
  expect(rows.flatMap((row) => row.map((value) => value?.join(''))).filter((value) => value !== '' && value !== undefined)).toEqual([
    'x1',
    'x2',
  ]);
  session.end();
});

it('rejects if the server accepts the session and then stops responding', async () => {
  const opening = createOpener(() => ({
    client: { connectionString: database.url, connectionTimeoutMillis: 2_500 },
    ssl: [false],
    prepare: true,
    preparedMemory: 1_000_000,
    setup: { text: 'select pg_sleep(600)', values: [] },
  }))();
  await expect(opening).rejects.toThrow('the server did not answer the settings of the session in time');
});
