import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.ts';
import { relayTo } from '../../../test/support/relay.ts';
import type { JsonRow, Source, Statement } from '../../backend/backend.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { textOfBytes } from '../../util/bytes.ts';
import type { Json } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { pg } from './index.ts';

let database: TestDatabase;
const opened: Source[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const source = await open();
  await source.runSql(
    `create table item (id int primary key, name text not null, parent int constraint item_parent references item (id) deferrable initially deferred);
     insert into item select i, 'item ' || i from generate_series(1, 100) i;
     create schema "ext ra"; create function "ext ra".twice(i int) returns int language sql immutable as 'select 2 * i';`,
    {},
  );
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((source) => source.close()));
});

afterAll(() => database.drop());

interface OpenOptions {
  readonly url?: string;
  readonly info?: Json & object;
  readonly document?: Json & object;
  readonly max?: number;
  readonly prepare?: boolean;
  readonly events?: string[];
}

async function open({ url = database.url, info, document, max = 10, prepare = true, events }: OpenOptions = {}): Promise<Source> {
  const configuration = pg.configuration.decode({ connection_info: { database_url: url, ...info } as Json, ...document }, ROOT);
  const source = await pg.connect(configuration, {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: prepare,
    maxConnections: max,
    onEvent: (event) => events?.push(event.kind),
  });
  opened.push(source);
  return source;
}

function read(text: string): Statement {
  return { text, parameters: [], repeatable: true, columns: 1 };
}

function write(text: string): Statement {
  return { ...read(text), repeatable: false };
}

function texts(row: JsonRow): (string | null)[] {
  return row.map((value) => value && textOfBytes(value));
}

async function failure(promise: Promise<unknown>): Promise<SvcError> {
  return promise.then(
    () => expect.fail('it did not fail'),
    (error) => error as SvcError,
  );
}

/** Sessions of this database besides the asking one that are running something. */
async function active(source: Source): Promise<number> {
  const result = await source.query(
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active'",
    [],
  );
  return Number(result.rows[0]?.[0]);
}

const ITEM = read('select row_to_json(r) from (select id, name from item where id = $1::int) r');

/** Runs a statement once, so that its cost is known and it may be pipelined. */
async function warm(source: Source, ...statements: Statement[]): Promise<void> {
  for (const statement of statements) await source.runJson(statement, statement === ITEM ? ['1'] : [], {});
}

