import { describe, expect, it } from 'vitest';
import { DEEP, sample } from '../../../test/support/deep.ts';
import { failure, ITEM, open, read, texts, usePgSources, warm, write } from '../../../test/support/pg-sources.ts';
import { ROOT } from '../../util/path.ts';
import type { JsonRow } from '../../backend/connection.ts';

usePgSources();

describe.each(sample([true, false], 1))('with use_prepared_statements %s', (prepare) => {
  it('returns the values of one row as bytes', async () => {
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

  it('assigns pipelined results and errors to their statements', async () => {
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

  it('returns values of several megabytes', async () => {
    const source = await open({ prepare });
    const big = 'abcdefgh'.repeat(700_000);
    const [value, after] = texts(await source.runJson(read("select to_json($1::text || $2), to_json('after'::text)"), [big, '!'], {}));
    expect(value === `"${big}!"`).toBe(true);
    expect(after).toBe('"after"');
  });

  it('rejects SQL whose rows exceed the maximum size', async () => {
    const source = await open({ prepare, max: 1 });
    const limit = { maxBytes: 1000 };
    for (const sql of [
      'select n from generate_series(1, 1000000) n',
      "select repeat('x', 5000000)",
      'select 1 from generate_series(1, 30); select 2 from generate_series(1, 30)',
    ]) {
      expect(await failure(source.runSql(sql, limit))).toMatchObject({
        code: 'bad-request',
        message: 'the rows are larger than 1000 bytes in total: request fewer rows, or set max_rows',
      });
      expect((await source.runSql('select 1', limit)).rows).toEqual([['1']]);
    }
    const cut = await source.runSql('select n from generate_series(1, 1000) n', { ...limit, maxRows: 3 });
    expect(cut).toMatchObject({ rows: [['1'], ['2'], ['3']], isCut: true });
  });

  it('prepares statements again after DDL that invalidates them', async () => {
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
    'rolls back a mutation at the first failure (%s)',
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

  it('retries a mutation a few times after a deadlock', async () => {
    const source = await open();
    // A sequence counts the attempts, because a rollback does not reset it.
    await source.runSql(
      `create table stopped (attempts int); create sequence attempt;
       create function stop() returns trigger language plpgsql as $$ begin
         if nextval('attempt') < new.attempts then raise exception 'deadlock detected' using errcode = '40P01'; end if;
         new.attempts := currval('attempt'); return new; end $$;
       create trigger stop before insert on stopped for each row execute function stop();`,
      {},
    );
    const add = (attempts: number) =>
      source.runMutation([{ statement: write(`insert into stopped values (${attempts})`), values: [] }], { settings: [] });
    await add(3);
    expect((await source.query('select attempts from stopped', [])).rows).toEqual([['3']]);
    await source.query("select setval('attempt', 1, false)", []);
    expect(await failure(add(99))).toMatchObject({ code: 'concurrent-update', isTransient: true });
    expect((await source.query('select last_value, (select count(*) from stopped) from attempt', [])).rows).toEqual([['4', '1']]);
    await source.runSql('drop table stopped; drop function stop(); drop sequence attempt', {});
  });

  it('reports violations of deferred constraints', async () => {
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

  it('rejects a transaction at its deadline, also while it waits for a connection', async () => {
    const source = await open({ prepare, max: 1 });
    const brief = (): { deadline: number } => ({ deadline: Date.now() + 300 });
    const held = source.transaction({}, (tx) => tx.query('select pg_sleep(1)', []));
    const late = failure(source.transaction(brief(), (tx) => tx.query('select 1', [])));
    expect((await late).code).toBe('timeout');
    await held;
    expect((await failure(source.transaction(brief(), (tx) => tx.query('select pg_sleep(60)', [])))).code).toBe('timeout');
    expect((await source.query('select 1', [])).rows).toEqual([['1']]);
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

it('prepares each statement once per session', async () => {
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

it.runIf(DEEP)('closes the least recently used prepared statements', async () => {
  const source = await open({ max: 1 });
  for (let i = 0; i < 700; i++) await source.runJson(read(`select to_json(${i})`), [], {});
  const count = Number((await source.query('select count(*) from pg_prepared_statements', [])).rows[0]?.[0]);
  expect(count).toBeGreaterThan(100);
  expect(count).toBeLessThanOrEqual(513);
  expect(texts(await source.runJson(read('select to_json(0)'), [], {}))).toEqual(['0']);
});

it('returns the result of the last of several statements', async () => {
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

it("resets the session after an administrator's SQL", async () => {
  const source = await open({ max: 1 });
  await source.runSql('set search_path = nowhere; begin; create table public.half_done (a int)', {});
  expect((await source.query("select current_setting('search_path'), to_regclass('public.half_done')", [])).rows).toEqual([
    ['"$user", public', null],
  ]);
});

it('explains a statement with bound values', async () => {
  const source = await open();
  const plan = await source.explain(ITEM, ['5'], {});
  expect(plan.join('\n')).toMatch(/\(id = 5\)/);
});

it('reports its health', async () => {
  const source = await open();
  expect(await source.health('select 1', 20_000)).toEqual({ status: 'OK' });
  expect(await source.health('select pg_sleep(5)', 100)).toEqual({ status: 'TIMEOUT' });
  expect(await source.health('select nonsense', 20_000)).toEqual({ status: 'ERROR', message: 'column "nonsense" does not exist' });
});

it('rejects more parameters than the protocol allows', async () => {
  const source = await open();
  const values = Array.from({ length: 70_000 }, () => '1');
  expect((await failure(source.runJson(read('select 1'), values, {}))).code).toBe('bad-request');
  expect((await failure(source.runJson(write('select 1'), values, {}))).code).toBe('bad-request');
  expect((await source.query('select 1', [])).rows).toEqual([['1']]);
});
