import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWN_DATABASE, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const before = projectFolder(service);
  before.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': databases(),
    'migrations/default/1_task/up.sql': 'create table task (id int primary key);\n',
  });
  expect((await before.svc('deploy')).code).toBe(0);
  before.remove();
});
afterAll(() => service.stop());

function databases({ name = 'default', url = OWN_DATABASE, tables = '[]' } = {}): string {
  return `- name: ${name}\n  kind: postgres\n  ${url}\n  tables: ${tables}\n`;
}
const UNSET = OWN_DATABASE.replace('SVC_GRAPHQL_DATABASE_URL', 'UNSET_URL');
const TASK = { 'migrations/default/1_task/up.sql': 'create table task (id int primary key);\n' };
const HOOKED = (definition: string): string =>
  `[{table: {schema: public, name: task}, insert_permissions: [{role: user, permission: {columns: '*', check: {}, validate_input: {type: http, definition: {${definition}}}}}]}]`;
const HOOK_HEADER = 'url: "http://127.0.0.1:1/check", headers: [{name: key, value_from_env: UNSET_URL}]';
const MISSING = '[{table: {schema: public, name: missing}}]';

interface Rejected {
  readonly what: string;
  readonly databases?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: readonly string[];
  readonly code: number;
  readonly message: string;
}

it.each<Rejected>([
  { what: 'a project without a source', databases: '[]\n', code: 1, message: 'the metadata has no source "default"' },
  { what: 'a table that no migration creates', databases: databases({ tables: MISSING }), code: 4, message: 'no such table/view exists' },
  {
    what: 'a client command in a migration',
    files: { 'migrations/default/2_next/up.sql': 'select 1;\n\\connect x\n' },
    ...{ code: 1, message: '\\connect is for psql only' },
  },
  {
    what: 'a statement that cannot run in a transaction',
    files: { 'migrations/default/2_next/up.sql': 'create index concurrently on task (id);\n' },
    ...{ code: 1, message: 'start the file with "-- svc: no-transaction"' },
  },
  {
    what: 'an applied migration whose file has changed',
    files: { 'migrations/default/1_task/up.sql': 'create table other (id int primary key);\n' },
    ...{ code: 1, message: 'has changed since it was applied' },
  },
  {
    what: 'a migration that fails',
    files: { 'migrations/default/2_next/up.sql': 'select 1;\n\nselect nothing;\n' },
    ...{ code: 1, message: 'column "nothing" does not exist [42703]' },
  },
  {
    what: 'a source whose connection would be invalid',
    databases: databases({ url: UNSET }),
    code: 1,
    message: "'UNSET_URL' not set. Set the environment variable",
  },
  {
    what: 'a new source without a connection',
    databases: `${databases()}${databases({ name: 'far', url: UNSET })}`,
    files: { 'migrations/far/1_far/up.sql': 'select 1;\n' },
    ...{ code: 1, message: 'the service cannot add the source far: ' },
  },
])('a plan ends as the deployment of $what', async ({ databases: sources = databases(), files = {}, code, message }) => {
  const project = projectFolder(service);
  try {
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': sources, ...TASK, ...files });
    const [planned, deployed] = [await project.svc('plan', '--json'), await project.svc('deploy', '--json')];
    const errors = (json: typeof planned.json) =>
      (json['errors'] as readonly { readonly code: string; readonly message: string; readonly file?: string; readonly line?: number }[])
        .filter((error) => error.code !== 'deploy')
        .map(({ message: text, file, line }) => ({ text, file, line }));
    expect([planned.code, deployed.code]).toEqual([code, code]);
    expect(errors(planned.json)).toEqual(errors(deployed.json));
    expect(errors(planned.json)).toEqual([expect.objectContaining({ text: expect.stringContaining(message) })]);
    if (planned.json['plan'] === undefined) return;
    const summary = expect.objectContaining({ errors: 1, text: expect.stringContaining('svc deploy would fail with 1 error') });
    expect(planned.json['plan']).toMatchObject({ summary });
  } finally {
    project.remove();
  }
});

