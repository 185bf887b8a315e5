import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { command, MAIN, type Ran } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { startHandlerServer } from '../support/handler-server.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { WAIT } from '../support/wait.ts';

let database: TestDatabase;
let folder: string;
let port: number;
let endpoint: string;
let dev: Dev | undefined;
beforeEach(async () => {
  database = await testDatabase('ready');
  folder = mkdtempSync(join(tmpdir(), 'svc-new-project-'));
  port = await freePort();
  endpoint = `http://127.0.0.1:${port}`;
});
afterEach(async () => {
  await dev?.stop();
  dev = undefined;
  rmSync(folder, { recursive: true });
  await database.drop();
});

const root = (): string => join(folder, 'my-api');
const svc = (...args: string[]): Promise<Ran> => command(args, { cwd: root() });
const read = (path: string): string => readFileSync(join(root(), path), 'utf8');
function write(path: string, text: string): void {
  mkdirSync(dirname(join(root(), path)), { recursive: true });
  writeFileSync(join(root(), path), text);
}

interface Dev {
  output(): string;
  stop(): Promise<void>;
}

/** Starts `svc dev` in the project, and keeps its output. */
function startDev(...args: string[]): Dev {
  const env = { PATH: process.env['PATH'], SVC_GRAPHQL_DATABASE_URL: database.url, SVC_GRAPHQL_SERVER_HOST: '127.0.0.1' };
  const child = spawn(process.execPath, [MAIN, 'dev', ...args], { cwd: root(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const keep = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    output: () => text,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

async function ask(query: string): Promise<unknown> {
  const secret = /^SVC_GRAPHQL_ADMIN_SECRET=(.+)$/m.exec(read('.env'))?.[1] ?? '';
  const headers = { 'content-type': 'application/json', 'x-svc-admin-secret': secret };
  const answer = await fetch(`${endpoint}/v1/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return answer.json();
}

it('leads from an empty folder to an API, and each command on the way says what to do next', async () => {
  const created = await command(['init', 'my-api', '--endpoint', endpoint], { cwd: folder });
  expect(created).toMatchObject({ code: 0, stderr: '' });
  expect(created.stdout).toMatch(/Next:\n {2}cd my-api\n {2}svc migrate create \S+ .*\n {2}svc dev .*\n {2}svc plan .*\n$/);
  expect(read('metadata/databases/databases.yaml')).toContain('from_env: SVC_GRAPHQL_DATABASE_URL');
  expect(read('.gitignore')).toMatch(/^\.env$/m);

  // Before a service runs.
  for (const args of [['plan'], ['deploy'], ['doctor']]) {
    const { code, stdout, stderr } = await svc(...args);
    expect(code, args[0]).toBe(args[0] === 'doctor' ? 1 : 5);
    expect(stdout + stderr).toContain(`the service at ${endpoint} (config.yaml) cannot be reached`);
    expect(stdout + stderr).toContain('svc dev');
  }

  // A migration without SQL.
  const migration = (await svc('migrate', 'create', 'create_author')).stdout.trim();
  expect(migration).toMatch(/^migrations\/default\/\d+_create_author$/);
  dev = startDev();
  await expect.poll(() => dev?.output(), WAIT).toContain(`${migration}/up.sql is empty: migrations are run once it has SQL`);
  expect((await svc('doctor')).stdout).toContain(`-> write the SQL of ${migration}/up.sql, then run svc deploy`);

  // The first deployment is repeated once the files can be deployed.
  write(`${migration}/up.sql`, "create table author (id int primary key, name text);\ninsert into author values (1, 'Ada');\n");
  await expect.poll(() => dev?.output(), WAIT).toContain('migrations: 1 run');
  const second = await svc('migrate', 'create', 'add_email', '--up-sql', 'alter table author add email text');
  await expect.poll(() => dev?.output(), WAIT).toContain('Run them with svc migrate apply,');
  expect(await svc('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('add_email: tried') });
  expect((await svc('doctor')).stdout).toContain(
    `${second.stdout.trim().replace(/^(\S+)\/(\d+)_(\w+)$/, '$1 $2 $3')} is pending\n  -> run svc deploy`,
  );
  expect(await svc('deploy')).toMatchObject({ code: 0, stdout: expect.stringContaining('migrations: 1 run') });

  // A table is tracked as the comments in tables.yaml say.
  const tables = 'metadata/databases/default/tables/tables.yaml';
  const hint = /^# +(- "!include \S+")$/m.exec(read(tables))?.[1] ?? '';
  write(tables, read(tables).replace(/^\[\]$/m, hint));
  write('metadata/databases/default/tables/public_author.yaml', 'table: {schema: public, name: author}\n');
  await expect.poll(() => ask('{ author { id name email } }'), WAIT).toEqual({ data: { author: [{ id: 1, name: 'Ada', email: null }] } });
  expect(await svc('plan', '--detailed-exit-code')).toMatchObject({ code: 0 });
  expect(await svc('doctor')).toMatchObject({ code: 0, stdout: 'nothing found\n' });

  // A permission test is written as the comments in its file say.
  const tests = 'tests/permissions/reader.yaml';
  expect(await svc('permissions', 'test')).toMatchObject({ code: 1, stderr: `error: there are no tests in ${tests}\n` });
  const uncommented = read(tests).replace(/^# (?=- | {2})/gm, '');
  write(tests, uncommented.replace(/^\[\]$/m, '').replaceAll('role: reader', 'role: admin'));
  const tested = await svc('permissions', 'test', '--filter', 'see names');
  expect(tested).toMatchObject({ code: 0, stdout: '1..1\nok 1 - readers see names\n' });
  expect(readdirSync(root())).toEqual(expect.arrayContaining(['README.md', 'tests', 'seeds']));
});

it('applies files that were rejected once a migration has added what they need', async () => {
  await command(['init', 'my-api', '--endpoint', endpoint], { cwd: folder });
  await svc('migrate', 'create', 'create_book', '--up-sql', 'create table book (id int primary key)');
  dev = startDev();
  await expect.poll(() => dev?.output(), WAIT).toContain('migrations: 1 run');
  const track = (columns: string): void =>
    write(
      'metadata/databases/default/tables/tables.yaml',
      `- table: {schema: public, name: book}\n  select_permissions: [{role: reader, permission: {columns: [${columns}], filter: {}}}]\n`,
    );
  for (const [column, delay] of [
    ['title', 0],
    ['pages', 3000],
  ] as const) {
    track(column);
    await expect.poll(() => dev?.output(), WAIT).toContain(`column "${column}"`);
    await svc('migrate', 'create', `add_${column}`, '--up-sql', `alter table book add ${column} text`);
    await sleep(delay);
    expect((await svc('migrate', 'apply')).code).toBe(0);
    await expect
      .poll(async () => (await svc('metadata', 'export', '--output', 'json')).stdout, WAIT)
      .toMatch(new RegExp(`"columns":\\s*\\[\\s*"${column}"`));
  }
});

it('runs seeds once the event triggers exist, with a line for each file', async () => {
  const hook = await startHandlerServer();
  hook.answer = () => ({});
  await command(['init', 'my-api', '--endpoint', endpoint], { cwd: folder });
  await svc('migrate', 'create', 'create_book', '--up-sql', 'create table book (id int primary key)');
  const trigger = `{name: on_book, definition: {enable_manual: false, insert: {columns: '*'}}, retry_conf: {num_retries: 0, interval_sec: 10, timeout_sec: 60}, webhook: '${hook.url}'}`;
  write('metadata/databases/default/tables/tables.yaml', `- table: {schema: public, name: book}\n  event_triggers: [${trigger}]\n`);
  write('seeds/default/1_first.sql', 'insert into book values (1);');
  write('seeds/default/2_more.sql', 'insert into book values (2), (3);');
  try {
    dev = startDev('--with-seeds');
    await expect.poll(() => hook.requests.length, WAIT).toBe(3);
    expect(dev.output()).toMatch(/^run seed default 1_first\.sql\nrun seed default 2_more\.sql$/m);
  } finally {
    await dev?.stop();
    dev = undefined;
    await hook.close();
  }
});

it('says which source is missing for migrations, and the lines that add it', async () => {
  await command(['init', 'my-api', '--endpoint', endpoint], { cwd: folder });
  const sources = read('metadata/databases/databases.yaml');
  write('metadata/databases/databases.yaml', '[]\n');
  const created = await svc('migrate', 'create', 'create_book', '--up-sql', 'create table book (id int primary key)');
  const missing = 'metadata/databases/databases.yaml: migrations/default has migrations, but the metadata has no source "default"';
  expect(created).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/the metadata has no source "default": add it to metadata\/databases\/databases.yaml/),
  });
  dev = startDev();
  await expect.poll(() => dev?.output(), WAIT).toContain('follows');
  const [plan, deploy, doctor] = await Promise.all([svc('plan'), svc('deploy'), svc('doctor')]);
  const added = /add it to [^\n]*\n\n((?:[- ] .*\n)+)/i;
  for (const [name, text] of [
    ['dev', dev.output()],
    ['plan', plan.stderr],
    ['deploy', deploy.stderr],
    ['doctor', doctor.stdout],
  ] as const) {
    expect(text, name).toContain(missing);
    expect(added.exec(text)?.[1], name).toContain('from_env: SVC_GRAPHQL_DATABASE_URL');
  }
  expect([plan.code, deploy.code, doctor.code]).toEqual([1, 1, 1]);
  expect(doctor.stdout).not.toContain('run svc deploy');
  // The printed lines are what is missing.
  write('metadata/databases/databases.yaml', `${added.exec(deploy.stderr)?.[1]}\n`);
  await expect.poll(() => dev?.output(), WAIT).toContain('migrations: 1 run');
  expect(await svc('doctor')).toMatchObject({ code: 0 });
  write('metadata/databases/databases.yaml', sources);
  expect(await svc('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to deploy') });
});

it('writes YAML files that name the JSON Schema by which editors check them', async () => {
  await command(['init', 'my-api'], { cwd: folder });
  const files = readdirSync(root(), { recursive: true, encoding: 'utf8' });
  const ajv = new Ajv({ strict: false });
  const schemas = files.filter((file) => file.startsWith('json-schemas/'));
  for (const file of schemas) ajv.addSchema(JSON.parse(read(file)), file.replace('json-schemas/', ''));
  const checked = files.filter((file) => file.endsWith('.yaml') && file !== 'metadata/version.yaml');
  expect(checked.length).toBeGreaterThan(10);
  for (const file of checked) {
    const named = /^# yaml-language-server: \$schema=(\S+)\n/.exec(read(file))?.[1] ?? '';
    const schema = relative(root(), resolve(root(), dirname(file), named));
    expect(schemas, file).toContain(schema);
    const validate = ajv.getSchema(schema.replace('json-schemas/', ''));
    expect(validate?.(parse(read(file))), `${file}: ${JSON.stringify(validate?.errors)}`).toBe(true);
  }
  write('json-schemas/table.json', '{}');
  expect(await svc('init', '--schemas')).toMatchObject({ code: 0, stdout: 'renewed 1 file in json-schemas\n' });
  expect(await svc('init', '--schemas')).toMatchObject({ code: 0, stdout: 'json-schemas is up to date\n' });
});

it('makes the .env of a cloned project with a secret of its own', async () => {
  await command(['init', 'my-api'], { cwd: folder });
  for (const example of ['', 'published-secret-of-32-characters']) {
    rmSync(join(root(), '.env'));
    write('.env.example', `OTHER=kept\nSVC_GRAPHQL_ADMIN_SECRET=${example}\n`);
    expect(await svc('init', '.')).toMatchObject({ code: 0, stdout: expect.stringContaining('with a new admin secret') });
    expect(read('.env')).toMatch(/^OTHER=kept\nSVC_GRAPHQL_ADMIN_SECRET=[\w-]{32,}\n$/);
    expect(read('.env')).not.toContain('published');
  }
  rmSync(join(root(), '.env'));
  expect(await svc('init', '.', '--endpoint', 'http://localhost:1')).toMatchObject({ code: 2 });
});
