/** `svc dev` as a development loop: no request before the deployment, and migrations from SQL that is run in the service. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { metadataKinds } from '../../src/app/metadata-kinds.ts';
import { createSqlRecorder } from '../../src/cli/run/dev-migrations.ts';
import { openProject } from '../../src/project/project.ts';
import { type ServerClient, serverClient } from '../../src/project/server-client.ts';
import { DEEP } from '../support/deep.ts';
import { freePort } from '../support/free-port.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CTRL_C, hasTerminal, onTerminal } from '../support/terminal.ts';
import { WAIT } from '../support/wait.ts';

const SOURCES = `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`;
const FILES = { 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': SOURCES };
const OPTIONS = { skipExecution: false, withoutTransaction: false, singleTransaction: false, lockTimeoutMs: 1000, limits: {} };
const FIRST = 'migrations/default/1_first/up.sql';
async function createOutside({ url }: TestDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table outside ()');
  await client.end();
}
const migrationsOf = (folder: ProjectFolder): readonly string[] => {
  try {
    const all = join(folder.root, 'migrations/default');
    return readdirSync(all)
      .filter((name) => name === '1_slow' || existsSync(join(all, name, 'down.sql')))
      .sort();
  } catch {
    return [];
  }
};

it.runIf(DEEP)('answers 503 until the project is deployed, and turns SQL of the service into migrations that a copy can run', async () => {
  const [port, database, other] = await Promise.all([freePort(), testDatabase('ready'), testDatabase('ready')]);
  const url = `http://127.0.0.1:${port}`;
  const own = projectFolder({ url }, { SVC_GRAPHQL_DATABASE_URL: database.url });
  const send = async (path: string, body: object): Promise<{ status: number; json: unknown } | undefined> => {
    const headers = { 'content-type': 'application/json' };
    const sent = fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return sent.then(async (answer) => ({ status: answer.status, json: await answer.json() })).catch(() => undefined);
  };
  const runSql = (sql: string, args: object = {}) => send('/v2/query', { type: 'run_sql', args: { sql, ...args } });
  const track = () => send('/v1/metadata', { type: 'pg_track_table', args: { table: 'early' } });
  own.write({ ...FILES, 'migrations/default/1_slow/up.sql': 'select pg_sleep(1); create table early ();' });
  let dev = own.start('dev', '--port', String(port));
  try {
    await expect.poll(track, WAIT).toMatchObject({ status: 503, json: { error: expect.stringContaining('is being deployed') } });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    await expect.poll(() => runSql('select 1'), WAIT).toMatchObject({ status: 200 });
    expect((await fetch(`${url}/console`)).status).toBe(200);
    // Another address of this machine: a server on all interfaces would answer.
    await expect(fetch(`http://127.0.0.2:${port}/livez`)).rejects.toThrow();

    await runSql("select 'drop table early'");
    await runSql('create temporary table passing ()');
    await runSql('create table never ()', { read_only: true });
    expect(await runSql('create table tag(id int primary key); insert into tag values (1)')).toMatchObject({ status: 200 });
    await expect.poll(() => migrationsOf(own), WAIT).toHaveLength(2);
    await runSql('create index concurrently tag_index on tag (id)', { no_transaction: true });
    await expect.poll(() => migrationsOf(own), WAIT).toHaveLength(3);
    const [table, index] = migrationsOf(own).filter((name) => name !== '1_slow');
    expect(table).toMatch(/^\d+_create_table_tag$/);
    expect(own.read(`migrations/default/${table}/up.sql`)).toMatch(
      /^create table tag\(id int primary key\); -- left out: a change of rows/,
    );
    expect(own.read(`migrations/default/${index}/up.sql`)).toMatch(/^-- svc: no-transaction\n/);
    const states = async (): Promise<unknown> => (await own.svc('migrate', 'status', '--json')).json['databases'];
    await expect.poll(states, WAIT).toMatchObject([{ migrations: [{ status: 'applied' }, { status: 'applied' }, { status: 'applied' }] }]);
    // Migrations of the command line have their files already.
    const more = 'migrations/default/9000000000000000_more';
    own.write({ [`${more}/up.sql`]: 'create table more ();', [`${more}/down.sql`]: 'drop table more;' });
    expect((await own.svc('migrate', 'apply')).code).toBe(0);
    dev.kill();
    await dev.ended;
    expect(migrationsOf(own)).toHaveLength(4);

    const copy = projectFolder({ url }, { SVC_GRAPHQL_DATABASE_URL: other.url, SVC_GRAPHQL_SERVER_HOST: '127.0.0.1' });
    dev = copy.start('dev', '--project', own.root, '--port', String(port), '--no-migrations');
    await expect.poll(() => runSql('select id from tag', { read_only: true }), WAIT).toMatchObject({ json: { result: [['id']] } });
    await runSql('drop table more');
    await expect.poll(() => runSql("select to_regclass('more')"), WAIT).toMatchObject({ json: { result: [['to_regclass'], ['NULL']] } });
    await runSql('create table by_hand (id int primary key)');
    expect(await send('/v1/metadata', { type: 'pg_track_table', args: { table: 'by_hand' } })).toMatchObject({ status: 200 });
    await expect
      .poll(() => dev.messages(), WAIT)
      .toContain('schema drift: public.by_hand of default is tracked, and no migration creates it');
    dev.kill();
    await dev.ended;
    expect(migrationsOf(own)).toHaveLength(4);
    copy.remove();
  } finally {
    dev.kill();
    await dev.ended;
    own.remove();
    await Promise.all([database.drop(), other.drop()]);
  }
});

it.runIf(DEEP && hasTerminal)('asks for the name of a migration on a terminal, and ends with Ctrl-C', async () => {
  const [port, database] = await Promise.all([freePort(), testDatabase('ready')]);
  const own = projectFolder({ url: '' });
  own.write(FILES);
  const env = { SVC_GRAPHQL_DATABASE_URL: database.url };
  const dev = onTerminal(`dev --port ${port}`, { cwd: own.root, env });
  const create = (name: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/v2/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'run_sql', args: { sql: `create table ${name} ()` } }),
    });
  try {
    await expect.poll(dev.shown, WAIT).toContain('stop it with Ctrl-C');
    await create('tag');
    await expect.poll(dev.shown, WAIT).toMatch(/changes its schema\.[\s\S]*Name of its migration, or - for none: \[create_table_tag\]/);
    expect(migrationsOf(own)).toEqual([]);
    dev.type('..\n');
    await expect.poll(dev.shown, WAIT).toMatch(/"\.\." cannot be used as a name.*Name of its migration/s);
    dev.type('my tags\n');
    await expect.poll(() => migrationsOf(own), WAIT).toEqual([expect.stringMatching(/^\d+_my_tags$/)]);
    await create('next');
    await expect.poll(dev.shown, WAIT).toContain('[create_table_next]');
    dev.type('\n');
    await expect.poll(() => migrationsOf(own), WAIT).toHaveLength(2);
    await create('asked');
    await expect.poll(dev.shown, WAIT).toContain('[create_table_asked]');
    dev.type(CTRL_C);
    expect(await dev.ended).toMatch(/no migration was written \(svc dev was stopped\): .*create table asked \(\)/);
    expect(migrationsOf(own)).toHaveLength(2);
  } finally {
    dev.kill();
    await dev.ended;
    own.remove();
    await database.drop();
  }
});

it.each([
  ['the files are corrected', 'create tabel first ();', (own: ProjectFolder) => own.write({ [FIRST]: 'create table first ();' })],
  [
    'its cause outside of the files is gone',
    'alter table outside add a int;',
    (_: ProjectFolder, database: TestDatabase) => createOutside(database),
  ],
])('stays closed after a deployment that failed, until %s', async (_, sql, mend) => {
  const [port, database] = await Promise.all([freePort(), testDatabase('ready')]);
  const url = `http://127.0.0.1:${port}`;
  const own = projectFolder({ url }, { SVC_GRAPHQL_DATABASE_URL: database.url, SVC_GRAPHQL_SERVER_HOST: '127.0.0.1' });
  own.write({ ...FILES, [FIRST]: sql });
  const dev = own.start('dev', '--port', String(port));
  const status = async (): Promise<number> => {
    const body = JSON.stringify({ query: '{ __typename }' });
    const sent = fetch(`${url}/v1/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return sent.then((answer) => answer.status).catch(() => 0);
  };
  try {
    await expect.poll(() => dev.messages(), WAIT).toContain('answers 503 until the project is deployed');
    expect(await status()).toBe(503);
    await mend(own, database);
    await expect.poll(status, WAIT).toBe(200);
  } finally {
    dev.kill();
    await dev.ended;
    own.remove();
    await database.drop();
  }
});

let service: TestService;
let folder: ProjectFolder;
let server: ServerClient;
const reports: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  folder = projectFolder(service);
  folder.write(FILES);
  server = serverClient(openProject(folder.root, { endpoint: service.url }, {}).settings);
});
afterAll(async () => {
  await server.close();
  await service.stop();
  folder.remove();
});
beforeEach(() => {
  reports.length = 0;
});

/** Runs the recorder as the service does, with an answer to the question for a name. Resolves when it reports. */
function recorded(answer: string | (() => Promise<string>), sql: string): Promise<void> {
  return new Promise((resolve) => {
    const report = (message: string): void => {
      reports.push(message);
      resolve();
    };
    const recorder = createSqlRecorder({
      server,
      kinds: metadataKinds,
      options: { ...OPTIONS, report: () => undefined },
      project: () => openProject(folder.root, { endpoint: service.url }, {}),
      ask: async () => (typeof answer === 'string' ? answer : answer()),
      enqueue: async (_, change) => report(await change()),
      progress: report,
    });
    recorder.record({ source: 'default', sql, clientName: undefined });
  });
}

