import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Ran } from '../support/command.ts';
import { type ProjectFolder, OWN_DATABASE, projectFolder } from '../support/project-folder.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { DEEP } from '../support/deep.ts';
import { serveInProcess } from '../support/served-process.ts';
import { WAIT } from '../support/wait.ts';

let database: TestDatabase;
let project: ProjectFolder;
beforeAll(async () => {
  database = await testDatabase('ready');
  project = projectFolder({ url: 'http://localhost:1' });
  project.write({
    'config.yaml': 'version: 3\nendpoint: http://nowhere.invalid\n',
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:
    - table: {schema: public, name: author}
      select_permissions: [{role: user, permission: {columns: '*', filter: {id: {_eq: X-Svc-User-Id}}}}]
`,
    'metadata/inherited_roles.yaml': '- {role_name: both, role_set: [user]}\n',
    'migrations/default/1_author/up.sql': 'create table author (id int primary key); insert into author values (1), (2);',
  });
});
afterAll(async () => {
  await database.drop();
  project.remove();
});

it('deploys a project before it is healthy, and other commands see the result', async () => {
  const running = serveInProcess(database.url, { PROJECT: project.root });
  const url = await running.listening;
  await expect.poll(async () => (await fetch(`${url}/healthz`)).status, WAIT).toBe(200);
  const ask = async (role: string): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', 'x-svc-role': role, 'x-svc-user-id': '2' };
    return (await fetch(`${url}/v1/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: '{ author { id } }' }) })).json();
  };
  expect(await ask('user')).toEqual({ data: { author: [{ id: 2 }] } });
  const at = ['--endpoint', url];
  project.write({
    'tests/permissions/author.yaml': `- name: sees own
  as: {role: both, session: {user-id: 1}}
  query: '{ author { id } }'
  expect: {data: {author: [{id: 1}]}, rows: 1}
- name: may not write
  as: {role: user}
  query: 'mutation { delete_author(where: {}) { affected_rows } }'
  expect: {denied: true, error: validation-failed}
- name: wrong
  as: {role: user, session: {user-id: 1}}
  query: '{ author { id } }'
  expect: {rows: 2}
`,
    'more.yaml': `setup: insert into author values (7), (8)
teardown: delete from author where id > 2
tests:
  - {name: 'is "there" & <well>', as: {role: user, session: {user-id: 7}}, query: '{ author { id } }', expect: {ids: [7]}}
`,
  });
  project.write({
    'broken.yaml': `setup: insert into nothing values (1)
teardown: select nothing
tests:
  - {name: never, as: {role: user}, query: '{ author { id } }', expect: {rows: 1}}
`,
  });
  const judge = ['permissions', 'explain', '--role', 'user', '--table', 'author', '--session', 'user-id=1', '--json', ...at];
  const [tested, doctor, own, other, junit, broken]: Ran[] = await Promise.all([
    project.svc('permissions', 'test', ...at),
    project.svc('doctor', '--json', ...at),
    project.svc(...judge, '--pk', 'id=1'),
    project.svc(...judge, '--row', '{"id": 2}'),
    project.svc('permissions', 'test', 'more.yaml', '--reporter', 'junit', ...at),
    project.svc('permissions', 'test', 'broken.yaml', '--reporter', 'junit', ...at),
  ]);
  expect(own?.json).toMatchObject({ verdict: 'allowed', rules: [{ row: [{ depth: 0, text: 'id _eq "1"', value: true }] }] });
  expect(other?.json).toMatchObject({ verdict: 'denied', rules: [{ row: [{ value: false }], passes: false }] });
  expect(junit?.stdout).toContain('name="is &quot;there&quot; &amp; &lt;well&gt;"');
  expect(junit?.stdout).toContain('tests="1" failures="0"');
  expect(broken?.stdout).toMatch(/<testsuites tests="2" failures="0" errors="1" skipped="1" .*name="setup".*<error message=.*<skipped /s);
  expect(broken?.code).toBe(1);
  expect(tested?.stdout).toBe('1..3\nok 1 - sees own\nok 2 - may not write\nnot ok 3 - wrong\n');
  expect(tested?.code).toBe(1);
  expect(doctor?.json['findings']).toEqual([expect.objectContaining({ id: 'open-access' })]);
  running.kill('SIGTERM');
  await running.ended;
});