it.each([
  [
    'an event trigger',
    databases({ tables: '[{table: {schema: public, name: task}, event_triggers: [{name: done, webhook_from_env: UNSET_URL, ...}]}]' }),
    {},
  ],
  ['a new remote schema', databases(), { 'metadata/remote_schemas.yaml': '- {name: far, definition: {url_from_env: UNSET_URL}}\n' }],
  [
    'a header of a new remote schema',
    databases(),
    {
      'metadata/remote_schemas.yaml':
        '- {name: far, definition: {url: "http://127.0.0.1:1", headers: [{name: key, value_from_env: UNSET_URL}]}}\n',
    },
  ],
  ['a new source without migrations', `${databases()}${databases({ name: 'far', url: UNSET })}`, {}],
  [
    'an event trigger on a table that a migration creates',
    databases({ tables: '[{table: {schema: public, name: never}, event_triggers: [{name: done, webhook_from_env: UNSET_URL, ...}]}]' }),
    {},
  ],
  ['the hook of a permission', databases({ tables: HOOKED('url: "{{UNSET_URL}}/check"') }), {}],
  ['a header of the hook of a permission', databases({ tables: HOOKED(HOOK_HEADER) }), {}],
])('runs no migration if a variable of %s is not set', async (_, sources, files) => {
  const project = projectFolder(service);
  const trigger =
    'definition: {enable_manual: false, insert: {columns: "*"}}, retry_conf: {num_retries: 0, interval_sec: 1, timeout_sec: 1}';
  try {
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': sources.replace('...', trigger),
      'migrations/default/2_never/up.sql': 'create table never (id int);\n',
      ...TASK,
      ...files,
    });
    const [planned, deployed] = [await project.svc('plan', '--json'), await project.svc('deploy', '--json')];
    const unset = expect.objectContaining({ message: expect.stringMatching(/UNSET_URL.*Set the environment variable for the service/s) });
    expect([planned.code, deployed.code]).toEqual([4, 4]);
    expect(planned.json['errors']).toEqual([unset]);
    expect(deployed.json['errors']).toEqual([unset, { code: 'deploy', message: 'nothing was done' }]);
    expect(await service.sql("select to_regclass('never') is null")).toMatchObject({ result: [['?column?'], ['t']] });
    const { findings } = (await project.svc('doctor', '--json')).json as { findings: unknown[] };
    expect(findings).toContainEqual(
      expect.objectContaining({ id: 'environment', severity: 'error', cause: expect.stringContaining('UNSET_URL') }),
    );
  } finally {
    project.remove();
  }
});

it('deploys no hook of a permission whose variable is not set, without migrations either', async () => {
  const project = projectFolder(service);
  try {
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': databases({ tables: HOOKED(HOOK_HEADER) }),
      ...TASK,
    });
    const { code, stderr } = await project.svc('deploy');
    expect(stderr).toMatch(/databases\.yaml:\d+:\d+: insert_permission user in table task.*validate_input: .*'UNSET_URL' not set/);
    expect(code).toBe(4);
    expect(await project.svc('deploy', '--allow-inconsistent')).toMatchObject({ code: 0 });
  } finally {
    await service.metadata('pg_untrack_table', { table: 'task', cascade: true });
    project.remove();
  }
});

it('diagnoses with pending migrations what does not depend on them, and says what it left out', async () => {
  const project = projectFolder(service);
  try {
    const never = '{table: {schema: public, name: never}, insert_permissions: [{role: user, permission: {columns: "*", check: {}}}]}';
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': databases({ tables: `[${never}]` }),
      'metadata/cron_triggers.yaml':
        '- {name: nightly, webhook: "http://127.0.0.1:1/", schedule: "0 0 30 2 *", include_in_metadata: true, request_transform: {version: 2, body: {action: transform, template: "{{$body"}}}\n',
      'migrations/default/2_never/up.sql': 'create table never (id int);\n',
      ...TASK,
    });
    const { findings } = (await project.svc('doctor', '--json')).json as { findings: { id: string; cause: string; remedy: string }[] };
    const of = (id: string) => findings.filter((finding) => finding.id === id).map(({ cause }) => cause);
    expect(of('migrations')).toEqual(['migrations/default 2 never is pending']);
    expect(of('lint:always-true')).toHaveLength(1);
    expect(of('inconsistent')).toEqual([expect.stringContaining('cron_trigger nightly')]);
    expect(of('not-checked')).toEqual([
      'objects that pending migrations may make consistent are not checked: table never in source default',
    ]);
    expect(findings.find(({ id }) => id === 'not-checked')?.remedy).toBe('run svc plan, which tries the migrations');
  } finally {
    project.remove();
  }
});