it('names the migration as the answer says', async () => {
  await recorded('my tags', 'comment on schema public is null');
  expect(reports).toEqual([expect.stringMatching(/^written migrations\/default\/\d+_my_tags: /)]);
});

it('writes what is imported from another server', async () => {
  await recorded('far', 'import foreign schema other from server far into public');
  expect(reports).toEqual([expect.stringMatching(/^written migrations\/default\/\d+_far: /)]);
});

it('leaves statements with passwords out of the migration', async () => {
  await recorded('secret', "create user bob password 'hunter2'; create table kept (id int); alter user bob password 'hunter3'");
  const written = migrationsOf(folder).find((name) => name.endsWith('_secret'));
  const up = folder.read(`migrations/default/${written}/up.sql`);
  expect(up).toContain('create table kept (id int)');
  expect(up).toContain('-- left out: ');
  expect(up).not.toContain('hunter');
});

it('leaves out passwords in code and behind long comments', async () => {
  const role = `create /* ${'long '.repeat(200)} */ role bob password 'hunter4'`;
  await recorded('code', `create table also (id int); do $$ begin execute 'create role bob password ''hunter5'''; end $$; ${role}`);
  const written = migrationsOf(folder).find((name) => name.endsWith('_code'));
  const up = folder.read(`migrations/default/${written}/up.sql`);
  expect(up).toContain('create table also (id int)');
  expect(up).not.toContain('hunter');
});

