import { expect, it } from 'vitest';
import { DEEP } from '../../../test/support/deep.ts';
import { active, databaseUrl, failure, ITEM, open, read, texts, usePgSources, warm, write } from '../../../test/support/pg-sources.ts';
import { AT_GATE, gateOf } from '../../../test/support/gate.ts';
import { relayTo } from '../../../test/support/relay.ts';
import { WAIT } from '../../../test/support/wait.ts';

usePgSources();

it('cancels an aborted statement without affecting others on its connection', async () => {
  const source = await open({ max: 2 });
  const sleep = read('select to_json(pg_sleep($1::float8)::text)');
  await warm(source, ITEM);
  await source.runJson(sleep, ['0'], {}); // recorded as quick, so that it is pipelined
  for (let round = 0; round < 5; round++) {
    const controller = new AbortController();
    const slow = failure(source.runJson(sleep, ['300'], { signal: controller.signal }));
    const others = Array.from({ length: 60 }, (_, i) => source.runJson(ITEM, [String(i + 1)], {}));
    setTimeout(() => controller.abort(), 30);
    expect((await slow).code).toBe('timeout');
    expect((await Promise.all(others)).map((row) => texts(row)[0])).toEqual(others.map((_, i) => `{"id":${i + 1},"name":"item ${i + 1}"}`));
  }
  const other = await open();
  await expect.poll(() => active(other), WAIT).toBe(0);
});

it('pipelines no statement that ran into its deadline', async () => {
  const source = await open({ max: 8 });
  const sleep = read('select to_json(pg_sleep($1::float8)::text)');
  for (let i = 0; i < 40; i++) await source.runJson(sleep, ['0'], {}); // recorded as quick
  for (let i = 0; i < 4; i++) expect((await failure(source.runJson(sleep, ['30'], { deadline: Date.now() + 500 }))).code).toBe('timeout');
  const other = await open({ max: 1 });
  await expect.poll(() => active(other), WAIT).toBe(0);
  // Each has a connection of its own, so all of them run at the same time.
  const running = Array.from({ length: 6 }, () => source.runJson(sleep, ['3'], {}));
  await expect.poll(() => active(other), { ...WAIT, interval: 20 }).toBe(6);
  await Promise.all(running);
});

it('cancels reads, writes and waiting statements at their deadline', async () => {
  const source = await open({ max: 1 });
  const deadline = Date.now() + 60;
  const errors = await Promise.all([
    failure(source.runJson(write('select pg_sleep(30)'), [], { deadline })),
    failure(source.runJson(ITEM, ['1'], { deadline })),
    failure(source.query('select 1', [], { deadline })),
  ]);
  expect(errors.map((error) => error.code)).toEqual(['timeout', 'timeout', 'timeout']);
  expect(texts(await source.runJson(ITEM, ['1'], { deadline: Date.now() + 30_000 }))).toEqual(['{"id":1,"name":"item 1"}']);
  expect((await failure(source.runJson(ITEM, ['1'], { signal: AbortSignal.abort() }))).code).toBe('timeout');
});

it.runIf(DEEP)('repeats a lost cancel request', async () => {
  const relay = await relayTo(databaseUrl());
  const source = await open({ url: relay.url, max: 1 });
  const observer = await open({ max: 1 });
  const controller = new AbortController();
  const slow = failure(source.runJson(write('select pg_sleep(300)'), [], { signal: controller.signal }));
  await expect.poll(() => active(observer), WAIT).toBe(1);
  relay.loseNext();
  controller.abort();
  expect((await slow).code).toBe('timeout');
  await expect.poll(() => active(observer), WAIT).toBe(0);
  await source.close();
  await relay.stop();
});

it('does not retry a statement that another session cancelled', async () => {
  const source = await open();
  const slow = failure(source.runJson(read('select to_json(pg_sleep(30)::text)'), [], {}));
  const stop =
    "select count(pg_cancel_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%pg_sleep(30)%'";
  await expect.poll(async () => (await source.query(stop, [])).rows[0]?.[0], WAIT).toBe('1');
  expect((await slow).internal).toMatchObject({ error: { status_code: '57014' } });
});

it('retries reads and rejects writes when their connection is terminated', async () => {
  const events: string[] = [];
  const source = await open({ max: 4, events });
  const killer = await open();
  const kill = () =>
    killer.query(
      'select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      [],
    );
  await warm(source, ITEM);
  await kill();
  const rows = await Promise.all(Array.from({ length: 20 }, (_, i) => source.runJson(ITEM, [String(i + 1)], {})));
  expect(rows.length).toBe(20);
  expect(events).toContain('connection-lost');
  const slow = failure(source.runJson(write('select pg_sleep(30)'), [], {}));
  await expect.poll(() => active(killer), WAIT).toBe(1);
  await kill();
  expect(await slow).toMatchObject({ code: 'postgres-error', message: 'connection error', status: 500 });
  expect(texts(await source.runJson(ITEM, ['3'], {}))).toEqual(['{"id":3,"name":"item 3"}']);
});

it('rejects quickly while the database is unreachable, and recovers', async () => {
  const relay = await relayTo(databaseUrl());
  const source = await open({ url: relay.url });
  await warm(source, ITEM);
  await relay.stop();
  const begun = performance.now();
  for (const statement of [ITEM, { ...ITEM, repeatable: false }]) {
    expect(await failure(source.runJson(statement, ['1'], {}))).toMatchObject({
      code: 'postgres-error',
      message: 'connection error',
      status: 500,
    });
  }
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect((await source.health('select 1', 1_000)).status).toBe('ERROR');
  expect((await failure(open({ url: relay.url }))).message).toBe('connection error');
  await relay.start();
  expect(texts(await source.runJson(ITEM, ['1'], {}))).toEqual(['{"id":1,"name":"item 1"}']);
  await relay.stop();
});

