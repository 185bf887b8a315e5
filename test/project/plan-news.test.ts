import { afterAll, beforeAll, expect, it } from 'vitest';
import { command } from '../support/command.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

let service: TestService;
let project: ProjectFolder;
const ESCAPE = '\u001b';

const permission = (role: string, columns: string, filter: string) =>
  `        - {role: ${role}, permission: {columns: [${columns}], filter: ${filter}}}\n`;
const databases = (permissions: string) =>
  `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n    - table: {schema: public, name: task}\n      select_permissions:\n${permissions}`;

beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': databases(
      permission('member', 'id, title', '{done: {_eq: true}}') + permission('owner', 'id, title', '{}'),
    ),
    'migrations/default/1_task/up.sql': 'create table task (id int primary key, title text, done bool);\n',
  });
  expect((await project.svc('deploy')).code).toBe(0);
  project.write({
    'metadata/databases/databases.yaml': databases(
      permission('guest', 'id', '{}') + permission('member', 'id, note', '{}') + permission('owner', 'id, note', '{}'),
    ),
    'migrations/default/2_note/up.sql': 'alter table task add note text;\nalter table task drop title;\n',
  });
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

const NEWS =
  '1 migration, 3 permissions; breaking for admin, member, owner: `task.title` removed; to decide: 1 destructive statement, 1 row filter';

it('says the news first, then what a person must decide, without derived types', async () => {
  const { code, stdout } = await project.svc('plan');
  expect(code).toBe(0);
  expect(stdout.replace(/\n\nplan \w+\n$/, '')).toBe(`${NEWS}

to decide:
  destructive: migrations/default/2_note/up.sql:2: drops the column title of task
  breaking: admin, member, owner: task.title was removed.
  row filter: member: the row filter of the select permission member on public.task admits more rows: {"done":{"_eq":true}} -> {}

migrations:
  default 2 note: tried
    blocks reads and writes of public.task (access exclusive lock)

metadata:
  + select permission guest on public.task   ! role guest gains access
  ~ select permission member on public.task columns +note -title; -filter.done {"_eq":true}
  ~ select permission owner on public.task columns +note -title

access:
  guest gained: select permission guest on public.task (columns ["id"]; filter {})
  member changed: select permission member on public.task (columns +note -title; -filter.done {"_eq":true})
  owner changed: select permission owner on public.task (columns +note -title)

schema, safe:
  admin, member, owner: task.note was added.
  guest: query_root.task was added.

39 derived schema changes not listed: use --verbose`);
  const verbose = await project.svc('plan', '--verbose');
  expect(verbose.stdout).toContain('\n  admin, member, owner: task_bool_exp.title was removed.\n');
  expect(verbose.stdout).not.toContain('derived schema change');
});

it('has the same facts in JSON', async () => {
  const { plan } = (await project.svc('plan', '--json')).json as { plan: { summary: object; schemas: readonly object[] } };
  expect(plan.summary).toMatchObject({
    text: NEWS,
    errors: 0,
    counts: { migration: 1, permission: 3 },
    breaking: [{ roles: ['admin', 'member', 'owner'], changes: ['task.title was removed.'] }],
    decisions: [
      { kind: 'destructive', roles: [], file: 'migrations/default/2_note/up.sql', line: 2 },
      { kind: 'breaking', roles: ['admin', 'member', 'owner'] },
      { kind: 'row-filter', roles: ['member'] },
    ],
    schemas: [
      { kind: 'breaking', message: 'task.title was removed.' },
      { kind: 'safe', roles: ['admin', 'member', 'owner'], message: 'task.note was added.' },
      { kind: 'safe', roles: ['guest'], message: 'query_root.task was added.' },
    ],
  });
  expect(plan.schemas).toContainEqual({ role: 'member', kind: 'breaking', message: 'task_bool_exp.title was removed.' });
  expect(plan.schemas).toContainEqual({
    ...{ role: 'member', kind: 'safe' },
    message: 'An optional field note on input type task_bool_exp was added.',
  });
  expect(plan.schemas.filter((change) => 'kind' in change && change.kind === 'dangerous')).toEqual([]);
});

it.runIf(hasTerminal)('has colours on a terminal only', async () => {
  const plan = (env: Readonly<Record<string, string>>) =>
    onTerminal('plan', { cwd: project.root, env: { SVC_GRAPHQL_ENDPOINT: service.url, ...env } }).ended;
  const shown = await plan({});
  expect(shown).toContain(`${ESCAPE}[1m1 migration, 3 permissions${ESCAPE}[0m; ${ESCAPE}[31mbreaking for admin`);
  expect(shown).toContain(`${ESCAPE}[33m! role guest gains access${ESCAPE}[0m`);
  expect(await plan({ NO_COLOR: '1' })).not.toContain(ESCAPE);
});

it('has colours without a terminal if FORCE_COLOR is set', async () => {
  const run = (env: Readonly<Record<string, string>>) =>
    command(['plan'], { cwd: project.root, env: { SVC_GRAPHQL_ENDPOINT: service.url, ...env } });
  expect((await run({ FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).toContain(`${ESCAPE}[31mbreaking for admin`);
  expect((await run({ FORCE_COLOR: '0' })).stdout).not.toContain(ESCAPE);
});

it('says so if there is nothing to deploy', async () => {
  expect((await project.svc('deploy')).code).toBe(0);
  const { stdout } = await project.svc('plan');
  expect(stdout).toMatch(/^nothing to deploy\n\nplan \w+\n$/);
});
