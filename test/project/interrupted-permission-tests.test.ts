/** `svc permissions test` that a signal interrupts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Started } from '../support/command.ts';
import { startFakeServer } from '../support/fake-server.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let project: ProjectFolder;
let started: Started | undefined;

beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  await service.sql(`
    create table author (id int primary key);
    create view slow_author as select id from author, pg_sleep(60)`);
  const select = 'select_permissions: [{role: reader, permission: {columns: [id], filter: {}}}]';
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default
  kind: postgres
  ${OWN_DATABASE}
  tables:
    - {table: {schema: public, name: author}, ${select}}
    - {table: {schema: public, name: slow_author}, ${select}}
`,
  });
  expect((await project.svc('metadata', 'apply')).code).toBe(0);
});
beforeEach(() => service.sql('delete from author'));
afterEach(() => started?.kill());
afterAll(async () => {
  await service.stop();
  project.remove();
});

interface Hooks {
  readonly setup?: string;
  readonly teardown?: string;
}

/** Writes a file with a test whose query takes a minute, and a file that would follow. */
function writeTests({ setup = 'insert into author values (1)', teardown = 'delete from author' }: Hooks = {}): void {
  const test = (name: string, table: string): string =>
    `{name: ${name}, as: {role: reader}, query: '{ ${table} { id } }', expect: {rows: 1}}`;
  project.write({
    'slow.yaml': `setup: ${setup}\nteardown: ${teardown}\ntests: [${test('slow', 'slow_author')}, ${test('next', 'author')}]\n`,
    'later.yaml': `setup: insert into author values (2)\ntests: [${test('later', 'author')}]\n`,
  });
}

/** Starts the command, and waits until a statement that contains `text` runs. */
async function startUntil(text: string, ...options: string[]): Promise<Started> {
  started = project.start('permissions', 'test', 'slow.yaml', 'later.yaml', ...options);
  await sqlThat(
    `select count(*) > 0 from pg_stat_activity where state = 'active' and query like '%${text}%' and pid <> pg_backend_pid()`,
    't',
  );
  return started;
}

async function sqlThat(sql: string, expected: string): Promise<void> {
  await expect
    .poll(async () => (await service.sql(sql)) as { result: string[][] }, { timeout: 15_000 })
    .toMatchObject({ result: [expect.anything(), [expected]] });
}

const rows = (expected: number): Promise<void> => sqlThat('select count(*) from author', String(expected));

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('starts no further test on %s, runs the teardown, and ends with %i', async (signal, exit) => {
  writeTests();
  const { kill, messages, ended } = await startUntil('slow_author');
  await rows(1);
  kill(signal);
  await expect
    .poll(messages)
    .toContain(`${signal}: no further test starts, and the teardown of slow.yaml follows. Another signal ends the command at once\n`);
  const { code, stdout, stderr } = await ended;
  expect(stdout).toBe(`1..3
not ok 1 - slow
ok 2 - next # SKIP interrupted by ${signal}
ok 3 - later # SKIP interrupted by ${signal}
Bail out! interrupted by ${signal}
`);
  expect(stderr).toBe(`${signal}: no further test starts, and the teardown of slow.yaml follows. Another signal ends the command at once
error: slow.yaml:3:9: slow (role reader): interrupted by ${signal}, no answer
error: interrupted by ${signal}: 2 tests did not run
`);
  expect(code).toBe(exit);
  await rows(0);
});

it('ends at once on a second signal, and names the teardown that did not run to its end', async () => {
  writeTests({ teardown: 'select pg_sleep(60)' });
  const { kill, ended } = await startUntil('slow_author', '--json');
  kill('SIGINT');
  // The service cancels the query of the test first.
  await sqlThat(`select count(*) > 0 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(60)'`, 't');
  kill('SIGINT');
  const { code, stderr } = await ended;
  expect(stderr).toBe(
    'error: ended by a second signal: the teardown of slow.yaml did not end, and what its setup and tests wrote may stay\n',
  );
  expect(code).toBe(130);
  await rows(1);
});

it('takes the two signals of a Ctrl-C that npm forwards as one', async () => {
  writeTests();
  const { kill, ended } = await startUntil('slow_author');
  kill('SIGINT');
  await sleep(50);
  kill('SIGINT');
  expect((await ended).code).toBe(130);
  await rows(0);
});

it('ends a teardown that takes too long', async () => {
  writeTests({ teardown: 'select pg_sleep(60)' });
  const { kill, ended } = await startUntil('slow_author');
  kill('SIGTERM');
  const { code, stderr } = await ended;
  expect(stderr).toContain(
    'error: slow.yaml:2:1: teardown: interrupted by SIGTERM, no answer\n  What setup and tests of this file wrote may stay\n',
  );
  expect(code).toBe(143);
  await rows(1);
});

it('cancels a setup that takes too long, without teardown', async () => {
  await service.sql('insert into author values (7)');
  // Another time than in the test before, whose statement may still run.
  writeTests({ setup: 'insert into author values (1); select pg_sleep(61)' });
  const { kill, ended } = await startUntil('pg_sleep(61)');
  kill('SIGINT');
  const { code, stderr } = await ended;
  expect(stderr).toContain('error: slow.yaml:1:1: setup: interrupted by SIGINT, no answer\n');
  expect(code).toBe(130);
  await rows(1);
});

it('runs the teardown of an interrupted --watch, and ends with 0', async () => {
  writeTests();
  const { kill, ended } = await startUntil('slow_author', '--watch');
  kill('SIGINT');
  const { code, stderr } = await ended;
  expect(stderr).toContain('SIGINT: no further test starts, and the teardown of slow.yaml follows');
  expect(code).toBe(0);
  await rows(0);
});

it('ends --watch although the service does not answer', async () => {
  const silent = await startFakeServer();
  silent.answer = () => null;
  try {
    writeTests();
    started = project.start('permissions', 'test', 'slow.yaml', '--watch', '--endpoint', silent.url);
    await expect.poll(() => silent.requests.length, { timeout: 15_000 }).toBe(1);
    started.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 0, stdout: 'error: interrupted by SIGINT, no answer\n' });
  } finally {
    await silent.close();
  }
});