it('deploys the settings that mend variables of the service that are not set', async () => {
  const its = await startTestService();
  const project = projectFolder(its);
  const old = {
    name: 'default',
    kind: 'postgres',
    tables: [],
    configuration: { connection_info: { database_url: { from_env: 'UNSET_OLD' } } },
  };
  const remote = { name: 'far', definition: { url_from_env: 'UNSET_OLD' } };
  try {
    await its.metadata('replace_metadata', {
      allow_inconsistent_metadata: true,
      metadata: { version: 3, sources: [old, { ...old, name: 'other' }], remote_schemas: [remote] },
    });
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': `${databases()}${databases({ name: 'other' })}`,
      ...TASK,
    });
    expect(await project.svc('plan', '--json')).toMatchObject({ code: 0, json: { plan: { migrations: [{ state: 'tried' }] } } });
    expect(await project.svc('deploy', '--json')).toMatchObject({ code: 0, json: { migrations: [{ version: '1' }] } });
  } finally {
    project.remove();
    await its.stop();
  }
});

it('runs no migration if another source is to be connected by a variable that is not set', async () => {
  const its = await startTestService();
  const project = projectFolder(its);
  try {
    await its.metadata('pg_add_source', {
      name: 'other',
      configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
    });
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': `${databases()}${databases({ name: 'other', url: UNSET })}`,
      ...TASK,
    });
    expect(await project.svc('deploy', '--json')).toMatchObject({ code: 4, json: { errors: [{}, { message: 'nothing was done' }] } });
    expect(await its.sql("select to_regclass('task') is null")).toMatchObject({ result: [['?column?'], ['t']] });
    const { findings } = (await project.svc('doctor', '--json')).json as { findings: unknown[] };
    expect(findings).toContainEqual(expect.objectContaining({ id: 'environment', cause: expect.stringContaining('UNSET_URL') }));
  } finally {
    project.remove();
    await its.stop();
  }
});

it('doctor names what a deployment would be rejected for', async () => {
  const project = projectFolder(service);
  try {
    const column = '{role: user, permission: {columns: [idd], filter: {}}}';
    const tables = `[{table: {schema: public, name: task}, select_permissions: [${column}]}]`;
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': databases({ tables }), ...TASK });
    const { code, json } = await project.svc('doctor', '--json');
    expect(code).toBe(1);
    expect(json['findings']).toContainEqual(
      expect.objectContaining({ id: 'inconsistent', severity: 'error', cause: expect.stringContaining('"idd"') }),
    );
    expect((await project.svc('deploy')).code).toBe(4);
  } finally {
    project.remove();
  }
});

it('deploys an inherited role that does not get all permissions, with a warning', async () => {
  const project = projectFolder(service);
  const insert = (role: string, check: string) => `{role: ${role}, permission: {columns: '*', check: ${check}}}`;
  const tables = `[{table: {schema: public, name: task}, insert_permissions: [${insert('one', '{id: {_eq: 1}}')}, ${insert('two', '{}')}]}]`;
  try {
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': databases({ tables }),
      'metadata/inherited_roles.yaml': '- {role_name: both, role_set: [one, two]}\n',
      ...TASK,
    });
    expect((await project.svc('plan')).code).toBe(0);
    const { code, stderr } = await project.svc('deploy');
    const warning = expect.stringContaining("Could not inherit permission for the role 'both'") as string;
    expect([code, stderr]).toEqual([0, warning]);
    // Commands that read the consistency follow the same rule.
    for (const command of [
      ['metadata', 'reload'],
      ['metadata', 'apply'],
      ['schema', '--role', 'one'],
    ])
      expect(await project.svc(...command)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .*Could not inherit/) });
    expect((await project.svc('metadata', 'inconsistency', 'status')).code).toBe(0);
    const { json } = await project.svc('doctor', '--json');
    expect(json['findings']).toContainEqual(expect.objectContaining({ id: 'inconsistent', severity: 'warning', cause: warning }));
  } finally {
    await service.metadata('clear_metadata', {});
    project.remove();
  }
});