it.runIf(DEEP)('applies the overlays of the chosen environment, and warns if none is chosen', async () => {
  const other = await testDatabase();
  const own = projectFolder({ url: 'http://localhost:1' });
  own.write({
    'config.yaml': 'version: 3\nenvironments:\n  production: {overlays: [production.yaml]}\n  local: {}\n',
    'production.yaml': 'graphql_schema_introspection: {disabled_for_roles: [user]}\n',
    'metadata/databases/databases.yaml': `- {name: default, kind: postgres, ${OWN_DATABASE}, tables: []}\n`,
  });
  const introspect = async (options: Readonly<Record<string, string>>): Promise<unknown> => {
    const running = serveInProcess(other.url, { PROJECT: own.root, ...options });
    const url = await running.listening;
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status, WAIT).toBe(200);
    const headers = { 'content-type': 'application/json', 'x-svc-role': 'user' };
    const body = JSON.stringify({ query: '{ __schema { queryType { name } } }' });
    const answer = await (await fetch(`${url}/v1/graphql`, { method: 'POST', headers, body })).json();
    running.kill('SIGTERM');
    await running.ended;
    return [Object.keys(answer as object), running.output().includes('the overlays of production are not applied')];
  };
  expect(await introspect({ ENV: 'production' })).toEqual([['errors'], false]);
  expect(await introspect({ ENV: 'local' })).toEqual([['data'], false]);
  expect(await introspect({})).toEqual([['data'], true]);
  const wrong = serveInProcess(other.url, { PROJECT: own.root, ENV: 'staging' });
  await wrong.ended;
  expect(wrong.output()).toContain('there is no environment "staging": choose one of production, local');
  const mixed = serveInProcess(other.url, { PROJECT: own.root, METADATA_DIR: join(own.root, 'metadata'), ENV: 'production' });
  await mixed.ended;
  expect(mixed.output()).toContain('which apply to the metadata of the project only');
  own.remove();
  await other.drop();
});