describe.each([true, false])('with use_prepared_statements %s', (prepare) => {
  it('hands on the values of one row as bytes', async () => {
    const source = await open({ prepare });
    const row = await source.runJson(read("select json_build_object('a', $1::text), null::json, '[]'::json, ''::text"), ['é "x"'], {});
    expect(texts(row)).toEqual(['{"a" : "é \\"x\\""}', null, '[]', '']);
  });

  it('passes parameters of any length and content', async () => {
    const source = await open({ prepare });
    for (const value of [null, '', 'a', 'ü', 'x'.repeat(47), '€'.repeat(48), '\u{1f600}'.repeat(5_000), "';--"]) {
      expect(texts(await source.runJson(read('select to_json($1::text)'), [value], {}))).toEqual([
        value === null ? null : JSON.stringify(value),
      ]);
    }
  });

  it('keeps answers and errors apart when they are pipelined', async () => {
    const source = await open({ prepare, max: 2 });
    const divide = read('select to_json(100 / $1::int)');
    await warm(source, ITEM);
    await source.runJson(divide, ['1'], {});
    const answers = await Promise.all(
      Array.from({ length: 400 }, async (_, i) => {
        if (i % 7 === 0) return (await failure(source.runJson(divide, ['0'], {}))).message;
        if (i % 11 === 0) return (await failure(source.runJson(read('select * from missing_table'), [], {}))).message;
        return texts(await source.runJson(ITEM, [String(1 + (i % 100))], {}))[0];
      }),
    );
    answers.forEach((answer, i) => {
      const id = 1 + (i % 100);
      const expected = i % 7 === 0 ? 'division by zero' : i % 11 === 0 ? 'database query error' : `{"id":${id},"name":"item ${id}"}`;
      expect(answer).toBe(expected);
    });
  });

  it('carries values of several megabytes', async () => {
    const source = await open({ prepare });
    const big = 'abcdefgh'.repeat(700_000);
    const [value, after] = texts(await source.runJson(read("select to_json($1::text || $2), to_json('after'::text)"), [big, '!'], {}));
    expect(value === `"${big}!"`).toBe(true);
    expect(after).toBe('"after"');
  });

  it('survives DDL that makes plans invalid', async () => {
    const source = await open({ prepare, max: 2 });
    await source.runSql('create table plan_test (a int); insert into plan_test values (1)', {});
    const all = read('select * from plan_test');
    expect(texts(await source.runJson(all, [], {}))).toEqual(['1']);
    expect((await source.query('select * from plan_test', [])).rows).toEqual([['1']]);
    await source.runSql('alter table plan_test alter a type text, add b int', {});
    expect(texts(await source.runJson(all, [], {}))).toEqual(['1', null]);
    expect(
      texts((await source.runMutation([{ statement: { ...all, repeatable: false }, values: [] }], { settings: [] }))[0] as JsonRow),
    ).toEqual(['1', null]);
    await source.runSql('drop table plan_test', {});
  });

  it('runs a mutation with its settings in one transaction', async () => {
    const source = await open({ prepare });
    const add = write(
      "with i as (insert into item values ($1::int, current_setting('svc.user')) returning *) select row_to_json(i) from i",
    );
    const rows = await source.runMutation(
      [
        { statement: add, values: ['1001'] },
        { statement: write('delete from item where id = $1::int'), values: ['1001'] },
      ],
      { settings: [['svc.user', '{"x-svc-role":"admin"}']] },
    );
    expect(texts(rows[0] as JsonRow)).toEqual(['{"id":1001,"name":"{\\"x-svc-role\\":\\"admin\\"}","parent":null}']);
    expect(rows[1]).toEqual([]);
    expect((await source.query("select current_setting('svc.user', true)", [])).rows).not.toEqual([['{"x-svc-role":"admin"}']]);
  });

  it.each(['read-committed', 'repeatable-read', 'serializable'] as const)(
    'rolls a whole mutation back at the first failure (%s)',
    async (isolation) => {
      const source = await open({ prepare });
      const add = write('insert into item values ($1::int, $2)');
      const place = { parent: ROOT, key: 'second' };
      const error = await failure(
        source.runMutation(
          [
            { statement: add, values: ['2001', 'a'] },
            { statement: add, values: ['2001', 'b'], path: place },
            { statement: add, values: ['2002', 'c'] },
          ],
          { settings: [], isolation },
        ),
      );
      expect(error).toMatchObject({ code: 'constraint-violation', printedPath: '$.second', status: 400 });
      expect(error.message).toBe('Uniqueness violation. duplicate key value violates unique constraint "item_pkey"');
      expect((await source.query('select id from item where id > 2000', [])).rows).toEqual([]);
      const level = write("select to_json(current_setting('transaction_isolation'))");
      const [row] = await source.runMutation([{ statement: level, values: [] }], { settings: [], isolation });
      expect(texts(row as JsonRow)).toEqual([JSON.stringify(isolation.replace('-', ' '))]);
    },
  );

  it('reports constraints that are checked at the end', async () => {
    const source = await open({ prepare });
    const statement = write("insert into item values (3001, 'x', 9999)");
    expect((await failure(source.runMutation([{ statement, values: [] }], { settings: [] }))).message).toMatch(/^Foreign key violation\. /);
    expect((await source.query('select 1 from item where id = 3001', [])).rows).toEqual([]);
  });

  it('commits or rolls back transactions', async () => {
    const source = await open({ prepare });
    await source.transaction({}, async (tx) => {
      await tx.query("insert into item values (4001, 'kept')", []);
      await tx.runSql("insert into item values (4002, 'kept too'); select 1", {});
    });
    const error = await failure(
      source.transaction({}, async (tx) => {
        await tx.runSql("insert into item values (4003, 'lost')", {});
        throw new Error('changed my mind');
      }),
    );
    expect(error.message).toBe('changed my mind');
    expect((await source.query('delete from item where id > 4000 returning id', [])).rows).toEqual([['4001'], ['4002']]);
    expect((await failure(source.transaction({ readOnly: true }, (tx) => tx.runSql('delete from item', {})))).internal).toMatchObject({
      statement: 'delete from item',
      prepared: false,
      arguments: [],
      error: { status_code: '25006', message: 'cannot execute DELETE in a read-only transaction', hint: null, description: null },
    });
    const swallowed = source.transaction({}, async (tx) => {
      await failure(tx.query('select 1 / 0', []));
    });
    expect((await failure(swallowed)).message).toContain('rolled back');
  });

  it('puts the schema of extensions on the search path', async () => {
    const source = await open({ prepare, document: { extensions_schema: 'ext ra' } });
    expect(texts(await source.runJson(read('select to_json(twice(4))'), [], {}))).toEqual(['8']);
    expect((await source.query('select twice(5)', [])).rows).toEqual([['10']]);
    const [row] = await source.runMutation([{ statement: write('select to_json(twice(6))'), values: [] }], { settings: [['svc.a', 'b']] });
    expect(texts(row as JsonRow)).toEqual(['12']);
    const inside = await source.transaction({}, async (tx) => {
      await tx.runSql('select twice(1)', {});
      return (await tx.query("select twice(7), current_setting('search_path')", [])).rows;
    });
    expect(inside).toEqual([['14', '"$user", public, "ext ra"']]);
    const plain = await open({ prepare });
    expect((await failure(plain.query('select twice(5)', []))).code).toBe('unexpected');
    expect(await failure(open({ prepare, document: { extensions_schema: 'no such' } }))).toMatchObject({
      code: 'not-exists',
      message: 'the schema "no such" of extensions_schema does not exist in the database',
    });
  });
});