it('leaves out rows, secrets in settings and addresses, and what is not a part of the schema', async () => {
  await recorded(
    'parts',
    `create table secrets (a text); insert into secrets values ('hunter6'); select set_config('app.password', 'hunter7', false);
     do $$ begin execute format('alter %s bob password %L', 'role', 'hunter8'); end $$;
     create function dsn() returns text language sql as $$ select 'postgres://bob:hunter9@host/db' $$;
     comment on role bob is 'hunter'; grant pg_monitor to bob; alter group hunters rename to hunters2;
     commit; begin; create table hunter_rb (id int); rollback; create table last ()`,
  );
  const written = migrationsOf(folder).find((name) => name.endsWith('_parts'));
  const up = folder.read(`migrations/default/${written}/up.sql`);
  expect(up).not.toMatch(/hunter|pg_monitor/);
  expect(up).toMatch(/^create table secrets \(a text\);[\s\S]*create table last \(\)$/m);
});

it('writes migrations in the order in which their SQL was run', async () => {
  await recorded(async () => {
    await setTimeout(5);
    const later = `migrations/default/${Date.now()}_later`;
    folder.write({ [`${later}/up.sql`]: 'select 1;', [`${later}/down.sql`]: 'select 1;' });
    return 'earlier';
  }, 'comment on schema public is null');
  const names = migrationsOf(folder).map((name) => name.replace(/^\d+_/, ''));
  expect(names.indexOf('earlier')).toBeGreaterThanOrEqual(0);
  expect(names.indexOf('earlier')).toBeLessThan(names.indexOf('later'));
});

it('writes no migration if the answer is a dash', async () => {
  const before = migrationsOf(folder);
  await recorded('-', 'comment on schema public is null');
  expect(reports).toEqual(['the change of the schema of default is in no migration']);
  expect(migrationsOf(folder)).toEqual(before);
});

it('reports a name that no folder can have', async () => {
  await recorded('..', 'comment on schema public is null');
  expect(reports).toEqual([expect.stringContaining('".." cannot be used as a name')]);
});
