import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEEP, sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

/**
 * Time for which a statement may continue after its client has gone: far less than the 5 s after which PostgreSQL itself checks the client.
 */
const ALLOWED_MS = 1000;
/** Tolerance for a busy machine. */
const ATTEMPTS = 20;
const TIME_LIMIT_MS = 1000;
/** Far below the 30 s that the statements sleep, and the timeout of `service`. */
const AWAY_GRACE_MS = 20_000;

let service: TestService;
/** A service with a short timeout. */
let hasty: TestService;
let watcher: pg.Client;
let hastyWatcher: pg.Client;

async function start(options: Readonly<Record<string, string>>): Promise<[TestService, pg.Client]> {
  const started = await startTestService({ PG_CONNECTIONS: '3', ...options });
  await started.sql(`create table item (id int primary key); insert into item values (1);
    create view slow_item as select item.* from item, lateral (select pg_sleep(30 + item.id)) as pause;
    create table change (id int primary key generated always as identity, note text);
    create function slow_change() returns setof item language plpgsql as $$ begin perform pg_sleep(30); return query select * from item; end $$`);
  for (const table of ['item', 'slow_item', 'change']) await started.metadata('pg_track_table', { table });
  await started.metadata('pg_track_function', { function: 'slow_change', configuration: { exposed_as: 'mutation' } });
  const client = new pg.Client(started.databaseUrl);
  await client.connect();
  return [started, client];
}

beforeAll(async () => {
  [[service, watcher], [hasty, hastyWatcher]] = await Promise.all([start({}), start({ REQUEST_TIMEOUT: String(TIME_LIMIT_MS / 1000) })]);
});
afterAll(async () => {
  await Promise.all([watcher.end(), hastyWatcher.end()]);
  await Promise.all([service.stop(), hasty.stop()]);
});

async function sleeping(client = watcher): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return (rows as { count: number }[])[0]?.count ?? 0;
}

async function until(count: number, client = watcher): Promise<void> {
  const end = performance.now() + AWAY_GRACE_MS;
  while ((await sleeping(client)) !== count) {
    if (performance.now() > end) throw new Error(`not ${count} sleeping statements after ${AWAY_GRACE_MS} ms`);
    await sleep(2);
  }
}

/** Sends a request; `leave` closes its connection. */
function ask(body: string, of = service): { readonly answer: Promise<string>; leave(): void } {
  let leave = (): void => undefined;
  const answer = new Promise<string>((resolve) => {
    const out = request(`${of.url}/v1/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' } }, (r) => {
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

/** Pipelines all requests on one connection before any response is read. */
async function pipeline(bodies: readonly string[]): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const head = 'POST /v1/graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ';
  socket.write(bodies.map((body) => `${head}${Buffer.byteLength(body)}\r\n\r\n${body}`).join(''));
  return socket;
}

async function changes(): Promise<number> {
  const { rows } = await watcher.query('select count(*)::int as count from change');
  return (rows as { count: number }[])[0]?.count ?? 0;
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
  it('is cancelled when its client disconnects', async () => {
    const late = await bestOf(async () => {
      const { leave, answer } = ask(body);
      await until(1);
      const started = performance.now();
      leave();
      await until(0);
      expect(await answer).toBe('gone');
      return performance.now() - started;
    });
    expect(late).toBeLessThan(ALLOWED_MS);
  });
});

it.each(
  sample(
    [
      ['a query', READ],
      ['a mutation', CHANGE],
    ],
    1,
  ),
)('cancels %s after its timeout and returns an error', async (_what, body) => {
  const late = await bestOf(async () => {
    const started = performance.now();
    const { answer } = ask(body, hasty);
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    // On a busy machine the timeout may pass before the statement is visible.
    while (!isAnswered && (await sleeping(hastyWatcher)) === 0) await sleep(2);
    const wasSeen = !isAnswered;
    await until(0, hastyWatcher);
    const took = performance.now() - started;
    expect(JSON.parse(await answer)).toMatchObject({ errors: [{ extensions: { code: 'timeout' } }] });
    expect(took).toBeGreaterThan(TIME_LIMIT_MS - 1);
    return wasSeen ? took - TIME_LIMIT_MS : Number.POSITIVE_INFINITY;
  });
  expect(late).toBeLessThan(ALLOWED_MS);
});

it.runIf(DEEP)('does not run a request that waits for a connection when its client disconnects', async () => {
  const running = [ask(READ), ask(READ), ask(READ)];
  await until(3);
  const waiting = ask(CHANGE);
  await sleep(50);
  waiting.leave();
  await waiting.answer;
  for (const each of running) each.leave();
  await until(0);
  await sleep(100);
  expect(await sleeping()).toBe(0);
  expect(await service.graphql('{ item { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
});

const NOTE = (note: string): string => `{"query":"mutation { insert_change_one(object: {note: \\"${note}\\"}) { note } }"}`;

describe('pipelined requests', () => {
  it('run one after another and are answered in order', async () => {
    const notes = Array.from({ length: 20 }, (_, i) => `note ${i}.`);
    const socket = await pipeline(notes.map(NOTE));
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.includes('note 19.')) break;
    }
    expect(text.match(/note \d+\./g)).toEqual(notes);
    const { rows } = await watcher.query('select note from change order by id');
    expect((rows as { note: string }[]).map((row) => row.note)).toEqual(notes);
    await watcher.query('truncate change');
  });

  it.runIf(DEEP)('do not occupy the connection pool', async () => {
    const socket = await pipeline(Array.from({ length: 20 }, () => READ));
    await until(1);
    expect(await service.graphql('{ item { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
    expect(await sleeping()).toBe(1);
    socket.destroy();
    await until(0);
  });

  it('are cancelled or dropped when the connection closes', async () => {
    const socket = await pipeline([READ, ...Array.from({ length: 10 }, () => NOTE('too late')), READ]);
    await until(1);
    socket.destroy();
    await until(0);
    await sleep(100);
    expect(await sleeping()).toBe(0);
    expect(await changes()).toBe(0);
    expect(await service.graphql('{ item { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
  });

  it.runIf(DEEP)('are limited in number', async () => {
    const socket = await pipeline([READ, ...Array.from({ length: 300 }, () => NOTE('too many'))]);
    await new Promise((resolve) => socket.on('close', resolve).on('error', () => undefined));
    await until(0);
    expect(await changes()).toBe(0);
  });
});