it('prepares each text once in a session', async () => {
  const source = await open({ max: 1 });
  await warm(source, ITEM);
  await Promise.all(Array.from({ length: 20 }, () => source.runJson(ITEM, ['2'], {})));
  const prepared = await source.query(
    "select count(*) from pg_prepared_statements where statement like '%row_to_json(r)%' and statement not like '%pg_prepared%'",
    [],
  );
  expect(prepared.rows).toEqual([['1']]);
  const unprepared = await open({ max: 1, info: { use_prepared_statements: false } });
  await warm(unprepared, ITEM);
  expect((await unprepared.query('select count(*) from pg_prepared_statements', [])).rows).toEqual([['0']]);
});

it('closes the statements that were not used for long', async () => {
  const source = await open({ max: 1 });
  for (let i = 0; i < 700; i++) await source.runJson(read(`select to_json(${i})`), [], {});
  const count = Number((await source.query('select count(*) from pg_prepared_statements', [])).rows[0]?.[0]);
  expect(count).toBeGreaterThan(100);
  expect(count).toBeLessThanOrEqual(513);
  expect(texts(await source.runJson(read('select to_json(0)'), [], {}))).toEqual(['0']);
});

it('cancels a statement whose signal is aborted, without harm to its neighbours', async () => {
  const source = await open({ max: 2 });
  const sleep = read('select to_json(pg_sleep($1::float8)::text)');
  await warm(source, ITEM);
  await source.runJson(sleep, ['0'], {}); // known to be quick, so that it is pipelined
  for (let round = 0; round < 5; round++) {
    const controller = new AbortController();
    const slow = failure(source.runJson(sleep, ['30'], { signal: controller.signal }));
    const neighbours = Array.from({ length: 60 }, (_, i) => source.runJson(ITEM, [String(i + 1)], {}));
    setTimeout(() => controller.abort(), 30);
    const begun = performance.now();
    expect((await slow).code).toBe('timeout');
    expect(performance.now() - begun).toBeLessThan(130);
    expect((await Promise.all(neighbours)).map((row) => texts(row)[0])).toEqual(
      neighbours.map((_, i) => `{"id":${i + 1},"name":"item ${i + 1}"}`),
    );
  }
  const other = await open();
  await expect.poll(() => active(other), { timeout: 1_000 }).toBe(0);
});