it.each([
  ['metadata/databases/databases.yaml', '', 'the file is empty: write [] if there are no sources'],
  ['metadata/databases/tables.yaml', '\n', 'the included file metadata/databases/tables.yaml is empty'],
])('says that %s is empty', async (file, text, message) => {
  const project = projectFolder(service);
  try {
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': databases({ tables: '!include tables.yaml' }),
      'metadata/databases/tables.yaml': '[]',
      [file]: text,
    });
    for (const command of ['deploy', 'doctor']) {
      const { code, stdout, stderr } = await project.svc(command);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(message);
    }
  } finally {
    project.remove();
  }
});

it('accepts in a plan what options of a deployment accept', async () => {
  const project = projectFolder(service);
  try {
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': databases(),
      'migrations/default/1_task/up.sql': 'create table task (id int primary key, title text);\n',
      'migrations/default/2_next/up.sql': 'create index concurrently on task (id);\n',
    });
    expect((await project.svc('plan')).code).toBe(1);
    const accepted = await project.svc('plan', '--allow-changed', '--no-transaction');
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
    expect(accepted.stdout).toContain('note: migration 1 of default is changed\n');
  } finally {
    project.remove();
  }
});

it('tries seeds after the migrations, in their transaction', async () => {
  const project = projectFolder(service);
  try {
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': databases({ tables: '[{table: {schema: public, name: mood}, is_enum: true}]' }),
      'migrations/default/7_mood/up.sql': 'create table mood (name text primary key);\n',
      'seeds/default/1_moods.sql': "begin;\ninsert into mood values ('good');\ncommit;\n",
      'seeds/default/2_wrong.sql': 'select 1;\ninsert into moood values (1);\n',
    });
    expect((await project.svc('plan')).code).toBe(4);
    const failed = await project.svc('plan', '--with-seeds');
    expect(failed).toMatchObject({ code: 1, stderr: 'error: seeds/default/2_wrong.sql:2:13: relation "moood" does not exist\n' });
    expect(failed.stdout).toContain('seeds:\n  default 1_moods.sql: tried\n  default 2_wrong.sql: failed\n');
    project.write({ 'seeds/default/2_wrong.sql': 'create index concurrently on mood (name);\n' });
    expect((await project.svc('plan', '--with-seeds')).stderr).toContain(
      'seeds/default/2_wrong.sql:1: create index concurrently on mood (name) cannot run in a seed',
    );
    project.write({ 'seeds/default/2_wrong.sql': "begin;\ninsert into mood values ('bad');\nrollback;\n" });
    const undone = await project.svc('plan', '--with-seeds');
    expect(undone).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('seeds/default/2_wrong.sql: remove "begin; rollback": all seeds'),
    });
    expect(undone.stdout).toContain(
      'seeds:\n  default 1_moods.sql: not tried: another seed of its source cannot run\n  default 2_wrong.sql: failed\n',
    );
    project.write({ 'seeds/default/2_wrong.sql': "insert into mood values ('bad');\n" });
    const out = ['--out', 'plan.json'];
    const planned = await project.svc('plan', '--with-seeds', '--once', ...out);
    expect(planned).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^1 migration, 2 seeds, 1 table\n/) });
    expect((await project.svc('plan', '--with-seeds', '--no-try')).stdout).toContain('default 1_moods.sql: not tried: --no-try');
    // Nothing was run.
    expect(JSON.stringify(await service.sql("select to_regclass('mood')"))).toContain('NULL');

    const deploy = ['deploy', '--plan', 'plan.json', '--with-seeds', '--once'];
    expect(await project.svc(...deploy)).toMatchObject({ code: 0 });
    expect(await project.svc('plan', '--with-seeds', '--once', '--detailed-exit-code')).toMatchObject({ code: 0 });
    expect((await project.svc('plan', '--with-seeds')).stderr).toContain('seeds/default/1_moods.sql:2:1: duplicate key');
  } finally {
    project.remove();
  }
});

