import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let project: ProjectFolder;

beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: [{table: {schema: public, name: author}}]\n`,
  });
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

const at = (name: string, up: string, down?: string): void =>
  project.write({
    [`migrations/default/${name}/up.sql`]: up,
    ...(down === undefined ? {} : { [`migrations/default/${name}/down.sql`]: down }),
  });
async function cell(sql: string): Promise<string | undefined> {
  const answer = (await service.sql(sql)) as { result: string[][] };
  return answer.result[1]?.[0];
}
const codes = (json: Readonly<Record<string, unknown>>): unknown[] => (json['errors'] as { code: string }[]).map(({ code }) => code);

it('validates everything before it runs anything', async () => {
  at('1_author', 'begin;\ncreate table author (id int primary key);\ncommit;\n', 'drop table author;');
  at('2_index', '\n-- soon\ncreate index concurrently author_id on author (id);\n');
  at('3_psql', "select 'x\n\\not';\n\\echo hello\ncopy author from stdin;\n");
  const refused = await project.svc('migrate', 'apply', '--json');
  expect(refused.code).toBe(1);
  expect(refused.json['errors']).toEqual([
    expect.objectContaining({ code: 'no-transaction', file: 'migrations/default/2_index/up.sql', line: 3 }),
    expect.objectContaining({ file: 'migrations/default/3_psql/up.sql', line: 3, message: '\\echo is for psql only' }),
    expect.objectContaining({ file: 'migrations/default/3_psql/up.sql', line: 4 }),
  ]);
  expect(await cell(`select to_regclass('author')::text`)).toBe('NULL');
});

it('runs pending migrations once with several deployments, and rolls back one that fails', async () => {
  at('2_index', '-- svc: no-transaction\nselect pg_sleep(0.5);\ncreate index concurrently author_id on author (id);\n');
  at('3_psql', '-- 🐘\ninsert into author select 1;\n  insert into author select 1;\n');
  const runs = await Promise.all([project.svc('migrate', 'apply', '--json'), project.svc('migrate', 'apply', '--json')]);
  for (const { code, json } of runs) {
    expect(code).toBe(1);
    // Also for a reader in the middle of the one without a transaction.
    expect(json['errors']).toEqual([
      expect.objectContaining({
        file: 'migrations/default/3_psql/up.sql',
        line: 3,
        column: 3,
        message: expect.stringContaining('duplicate key'),
      }),
    ]);
  }
  expect(await cell('select count(*) from author')).toBe('0');
  at('3_psql', 'select 1;\nselect 2,\n  nothing;\n');
  for (const flags of DEEP ? [[], ['--single-transaction'], ['--no-transaction']] : [['--no-transaction']]) {
    const misspelt = await project.svc('migrate', 'apply', ...flags, '--json');
    expect(misspelt.json['errors'], flags[0]).toMatchObject([{ file: 'migrations/default/3_psql/up.sql', line: 3, column: 3 }]);
  }
  // No other deployment runs it, so that no wait is needed.
  expect(codes((await project.svc('migrate', 'apply', '--json')).json)).toEqual(['dirty']);
  expect((await project.svc('migrate', 'delete', '--server', '--version', '3', '--yes')).code).toBe(0);
  at('3_psql', 'insert into author select 1;\n');
  // Without execution it is only recorded.
  expect((await project.svc('migrate', 'apply', '--skip-execution', '--version', '3', '--json')).json).toMatchObject({
    migrations: [{ version: '3', outcome: 'recorded' }],
  });
  expect(await cell('select count(*) from author')).toBe('0');
  const status = await project.svc('migrate', 'status', '--json', '--exit-code');
  expect(status.code).toBe(0);
  const [database] = status.json['databases'] as { migrations: { status: string }[] }[];
  expect(database?.migrations.map((each) => each.status)).toEqual(['applied', 'applied', 'applied']);
  expect(await service.metadata('get_catalog_state', {})).toMatchObject({
    cli_state: { migrations: { default: { '1': false, '2': false, '3': false } } },
  });
});

it.runIf(DEEP)('reports files that have changed since, reverts, and verifies', async () => {
  at('3_psql', 'insert into author select 2;\n');
  at('4_late', 'alter table author add name text;', 'alter table author drop name; create table left_over ();');
  const changed = await project.svc('migrate', 'apply', '--json');
  expect(codes(changed.json)).toEqual(['changed']);
  const verified = await project.svc('migrate', 'verify', '--json');
  expect(verified.json['errors']).toContainEqual(
    expect.objectContaining({ code: 'not-undone', message: expect.stringContaining('left_over') }),
  );
  expect(await cell(`select to_regclass('left_over')::text`)).toBe('NULL');
  expect((await project.svc('migrate', 'apply', '--allow-changed', '--json')).json).toMatchObject({
    migrations: [{ version: '4', outcome: 'run' }],
  });
  const down = await project.svc('migrate', 'apply', '--down', '1', '--allow-changed');
  expect(down).toMatchObject({ code: 0, stdout: expect.stringMatching(/^run default 4 late down \(\d+ ms\)\n$/) });
  // A reader that sees both sees it once.
  expect(down.stderr).not.toContain('4 late');
  expect(await cell(`select to_regclass('left_over')::text`)).not.toBe('NULL');
  at('20_one', 'create table squashed (id int) -- end;');
  at('21_two', 'alter table squashed add more text');
  const two = await project.svc('migrate', 'squash', '--from', '20', '--to', '21', '--yes', '--json');
  expect(two.json, JSON.stringify(two.json)).toMatchObject({ ok: true, squashed: ['20', '21'] });
  expect(await cell(`select to_regclass('squashed')::text`)).toBe('NULL');
  rmSync(join(project.root, 'migrations/default/21_squashed'), { recursive: true });
  const squashed = await project.svc('migrate', 'squash', '--from', '1', '--to', '2', '--name', 'start', '--yes', '--json');
  expect(squashed.json).toMatchObject({ ok: true, folder: 'migrations/default/2_start' });
  expect((await project.svc('migrate', 'status')).stdout).toMatch(/2 +start +applied/);
});

it('runs seeds once, writes rows as seeds, and deploys everything in order', async () => {
  project.write({
    'seeds/default/2_more.sql': 'begin;\ninsert into author values (3);\ncommit;\nbegin;\nselect 1;\ncommit;\n',
    'seeds/default/1_first.sql': 'insert into author values (7) -- ;\n',
    'seeds/default/more/3_broken.sql': '-- 🐘\nselect 1;\n  insert into author select nothing;\n',
  });
  for (const flags of [[], ['--once']])
    expect((await project.svc('seed', 'apply', ...flags, '--json')).json['errors']).toMatchObject([
      { file: 'seeds/default/more/3_broken.sql', line: 3, message: expect.stringMatching(/"nothing".*: no seed of default was run/) },
    ]);
  rmSync(join(project.root, 'seeds/default/more'), { recursive: true });
  expect((await project.svc('seed', 'apply', '--once', '--json')).json['seeds']).toHaveLength(2);
  expect((await project.svc('seed', 'apply', '--once', '--json')).json['seeds']).toEqual([]);
  const made = await project.svc('seed', 'create', 'authors', '--from-table', 'author', '--upsert', '--json');
  expect(project.read(made.json['file'] as string)).toContain(`insert into author (id) values ('3') on conflict (id) do nothing;`);
  at('3_psql', 'insert into author select 1;\n');
  at('4_late', 'alter table author add name text;');
  at('5_article', "create type state as enum ('a'); create table article (id int primary key, state state);");
  await service.metadata('clear_metadata', {});
  const deployed = await project.svc('deploy', '--with-seeds', '--once', '--json');
  expect(deployed.json).toMatchObject({
    ok: true,
    migrations: [{ version: '4' }, { version: '5' }],
    metadata: { sent: true },
    seeds: [{}],
  });
  expect(await service.graphql('{ author(order_by: {id: asc}) { id } }')).toEqual({ data: { author: [{ id: 3 }, { id: 7 }] } });
  const broken = 'tables: [{table: {schema: public, name: nowhere}}]';
  project.write({ 'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  ${broken}\n` });
  at('6_tag', 'create table tag (id int);');
  const half = await project.svc('deploy', '--json');
  expect(half).toMatchObject({ code: 4, json: { done: ['sources', 'migrations'], not_done: ['metadata'] } });
});