it('refuses changes of others while it deploys a project to a read-only service', async () => {
  const own = await testDatabase('ready');
  const slow = projectFolder({ url: 'http://localhost:1' });
  slow.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- {name: default, kind: postgres, ${OWN_DATABASE}, tables: []}\n`,
    'migrations/default/1_slow/up.sql': 'select pg_sleep(2); create table deployed (id int);',
  });
  const running = serveInProcess(own.url, { PROJECT: slow.root, METADATA_READ_ONLY: 'true', DISABLE_RUN_SQL: 'true' });
  try {
    const url = await running.listening;
    const post = async (path: string, type: string, args: object): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify({ type, args }) });
      return ((await answer.json()) as { code?: unknown }).code;
    };
    const codes = [
      await post('/v2/query', 'run_sql', { sql: 'create table injected (id int)' }),
      await post('/v1/metadata', 'create_query_collection', { name: 'injected', definition: { queries: [] } }),
    ];
    expect((await fetch(`${url}/healthz`)).status).not.toBe(200);
    expect(codes).toEqual(['access-denied', 'access-denied']);
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status, WAIT).toBe(200);
  } finally {
    running.kill('SIGTERM');
    await running.ended;
    slow.remove();
    await own.drop();
  }
});

it('deploys a project although the metadata API is disabled over HTTP', async () => {
  const own = await testDatabase('ready');
  const running = serveInProcess(own.url, { PROJECT: project.root, ENABLED_APIS: 'graphql' });
  try {
    const url = await running.listening;
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const statuses = new Set<number>();
    const exported = async (): Promise<void> =>
      void statuses.add((await post('/v1/metadata', { type: 'export_metadata', args: {} })).status);
    await expect.poll(() => exported().then(async () => (await fetch(`${url}/healthz`)).status), WAIT).toBe(200);
    await exported();
    // Clients never reach it, not even during the deployment.
    expect([...statuses]).toEqual([404]);
    expect(await (await post('/v1/graphql', { query: '{ author { id } }' })).json()).toEqual({ data: { author: [{ id: 1 }, { id: 2 }] } });
  } finally {
    running.kill('SIGTERM');
    await running.ended;
    await own.drop();
  }
});

it.runIf(DEEP)('deploys separately mounted folders, and requires the metadata folder', async () => {
  const parts = { METADATA_DIR: join(project.root, 'metadata'), MIGRATIONS_DIR: join(project.root, 'migrations') };
  const other = await testDatabase();
  const running = serveInProcess(other.url, parts);
  const url = await running.listening;
  await expect.poll(async () => (await fetch(`${url}/healthz`)).status, WAIT).toBe(200);
  const status = await project.svc('migrate', 'status', '--json', '--endpoint', url);
  expect(status.json['databases']).toMatchObject([{ migrations: [{ status: 'applied' }] }]);
  running.kill('SIGTERM');
  await running.ended;
  const alone = serveInProcess(other.url, { MIGRATIONS_DIR: parts.MIGRATIONS_DIR });
  await alone.listening.catch(() => undefined);
  await alone.ended;
  await other.drop();
});

it.runIf(DEEP)('does not start with an invalid project', async () => {
  project.write({ 'migrations/default/2_broken/up.sql': 'select nothing;' });
  const running = serveInProcess(database.url, { PROJECT: project.root });
  // It listens, and ends before it is ever healthy.
  await running.listening.catch(() => undefined);
  await running.ended;
});

it.runIf(DEEP)('evaluates permissions and generates handlers from the files alone', async () => {
  const matrix = await project.svc('permissions', 'matrix');
  expect(
    matrix.stdout
      .split('\n')
      .slice(1, 3)
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['both', 'default', 'public.author', 'select', '*', expect.stringMatching(/^filter=/), 'from user'],
    ['user', 'default', 'public.author', 'select', '*', expect.stringMatching(/^filter=/)],
  ]);
  const explained = await project.svc('permissions', 'explain', '--role', 'both', '--table', 'author', '--json');
  expect(explained.json).toMatchObject({
    verdict: 'allowed',
    rules: [{ inherited_from: 'user', missing_session_variables: ['x-svc-user-id'], file: 'metadata/databases/databases.yaml', line: 6 }],
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-sdl-'));
  writeFileSync(
    join(folder, 'login.graphql'),
    'type Mutation { login(name: String!, age: Int): Token! }\ntype Token { text: String!, kind: Kind }\nenum Kind { A B }\n',
  );
  const created = await project.svc('actions', 'create', 'login', '--sdl', join(folder, 'login.graphql'), '--json');
  expect(created.json).toMatchObject({ ok: true, written: ['metadata/actions.graphql', 'metadata/actions.yaml'] });
  const help = await project.svc('actions', 'create', '--help');
  expect(help.stdout).toContain('Usage: svc actions create <name> --sdl <file> [options]\n');
  writeFileSync(join(folder, 'leave.graphql'), 'type Mutation { leave: String }\n');
  const told = await project.svc('actions', 'create', 'leave', '--sdl', join(folder, 'leave.graphql'));
  expect(told.stdout).toBe('metadata/actions.graphql\nmetadata/actions.yaml\n');
  const lines =
    /No role but admin may call leave yet\. [^\n]* metadata\/actions\.yaml:\n\n((?: +.*\n)+)\nThen run svc deploy/.exec(told.stderr)?.[1] ??
    '';
  // The printed lines, at the end of the action that was added last.
  project.write({ 'metadata/actions.yaml': project.read('metadata/actions.yaml').replace(/(?=custom_types:|$)/, lines) });
  expect((await project.svc('metadata', 'build')).stdout).toMatch(/"name": "leave",[\s\S]*"permissions": \[\s*\{\s*"role": "user"/);
  await project.svc('actions', 'codegen', '--framework', 'fastify', '--output-dir', 'handlers');
  expect(project.read('handlers/types.ts')).toContain(`export type Kind = 'A' | 'B';`);
  expect(project.read('handlers/types.ts')).toContain('  readonly age?: number | null;');
  expect(project.read('handlers/login.ts')).toContain(`app.post<{ Body: ActionRequest<LoginArguments> }>('/login'`);
  rmSync(folder, { recursive: true });
});