const READ_ONLY = 'the metadata of this service is read-only (--metadata-read-only)';

it.each([
  ['metadata', 'replace_metadata', 'replace_metadata', databases({ tables: '[{table: {schema: public, name: task}}]' }), {}],
  ['migrations', 'pg_run_sql', 'pg_run_sql', databases(), { 'migrations/default/2_next/up.sql': 'create table next ();\n' }],
  [
    'a new source',
    'plan_changes',
    'plan_changes',
    `${databases()}${databases({ name: 'far' })}`,
    { 'migrations/far/1_far/up.sql': 'select 1;\n' },
  ],
])('a plan for a service with read-only metadata ends as the deployment of %s', async (_, planOperation, operation, sources, files) => {
  const { databaseUrl } = service;
  const readOnly = await startTestService({ METADATA_READ_ONLY: 'true', DATABASE_URL: databaseUrl });
  const project = projectFolder(readOnly);
  try {
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': sources, ...TASK, ...files });
    const [planned, deployed] = [await project.svc('plan', '--json'), await project.svc('deploy', '--json')];
    const refusal = (name: string) => ({ code: 'access-denied', message: `${READ_ONLY}: "${name}" is refused` });
    expect(planned).toMatchObject({ code: 5, json: { errors: [refusal(planOperation)] } });
    // SQL has effects that a rollback does not undo, so nothing is tried; the plan is made without it.
    if (planOperation === 'pg_run_sql')
      expect((await project.svc('plan')).stdout).toContain(
        'default 2 next: not tried: the service refuses SQL that is not read-only (--metadata-read-only)',
      );
    expect(deployed).toMatchObject({ code: 5, json: { errors: expect.arrayContaining([expect.objectContaining(refusal(operation))]) } });
  } finally {
    project.remove();
    await readOnly.stop();
  }
});

it('a plan for a service with read-only metadata names unset variables first, as the deployment does', async () => {
  const readOnly = await startTestService({ METADATA_READ_ONLY: 'true', DATABASE_URL: service.databaseUrl });
  const project = projectFolder(readOnly);
  try {
    const next = { 'migrations/default/2_next/up.sql': 'create table next ();\n' };
    const remote = { 'metadata/remote_schemas.yaml': '- {name: other, definition: {url_from_env: UNSET_URL}}\n' };
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': databases(), ...TASK, ...next, ...remote });
    const unset = { code: 'inconsistent', message: expect.stringContaining("'UNSET_URL' not set") };
    for (const command of ['plan', 'deploy'])
      expect([command, await project.svc(command, '--json')]).toMatchObject([
        command,
        { code: 4, json: { errors: expect.arrayContaining([expect.objectContaining(unset)]) } },
      ]);
  } finally {
    project.remove();
    await readOnly.stop();
  }
});

it('names a source that would be inconsistent', async () => {
  const project = projectFolder(service);
  try {
    const sources = `${databases()}${databases({ name: 'far', url: UNSET })}`;
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': sources, ...TASK });
    expect((await project.svc('plan')).stdout).toMatch(/inconsistent.*:\n +source far: .*'UNSET_URL' not set/);
  } finally {
    project.remove();
  }
});

it('does not count inconsistent metadata that the service has already as deployed', async () => {
  const project = projectFolder(service);
  try {
    await service.sql('create table dropped (id int primary key)');
    const tables = '[{table: {schema: public, name: dropped}}]';
    project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': databases({ tables }), ...TASK });
    expect((await project.svc('deploy')).code).toBe(0);
    await service.sql('drop table dropped', { check_metadata_consistency: false });
    await service.metadata('reload_metadata', { reload_sources: true });
    const { code, json } = await project.svc('deploy', '--json');
    expect({ code, ...json }).toMatchObject({ code: 4, done: ['sources', 'migrations'], not_done: ['metadata'] });
  } finally {
    project.remove();
  }
});