it('continues without an unreachable database if permitted', async () => {
  const away = 'configuration: {connection_info: {database_url: "postgres://svc:secret@127.0.0.1:1/x"}}';
  const tables = 'tables: [{table: {schema: public, name: author}}]';
  const kinds = 'tables: [{table: {schema: public, name: kind}, is_enum: true}]';
  project.write({
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  ${tables}\n- name: away\n  kind: postgres\n  ${away}\n  tables: []\n- name: seeded\n  kind: postgres\n  ${away}\n  ${kinds}\n`,
    'migrations/away/1_a/up.sql': 'select 1;',
    'seeds/away/1.sql': 'select 1;',
    'seeds/seeded/1.sql': 'select 1;',
  });
  const rejected = [{ message: expect.stringContaining('the service cannot add the source away') }];
  expect((await project.svc('deploy', '--with-seeds', '--once', '--json')).json).toMatchObject({ ok: false, errors: rejected });
  // At first the source does not exist; then it does, and is inconsistent.
  for (const _ of ['first', 'second']) {
    const deployed = await project.svc('deploy', '--with-seeds', '--once', '--allow-inconsistent', '--json');
    expect(deployed.json).toMatchObject({
      ok: true,
      warnings: expect.arrayContaining([
        expect.stringMatching(/^the source away is skipped with its migrations and seeds/),
        // It has no migrations.
        expect.stringMatching(/^the source seeded is skipped/),
      ]),
    });
    expect(deployed.stdout).not.toContain('secret');
  }
  // Migrations of all databases are reverted only on explicit request.
  for (const back of [
    ['--down', '1'],
    ['--goto', '1'],
    ['--version', '1', '--type', 'down'],
  ]) {
    const refused = await project.svc('migrate', 'apply', ...back, '--json');
    expect([refused.code, refused.json['errors']]).toMatchObject([
      2,
      [{ message: expect.stringContaining('migrations of away, default: name one') }],
    ]);
  }
  for (const folder of ['migrations/away', 'seeds/away', 'seeds/seeded']) rmSync(join(project.root, folder), { recursive: true });
});

it.runIf(DEEP)(
  'agrees with the database after 50 kills of a deployment',
  async () => {
    const steps = Array.from({ length: 12 }, (_, i) => i);
    for (const i of steps) at(`${100 + i}_step`, `create table step_${i} (); select pg_sleep(0.05);`, `drop table step_${i};`);
    const tables = steps.map((i) => `    - table: {schema: public, name: step_${i}}\n`).join('');
    project.write({ 'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n${tables}` });
    // The source appears and disappears: the database is queried without the service.
    const client = new pg.Client(service.databaseUrl);
    await client.connect();
    const number = async (sql: string): Promise<number> => Number((await client.query<{ count: string }>(sql)).rows[0]?.count);
    const isTracked = async (): Promise<boolean> =>
      JSON.stringify(await service.metadata('export_metadata', {})).includes('step_11') &&
      ((await service.metadata('get_inconsistent_metadata', {})) as { is_consistent: boolean }).is_consistent;
    const startAgain = async (): Promise<void> => {
      await service.metadata('clear_metadata', {});
      await client.query(`${steps.map((i) => `drop table step_${i};`).join('')} delete from svc_catalog.migration where version >= 100`);
    };
    // Duration of an uninterrupted deployment on this machine.
    const start = performance.now();
    expect((await project.svc('deploy', '--allow-changed', '--json')).json).toMatchObject({ ok: true });
    const whole = performance.now() - start;
    await startAgain();
    let completed = 0;
    for (let kill = 0; kill < 50; kill++) {
      const running = project.start('deploy', '--allow-changed');
      await sleep(whole * (0.05 + 1.25 * Math.random()));
      running.kill();
      await running.ended;
      // Requests that the service still runs for the killed deployment end.
      await expect
        .poll(
          () =>
            number(
              `select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
            ),
          WAIT,
        )
        .toBe(0);
      const disagreeing = await number(`select count(*) from generate_series(0, 11) i
        where (to_regclass('step_' || i) is not null) <> exists (select from svc_catalog.migration where version = 100 + i and not dirty)`);
      expect(disagreeing).toBe(0);
      // Metadata is in its old or new state, and never ahead of the database.
      expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
      const applied = await number('select count(*) from svc_catalog.migration where version >= 100');
      if (await isTracked()) {
        expect(applied).toBe(12);
        completed += 1;
        await startAgain();
      }
    }
    expect(completed).toBeGreaterThan(0);
    expect((await project.svc('deploy', '--allow-changed', '--json')).json).toMatchObject({ ok: true });
    expect(await isTracked()).toBe(true);
    // Concurrent deployments together have the effect of one.
    for (let round = 0; round < 5; round++) {
      await startAgain();
      const ran = await Promise.all([0, 1, 2].map(() => project.svc('deploy', '--allow-changed', '--json')));
      for (const { json } of ran) expect(json, JSON.stringify(json)).toMatchObject({ ok: true });
      const outcomes = ran.flatMap(({ json }) => json['migrations'] as { version: string; outcome: string }[]);
      const run = outcomes.filter(({ outcome }) => outcome === 'run').map(({ version }) => Number(version));
      expect(run.sort((a, b) => a - b)).toEqual(steps.map((i) => 100 + i));
      expect(await isTracked()).toBe(true);
    }
    await client.end();
  },
  600_000,
);