it('cancels at the deadline, also writes and what waits for a connection', async () => {
  const source = await open({ max: 1 });
  const begun = performance.now();
  const deadline = Date.now() + 60;
  const errors = await Promise.all([
    failure(source.runJson(write('select pg_sleep(30)'), [], { deadline })),
    failure(source.runJson(ITEM, ['1'], { deadline })),
    failure(source.query('select 1', [], { deadline })),
  ]);
  expect(errors.map((error) => error.code)).toEqual(['timeout', 'timeout', 'timeout']);
  expect(performance.now() - begun).toBeLessThan(400);
  expect(texts(await source.runJson(ITEM, ['1'], { deadline: Date.now() + 5_000 }))).toEqual(['{"id":1,"name":"item 1"}']);
  expect((await failure(source.runJson(ITEM, ['1'], { signal: AbortSignal.abort() }))).code).toBe('timeout');
});

it('does not repeat a statement that somebody else stopped', async () => {
  const source = await open();
  const slow = failure(source.runJson(read('select to_json(pg_sleep(30)::text)'), [], {}));
  const stop =
    "select count(pg_cancel_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%pg_sleep(30)%'";
  await expect.poll(async () => (await source.query(stop, [])).rows[0]?.[0]).toBe('1');
  expect((await slow).internal).toMatchObject({ error: { status_code: '57014' } });
});

it('sends reads again and fails writes when their connection is killed', async () => {
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
  await expect.poll(() => active(killer)).toBe(1);
  await kill();
  expect(await slow).toMatchObject({ code: 'postgres-error', message: 'connection error', status: 500 });
  expect(texts(await source.runJson(ITEM, ['3'], {}))).toEqual(['{"id":3,"name":"item 3"}']);
});

it('fails quickly while the database is away, and recovers', async () => {
  const relay = await relayTo(database.url);
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
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect((await source.health('select 1', 1_000)).status).toBe('ERROR');
  expect((await failure(open({ url: relay.url }))).message).toBe('connection error');
  await relay.start();
  expect(texts(await source.runJson(ITEM, ['1'], {}))).toEqual(['{"id":1,"name":"item 1"}']);
  await relay.stop();
});