it.runIf(DEEP)('rejects many statements quickly while the database is unreachable', async () => {
  const relay = await relayTo(databaseUrl());
  const source = await open({ url: relay.url });
  await relay.stop();
  const waits: number[] = [];
  const run = async (): Promise<void> => {
    const begun = performance.now();
    expect((await failure(source.query('select 1', [], { deadline: Date.now() + 25_000 }))).message).toBe('connection error');
    waits.push(performance.now() - begun);
  };
  const runs: Promise<void>[] = [];
  for (let i = 0; i < 100; i++) {
    runs.push(run());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(runs);
  expect(Math.max(...waits)).toBeLessThan(20_000);
  await relay.start();
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
  await relay.stop();
});

it('rejects a statement with a distinct error if it waits too long for a connection', async () => {
  const source = await open({ max: 1, info: { pool_settings: { pool_timeout: 0 } } });
  const gate = await gateOf(databaseUrl());
  await gate.shut();
  const slow = source.runJson(write(`select ${AT_GATE}`), [], {});
  expect(await failure(source.query('select 1', []))).toMatchObject({
    code: 'postgres-max-connections-error',
    message: 'max connections reached on postgres: no connection became free in time',
    status: 503,
  });
  await gate.end();
  await slow;
});

it('respects max_connections and runs writes between reads', async () => {
  const source = await open({ max: 2 });
  const observer = await open({ max: 1 });
  await warm(source, ITEM);
  let stop = false;
  const readers = Array.from({ length: 80 }, async () => {
    while (!stop) await source.runJson(ITEM, ['1'], {});
  });
  const writes = await Promise.all(Array.from({ length: 20 }, () => source.query('select 1', [])));
  expect(writes.length).toBe(20);
  const count = await observer.query(
    'select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    [],
  );
  expect(Number(count.rows[0]?.[0])).toBeLessThanOrEqual(2);
  stop = true;
  await Promise.all(readers);
});

it('opens few connections for a burst of the same new statement', async () => {
  const source = await open({ max: 50 });
  const observer = await open({ max: 1 });
  const fresh = read("select to_json('fresh ' || $1::text)");
  const rows = await Promise.all(Array.from({ length: 200 }, (_, i) => source.runJson(fresh, [String(i)], {})));
  expect(rows.map((row) => texts(row)[0])).toEqual(rows.map((_, i) => `"fresh ${i}"`));
  const count = await observer.query(
    'select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    [],
  );
  expect(Number(count.rows[0]?.[0])).toBeLessThan(20);
});

it('runs quick statements while slow ones are running', async () => {
  const source = await open({ max: 6 });
  const sleep = read('select to_json(pg_sleep($1::float8)::text)');
  await warm(source, ITEM);
  // Its cost is an average: one slow run on a busy machine must not keep the others from being queued.
  for (let i = 0; i < 20; i++) await source.runJson(sleep, ['0'], {});
  const controller = new AbortController();
  const slow = Array.from({ length: 4 }, () => failure(source.runJson(sleep, ['50'], { signal: controller.signal })));
  const observer = await open({ max: 1 });
  // The other slow ones are queued on its connection, or run if even the average was high.
  await expect.poll(() => active(observer), WAIT).toBeGreaterThanOrEqual(1);
  // Only after 20 ms is a statement known to be slower than it was before, and no other is queued behind it.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await source.runJson(ITEM, ['1'], {});
  controller.abort();
  // The slow ones were still running.
  expect((await Promise.all(slow)).map(({ code }) => code)).toEqual(['timeout', 'timeout', 'timeout', 'timeout']);
});

it.runIf(DEEP)('closes connections after idle_timeout and connection_lifetime', async () => {
  const observer = await open({ max: 1 });
  const source = await open({ info: { pool_settings: { idle_timeout: 1 } } });
  const count = async () =>
    Number(
      (await observer.query('select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()', []))
        .rows[0]?.[0],
    );
  const gate = await gateOf(databaseUrl());
  await gate.shut();
  const busy = Promise.all(Array.from({ length: 4 }, () => source.query(`select ${AT_GATE}`, [])));
  await gate.untilWaiting(4);
  expect(await count()).toBeGreaterThanOrEqual(4);
  await gate.end();
  await busy;
  await expect.poll(count, WAIT).toBe(0);
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
  const brief = await open({ info: { pool_settings: { connection_lifetime: 1, max_connections: 1 } } });
  const pid = async () => (await brief.query('select pg_backend_pid()', [])).rows[0]?.[0];
  const first = await pid();
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await pid()).not.toBe(first);
});

it('lets running statements finish when the source is closed', async () => {
  const source = await open();
  const gate = await gateOf(databaseUrl());
  await gate.shut();
  const running = source.query(`select ${AT_GATE}, 'done'`, []);
  await gate.untilWaiting(1);
  const closed = source.close();
  await gate.end();
  await closed;
  expect((await running).rows).toEqual([['', 'done']]);
  expect((await failure(source.query('select 1', []))).message).toBe('connection error');
  expect((await failure(source.runJson(ITEM, ['1'], {}))).message).toBe('connection error');
});