it('fails quickly while the database is away, however many ask', async () => {
  const relay = await relayTo(database.url);
  const source = await open({ url: relay.url });
  await relay.stop();
  const waits: number[] = [];
  const ask = async (): Promise<void> => {
    const begun = performance.now();
    expect((await failure(source.query('select 1', [], { deadline: Date.now() + 5_000 }))).message).toBe('connection error');
    waits.push(performance.now() - begun);
  };
  const asked: Promise<void>[] = [];
  for (let i = 0; i < 100; i++) {
    asked.push(ask());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(asked);
  expect(Math.max(...waits)).toBeLessThan(1_000);
  await relay.start();
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
  await relay.stop();
});

it('answers the last of several statements', async () => {
  const source = await open();
  expect(await source.runSql("select 1 as a; select 'x' as \"B b\", null as c union all select 'y', 'z'", {})).toEqual({
    kind: 'TuplesOk',
    columns: ['B b', 'c'],
    rows: [
      ['x', null],
      ['y', 'z'],
    ],
    command: 'SELECT 2',
  });
  expect(await source.runSql('select 1; create table t1 (a int); drop table t1', {})).toMatchObject({
    kind: 'CommandOk',
    rows: [],
    command: 'DROP TABLE',
  });
  expect(await source.runSql('', {})).toMatchObject({ kind: 'CommandOk' });
  expect(await source.runSql('select where false', {})).toMatchObject({ kind: 'TuplesOk', columns: [], rows: [] });
});

it('reports failed SQL of administrators', async () => {
  const source = await open();
  const sql = 'select 1; selec 2';
  const error = await failure(source.runSql(sql, {}));
  expect(error).toMatchObject({ code: 'postgres-error', message: 'query execution failed', status: 400 });
  expect(error.internal).toMatchObject({
    statement: sql,
    prepared: false,
    arguments: [],
    error: { status_code: '42601', message: 'syntax error at or near "selec"' },
  });
  expect((await failure(source.runSql('select \0', {}))).code).toBe('postgres-error');
  expect((await failure(source.runSql('copy item from stdin', {}))).internal).toMatchObject({ error: { status_code: '57014' } });
  expect(await source.runSql('copy (select 1) to stdout', {})).toMatchObject({ kind: 'CommandOk', command: 'COPY 1' });
});

it("keeps what an administrator's SQL does to its session away from others", async () => {
  const source = await open({ max: 1 });
  await source.runSql('set search_path = nowhere; begin; create table public.half_done (a int)', {});
  expect((await source.query("select current_setting('search_path'), to_regclass('public.half_done')", [])).rows).toEqual([
    ['"$user", public', null],
  ]);
});

it('explains with bound values', async () => {
  const source = await open();
  const plan = await source.explain(ITEM, ['5'], {});
  expect(plan.join('\n')).toMatch(/\(id = 5\)/);
});

it('gives what waits too long for a connection an error of its own', async () => {
  const source = await open({ max: 1, info: { pool_settings: { pool_timeout: 0 } } });
  const slow = source.runJson(write('select pg_sleep(0.3)'), [], {});
  expect(await failure(source.query('select 1', []))).toMatchObject({
    code: 'postgres-max-connections-error',
    message: 'max connections reached on postgres',
    status: 500,
  });
  await slow;
});

it('stays within max_connections and serves writers between readers', async () => {
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

it('a slow statement does not hold up quick ones', async () => {
  const source = await open({ max: 6 });
  const sleep = read('select to_json(pg_sleep($1::float8)::text)');
  await warm(source, ITEM);
  await source.runJson(sleep, ['0'], {});
  const slow = Array.from({ length: 4 }, () => source.runJson(sleep, ['0.4'], {}));
  await new Promise((resolve) => setTimeout(resolve, 40));
  const begun = performance.now();
  await source.runJson(ITEM, ['1'], {});
  expect(performance.now() - begun).toBeLessThan(300);
  await Promise.all(slow);
});

it('closes connections that were idle for too long or are too old', async () => {
  const observer = await open({ max: 1 });
  const source = await open({ info: { pool_settings: { idle_timeout: 1 } } });
  const count = async () =>
    Number(
      (await observer.query('select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()', []))
        .rows[0]?.[0],
    );
  await Promise.all(Array.from({ length: 4 }, () => source.query('select pg_sleep(0.5)', [])));
  expect(await count()).toBeGreaterThanOrEqual(4);
  await expect.poll(count, { timeout: 5_000 }).toBe(0);
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
  const brief = await open({ info: { pool_settings: { connection_lifetime: 1, max_connections: 1 } } });
  const pid = async () => (await brief.query('select pg_backend_pid()', [])).rows[0]?.[0];
  const first = await pid();
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await pid()).not.toBe(first);
});

it('tells its health', async () => {
  const source = await open();
  expect(await source.health('select 1', 2_000)).toEqual({ status: 'OK' });
  expect(await source.health('select pg_sleep(5)', 100)).toEqual({ status: 'TIMEOUT' });
  expect(await source.health('select nonsense', 2_000)).toEqual({ status: 'ERROR', message: 'column "nonsense" does not exist' });
});

it('lets running statements finish when it is closed', async () => {
  const source = await open();
  const running = source.query("select pg_sleep(0.2), 'done'", []);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await source.close();
  expect((await running).rows).toEqual([['', 'done']]);
  expect((await failure(source.query('select 1', []))).message).toBe('connection error');
  expect((await failure(source.runJson(ITEM, ['1'], {}))).message).toBe('connection error');
});

it('refuses more parameters than a message can carry', async () => {
  const source = await open();
  const values = Array.from({ length: 70_000 }, () => '1');
  expect((await failure(source.runJson(read('select 1'), values, {}))).code).toBe('bad-request');
  expect((await failure(source.runJson(write('select 1'), values, {}))).code).toBe('bad-request');
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
});
