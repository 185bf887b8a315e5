import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unknownCommandMessage, isServiceCommand, withHelpFlag } from '../../src/cli/service-command.ts';
import { translatedEnvironment } from '../../src/project-import/environment-file.ts';
import { command, MAIN } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { DEEP } from '../support/deep.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startFakeServer } from '../support/fake-server.ts';
import { testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

it('suggests the closest command for an unknown one', () => {
  expect(unknownCommandMessage(['permisions', 'lint'])).toContain('did you mean "permissions"?');
  expect(unknownCommandMessage(['sreve'])).toContain('did you mean "serve"?');
  expect(unknownCommandMessage(['frobnicate'])).toBe('unknown command "frobnicate"; svc --help lists all commands');
  expect(unknownCommandMessage(['scripts', 'update-project-v3'])).toMatch(/^not-supported: .*svc import/);
  for (const known of [['md'], ['seeds'], ['import'], ['serve'], ['version'], ['--help'], []])
    expect(unknownCommandMessage(known)).toBeUndefined();
  expect(isServiceCommand(withHelpFlag(['help', 'serve']))).toBe(true);
  expect(withHelpFlag(['help', 'metadata', 'apply'])).toEqual(['metadata', 'apply', '--help']);
});

it.runIf(DEEP)('sends no environment variable to an endpoint of the project file, except admin secrets', async () => {
  const server = await startFakeServer();
  server.answer = () => ({ status: 401, body: { error: 'no', code: 'access-denied', path: '$' } });
  const sent = async (name: string, flags: readonly string[] = [], files: Record<string, string> = {}): Promise<string | undefined> => {
    const folder = projectFolder(server);
    folder.write({
      'config.yaml': `version: 3\nendpoint: ${server.url}\nadmin_secret: {from_env: ${name}}\n`,
      'metadata/databases/databases.yaml': '[]',
      ...files,
    });
    server.requests.length = 0;
    const env = { CLOUD_KEY: 'planted', STAGE_ADMIN_SECRET: 'meant' };
    const { stderr } = await command(['metadata', 'diff', ...flags], { cwd: folder.root, env });
    rmSync(folder.root, { recursive: true });
    expect(server.requests.length).toBeGreaterThan(0);
    if (name === 'CLOUD_KEY' && flags.length === 0 && files['.env'] === undefined) expect(stderr).toContain('CLOUD_KEY is not sent');
    const found = server.requests[0]?.headers['x-svc-admin-secret'];
    return typeof found === 'string' ? found : undefined;
  };
  try {
    expect(await sent('CLOUD_KEY')).toBeUndefined();
    expect(await sent('STAGE_ADMIN_SECRET')).toBe('meant');
    expect(await sent('CLOUD_KEY', ['--endpoint', server.url])).toBe('planted');
    expect(await sent('OF_THE_PROJECT', [], { '.env': 'OF_THE_PROJECT=own\n' })).toBe('own');
  } finally {
    await server.close();
  }
});

it('translates environment and compose files line by line', () => {
  const translated = (line: string): string => translatedEnvironment(line);
  expect(translated('HASURA_GRAPHQL_DATABASE_URL=postgres://h/d\nPORT=3\n')).toBe('SVC_GRAPHQL_DATABASE_URL=postgres://h/d\nPORT=3\n');
  expect(translated('export HASURA_GRAPHQL_ADMIN_SECRET="a,b"')).toBe('export SVC_GRAPHQL_ADMIN_SECRET="a,b"');
  expect(translated('  "HASURA_GRAPHQL_DEV_MODE": "true"')).toBe('  "SVC_GRAPHQL_DEV_MODE": "true"');
  expect(translated('  - "HASURA_GRAPHQL_DEV_MODE=true"')).toBe('  - "SVC_GRAPHQL_DEV_MODE=true"');
  expect(translated(`HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION='hasura-default'`)).toBe(
    `SVC_GRAPHQL_DEFAULT_NAMING_CONVENTION='svc-default'`,
  );
  expect(translated('HASURA_GRAPHQL_EXPERIMENTAL_FEATURES=naming_convention,apollo_federation')).toBe(
    'SVC_GRAPHQL_EXPERIMENTAL_FEATURES=naming_convention,ext_federation',
  );
  expect(translated('HASURA_GRAPHQL_EXPERIMENTAL_FEATURES=hide_stream_fields, naming_convention,$MORE')).toBe(
    '# svc import: this service does not have hide_stream_fields\nSVC_GRAPHQL_EXPERIMENTAL_FEATURES= naming_convention,$MORE',
  );
  expect(translated('HASURA_GRAPHQL_CONSOLE_ASSETS_DIR=/srv/console-assets')).toMatch(/^# svc import: .*\n# HASURA_/);
  expect(translated('HASURA_GRAPHQL_UNHEARD_OF=1')).toMatch(/^# svc import: .*\n# HASURA_GRAPHQL_UNHEARD_OF=1$/);
});

it('keeps other services of a compose file unchanged', () => {
  const compose = `services:
  graphql:
    image: hasura/graphql-engine:v2.36.0
    environment:
      HASURA_GRAPHQL_ADMIN_SECRET: \${HASURA_GRAPHQL_ADMIN_SECRET}
  auth:
    image: example/auth
    environment:
      HASURA_GRAPHQL_ADMIN_SECRET: \${HASURA_GRAPHQL_ADMIN_SECRET}
  worker: {image: worker, environment: [HASURA_GRAPHQL_JWT_SECRET=x]}
`;
  expect(translatedEnvironment(compose)).toBe(compose.replace('  HASURA_GRAPHQL_ADMIN_SECRET: ', '  SVC_GRAPHQL_ADMIN_SECRET: '));
});

describe.runIf(DEEP)('commands besides deployment', () => {
  let service: TestService;
  let project: ProjectFolder;
  beforeAll(async () => {
    service = await startTestService();
    project = projectFolder(service);
  });
  afterAll(async () => {
    await service.stop();
    project.remove();
  });

  it('work without a project if they need none', async () => {
    const [own, both, away, cutover, unknown, nested, scripts, help] = await Promise.all([
      command(['version'], { cwd: project.root }),
      project.svc('version', '--json'),
      project.svc('version', '--endpoint', 'http://127.0.0.1:1'),
      project.svc('import', '--cutover'),
      project.svc('metdata', 'apply'),
      project.svc('metadata', 'aply'),
      project.svc('scripts'),
      project.svc('help', 'metadata', 'apply'),
    ]);
    expect(own.stdout).toMatch(/^svc \d+\.\d+\.\d+\S*\n$/);
    expect(both.json).toMatchObject({ ok: true, version: expect.any(String), service: expect.any(String), warnings: [] });
    expect(away).toMatchObject({ code: 0, stderr: expect.stringContaining('cannot be reached') });
    expect(cutover).toMatchObject({ code: 0, stdout: expect.stringContaining('notify_hasura_') });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "metadata"?') });
    expect(nested).toMatchObject({ code: 2, stderr: expect.stringContaining('apply') });
    expect(scripts).toMatchObject({ code: 2, stderr: expect.stringContaining('not-supported') });
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: svc metadata apply') });
  });

  it('complete the words of a shell', async () => {
    const [bash, fish, other] = await Promise.all([
      project.svc('completion', 'bash'),
      project.svc('completion', 'fish'),
      project.svc('completion', 'tcsh'),
    ]);
    const ask = (...words: string[]): readonly string[] => {
      const script = `${bash.stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(ask('svc', 'me')).toEqual(['metadata']);
    expect(ask('svc', 'metadata', 'in')).toEqual(['inconsistency']);
    expect(ask('svc', 'metadata', 'inconsistency', '')).toEqual(['list', 'status', 'drop']);
    expect(fish.stdout).toContain(`= "migrate"' -a 'apply status`);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('bash, zsh, fish, powershell') });
  });

  it('report missing rights of a database role, and missing features of a database', async () => {
    const role = `svc_doctor_${process.pid}`;
    await service.sql(`create role ${role} login password 'doctor'; create table looked_at (id int); grant select on looked_at to ${role};
      create function svc_catalog.notify_svc_gone_INSERT() returns trigger language plpgsql as 'begin return new; end';
      create trigger "notify_svc_gone_INSERT" after insert on looked_at for each row execute procedure svc_catalog.notify_svc_gone_INSERT();`);
    const url = new URL(service.databaseUrl);
    [url.username, url.password] = [role, 'doctor'];
    const pool = { max_connections: 100_000 };
    const configuration = { connection_info: { database_url: url.href, pool_settings: pool } };
    await service.metadata('pg_add_source', { name: 'limited', configuration });
    await service.metadata('pg_track_table', { source: 'limited', table: 'looked_at' });
    const permission = { columns: ['id'], check: {} };
    await service.metadata('pg_create_insert_permission', { source: 'limited', table: 'looked_at', role: 'user', permission });
    project.write({
      'doctor/config.yaml': 'version: 3\n',
      'doctor/metadata/databases/databases.yaml': '[]\n',
      'doctor/migrations/limited/1_a/up.sql': 'create extension if not exists "not-there";',
    });
    const { json } = await project.svc('doctor', '--project', 'doctor', '--json');
    const found = (json['findings'] as { id: string; cause: string }[]).filter(({ cause }) => cause.startsWith('limited'));
    expect(found.map(({ id }) => id).sort()).toEqual(['connections', 'extension', 'left-trigger', 'no-primary-key', 'privilege']);
    expect(found.find(({ id }) => id === 'privilege')?.cause).toContain('may not insert looked_at');
    await service.metadata('pg_drop_source', { name: 'limited', cascade: true });
    await service.sql(`drop owned by ${role}; drop role ${role}; drop table looked_at`);
  });

  it('report suspicious permissions', async () => {
    project.write({
      'lint/config.yaml': 'version: 3\n',
      'lint/metadata/databases/databases.yaml': `- name: default
  kind: postgres
  ${OWN_DATABASE}
  tables:
    - table: {schema: public, name: author}
      select_permissions: [{role: user, permission: {columns: [id], filter: {}}}]
      insert_permissions: [{role: anonymous, permission: {columns: [], check: {}}}]
      update_permissions:
        - role: user
          permission: {columns: [id, name], filter: {id: {_eq: X-Svc-User-Id}}, check: null}
`,
    });
    const found = await project.svc('permissions', 'lint', '--project', 'lint', '--json');
    expect(found.code).toBe(1);
    expect((found.json['errors'] as { code: string; line: number }[]).map(({ code, line }) => [code, line])).toEqual([
      ['always-true', 7],
      ['anonymous-write', 7],
      ['update-without-check', 9],
      ['write-only', 10],
      ['settable-filter', 10],
    ]);
    const codeOf = async (...args: string[]): Promise<number | null> => (await project.svc(...args, '--project', 'lint')).code;
    expect(await codeOf('permissions', 'lint', '--fail-on', 'error')).toBe(0);
    const told = await project.svc('metadata', 'lint', '--project', 'lint');
    expect([told.code, told.stdout]).toEqual([0, '5 warnings\n']);
    expect(await codeOf('metadata', 'lint', '--fail-on', 'warning')).toBe(1);
    expect(await codeOf('permissions', 'explain', '--role', 'user', '--table', 'author', '--op', 'delete')).toBe(0);
    for (const [role, table, message] of [
      ['usr', 'author', 'the metadata has no role "usr", did you mean "user"?'],
      ['user', 'autor', 'the metadata has no table "public.autor", did you mean "public.author"?'],
    ] as const) {
      const unknown = await project.svc('permissions', 'explain', '--role', role, '--table', table, '--project', 'lint', '--json');
      expect([unknown.code, unknown.json['errors']]).toEqual([2, [{ code: 'not-exists', message }]]);
    }
  });

  it('print everything to a slow reader, and stop when the reader has gone', () => {
    const payload = 'x'.repeat(300_000);
    project.write({
      'long/config.yaml': 'version: 3\n',
      'long/metadata/databases/databases.yaml': '[]\n',
      'long/metadata/cron_triggers.yaml': `- {name: a, webhook: http://x, schedule: "* * * * *", include_in_metadata: true, payload: ${payload}}\n`,
    });
    const run = (behind: string) =>
      spawnSync('sh', ['-c', `"${process.execPath}" "${MAIN}" metadata build --project long | ${behind}`], { cwd: project.root });
    expect(Number(String(run('(sleep 1; wc -c)').stdout))).toBeGreaterThan(payload.length);
    expect(String(run('head -c 1; true').stderr)).toBe('');
  });

  it('report that the service is older than the command', async () => {
    const document = { version: 3, sources: [] };
    const old = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      request.on('end', () => {
        const { type } = text === '' ? { type: 'version' } : (JSON.parse(text) as { type: string });
        if (type === 'version') response.end('{"version": "0.0.9"}');
        else if (type === 'export_metadata') response.end(JSON.stringify({ resource_version: 1, metadata: document }));
        else response.writeHead(400).end(`{"path": "$.type", "code": "parse-failed", "error": "unknown metadata command \\"${type}\\""}`);
      });
    });
    await new Promise<void>((done) => old.listen(0, '127.0.0.1', done));
    const at = ['--endpoint', `http://127.0.0.1:${(old.address() as AddressInfo).port}`, '--project', 'older', '--json'];
    project.write({
      'older/config.yaml': 'version: 3\n',
      'older/metadata/databases/databases.yaml': '[]\n',
      'older/metadata/api_limits.yaml': 'disabled: false\n',
    });
    const [applied, planned, version] = await Promise.all([
      project.svc('metadata', 'apply', ...at),
      project.svc('plan', ...at),
      project.svc('version', ...at),
    ]);
    old.close();
    expect(applied).toMatchObject({ code: 5, json: { errors: [{ code: 'parse-failed' }, { code: 'old-service' }] } });
    expect(JSON.stringify(applied.json)).toContain('has version 0.0.9, which is older than this command');
    expect(planned.code).toBe(0);
    expect(JSON.stringify(planned.json['plan'])).toContain('nothing was tried: the service at');
    expect(version.json['warnings']).toEqual([expect.stringContaining('is older than the command')]);
  });

  describe('commands of an import', () => {
    let other: Server;
    let url: string;
    const asked: string[] = [];
    beforeAll(async () => {
      other = createServer((request, response) => {
        let text = '';
        request.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        request.on('end', () => {
          const { type } = JSON.parse(text) as { type: string };
          asked.push(`${request.url} ${type}`);
          if (request.headers['x-hasura-admin-secret'] !== 'old') {
            response.writeHead(401).end('{"path":"$","error":"invalid x-hasura-admin-secret","code":"access-denied"}');
            return;
          }
          const url = { from_env: 'HASURA_GRAPHQL_DATABASE_URL' };
          const sources = [{ name: 'default', kind: 'postgres', configuration: { connection_info: { database_url: url } }, tables: [] }];
          const answer =
            type === 'export_metadata'
              ? { resource_version: 7, metadata: { version: 3, sources } }
              : { id: 'x', cli_state: { migrations: { default: { 1: false, 2: true, 9: false }, late: { 1: false } } }, console_state: {} };
          response.end(JSON.stringify(answer));
        });
      });
      await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
      url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    });
    afterAll(() => void other.close());

    it('fetch metadata from a running service', async () => {
      const refused = await project.svc('import', '--from-server', url, '--out', 'taken', '--json');
      expect(refused).toMatchObject({ code: 5, json: { ok: false, errors: [{ code: 'access-denied' }] } });
      const taken = await project.svc('import', '--from-server', `${url}/v1/graphql`, '--source-secret', 'old', '--out', 'taken', '--json');
      expect(taken).toMatchObject({ code: 0, json: { ok: true, report: { buckets: { unsupported: 0, 'needs-you': 0 } } } });
      expect(project.read('taken/metadata/databases/databases.yaml')).toContain('SVC_GRAPHQL_DATABASE_URL');
      expect(asked).toContain('/v1/metadata export_metadata');
      expect((await project.svc('metadata', 'apply', '--project', 'taken')).code).toBe(0);
    });

    it('record applied migrations without running anything', async () => {
      project.write({
        'old/config.yaml': 'version: 3\n',
        'old/metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`,
        'old/migrations/default/1_a/up.sql': 'create table never_run ();',
        'old/migrations/default/2_b/up.sql': 'select 2;',
        'old/migrations/default/3_c/up.sql': 'select 3;',
      });
      const importing = (): ReturnType<ProjectFolder['svc']> =>
        project.svc('import', 'old', '--out', 'new', '--state-from', url, '--source-secret', 'old', '--json');
      expect(await importing()).toMatchObject({
        code: 0,
        json: { recorded: ['default 1'], warnings: ['default: there is no folder for the applied migrations 9'] },
      });
      const status = await project.svc('migrate', 'status', '--project', 'new', '--json');
      expect(status.json['databases']).toMatchObject([
        { migrations: [{ status: 'applied' }, { status: 'pending' }, { status: 'pending' }] },
      ]);
      expect(await service.sql(`select to_regclass('never_run')::text`)).toMatchObject({ result: [['to_regclass'], ['NULL']] });
      expect((await importing()).json['recorded']).toEqual([]);
      const late = project.read('old/metadata/databases/databases.yaml').replace('default', 'late');
      project.write({
        'old/metadata/databases/databases.yaml': `${project.read('old/metadata/databases/databases.yaml')}${late}`,
        'old/migrations/late/1_a/up.sql': 'select 1;',
      });
      expect(await importing()).toMatchObject({ code: 1, json: { errors: [{ code: 'no-source' }] } });
    });

    it('read applied migrations from the metadata database of another engine, of any version', async () => {
      const from = (database: string) => project.svc('import', 'old', '--out', 'new', '--state-from', database, '--json');
      project.write({ 'old/metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n` });
      rmSync(join(project.root, 'old/migrations/late'), { recursive: true, force: true });
      expect((await from('postgres://svc:secret@127.0.0.1:1/y')).json).toMatchObject({ errors: [{ code: 'unreachable' }] });
      expect((await from(service.databaseUrl)).json).toMatchObject({ errors: [{ code: 'state' }] });
      await service.sql('create schema hdb_catalog; create table hdb_catalog.schema_migrations (version bigint primary key, dirty bool)');
      await service.sql('insert into hdb_catalog.schema_migrations values (2, false), (3, true)');
      expect((await from(service.databaseUrl)).json['recorded']).toEqual(['default 2']);
      await service.sql(`create table hdb_catalog.hdb_version (hasura_uuid uuid, version text, cli_state json)`);
      const state = JSON.stringify({
        migrations: { default: { 3: false } },
        settings: { migration_mode: 'true' },
        isStateCopyCompleted: true,
      });
      await service.sql(`insert into hdb_catalog.hdb_version values (null, '48', '${state}')`);
      expect((await from(service.databaseUrl)).json['recorded']).toEqual(['default 3']);
    });

    it('migrate a database with the printed checklist', async () => {
      await service.sql(`create table taken_over (id int primary key);
        create schema if not exists hdb_catalog;
        create table hdb_catalog.event_log (id text, delivered bool, error bool, archived bool);
        create table hdb_catalog.hdb_scheduled_events (status text); create table hdb_catalog.hdb_action_log (status text);
        create function hdb_catalog.noted() returns trigger language plpgsql as 'begin return null; end';
        create trigger "notify_hasura_taken_INSERT" after insert on taken_over for each row execute function hdb_catalog.noted()`);
      const trigger = `{name: taken, definition: {enable_manual: false, insert: {columns: '*'}}, webhook: 'http://127.0.0.1:1', retry_conf: {num_retries: 0, interval_sec: 10, timeout_sec: 60}}`;
      project.write({
        'list/old/config.yaml': 'version: 3\n',
        'list/old/metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n    - table: {schema: public, name: taken_over}\n      event_triggers: [${trigger}]\n`,
        'list/old/migrations/default/1_made_already/up.sql': 'create table taken_over (id int primary key);',
        'list/old/migrations/default/2_late/up.sql': 'create table late_one (id int primary key);',
      });
      await service.sql('drop table if exists svc_catalog.migration, svc_catalog.seed');
      await service.metadata('clear_metadata', {});
      const { stdout } = await project.svc('import', '--cutover');
      const lines = [...stdout.matchAll(/^ {5}(.*)$/gm)].map(([, line]) => line as string);
      let cwd = join(project.root, 'list');
      const env = { SVC_GRAPHQL_ENDPOINT: service.url, HASURA_GRAPHQL_ADMIN_SECRET: 'old' };
      let sql = '';
      const statements: string[] = [];
      for (const line of lines) {
        const [word, ...args] = line.split(' ') as [string, ...string[]];
        if (word === 'cd') cwd = join(cwd, 'new');
        else if (word === 'svc' && args[0] !== 'serve') {
          const old = cwd.endsWith('new') ? '../old' : 'old';
          const given = args.map((each) => (each === 'OLD' ? old : each === 'NEW' ? 'new' : each.replace(/^https:\/\/old\..*/, url)));
          const ran = await command(given, { cwd, env });
          expect(ran.code, `${line}: ${ran.stdout}${ran.stderr}`).toBe(0);
        } else if (/^(?:select|copy|delete|from)$/.test(line.trim().split(' ', 1)[0] as string)) {
          sql += `${line}\n`;
          if (line.endsWith(';')) statements.push(sql.trim());
          if (line.endsWith(';')) sql = '';
        }
      }
      expect(await service.sql('select version::text from svc_catalog.migration order by version')).toMatchObject({
        result: [['version'], ['1'], ['2']],
      });
      await service.sql('insert into taken_over values (1)');
      expect(statements).toHaveLength(6);
      // The data is copied with a separate connection.
      for (const statement of statements.filter((each) => !each.startsWith('copy'))) {
        const answer = (await service.sql(statement)) as { result: string[][] | null };
        for (const [made] of (answer.result ?? []).slice(1)) if (made?.startsWith('drop trigger')) await service.sql(made);
      }
      expect(await service.sql(`select tgname::text from pg_trigger where tgname like 'notify_hasura%'`)).toMatchObject({
        result: [['tgname']],
      });
      expect(await service.sql('select count(*)::text from svc_catalog.event_log where not delivered and not error')).toMatchObject({
        result: [['count'], ['0']],
      });
      await service.sql('drop schema hdb_catalog cascade; drop table taken_over, late_one', { check_metadata_consistency: false });
    });

    it('translate environment files', async () => {
      project.write({ 'old.env': 'HASURA_GRAPHQL_DATABASE_URL=postgres://h/d\nPORT=3\n' });
      const { stdout } = await project.svc('import', '--env-file', 'old.env');
      expect(stdout).toBe('SVC_GRAPHQL_DATABASE_URL=postgres://h/d\nPORT=3\n');
    });
  });

  it('follow the files of a project', async () => {
    const sources = (tables: string): string => `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: [${tables}]\n`;
    project.write({
      'dev/config.yaml': 'version: 3\nendpoint: http://nowhere.invalid\nenvironments: {local: {overlays: [local.yaml]}}\n',
      'dev/local.yaml':
        'sources: [{name: default, tables: [{table: {schema: public, name: author}, configuration: {custom_name: laid_over}}]}]\n',
      'dev/metadata/databases/databases.yaml': sources('{table: {schema: public, name: author}}'),
      'dev/migrations/default/1_author/up.sql': 'create table author (id int primary key); insert into author values (1);',
    });
    const [port, database] = await Promise.all([freePort(), testDatabase('ready')]);
    const own = projectFolder(service, { SVC_GRAPHQL_DATABASE_URL: database.url, SVC_GRAPHQL_SERVER_HOST: '127.0.0.1' });
    let dev = own.start('dev', '--project', `${project.root}/dev`, '--port', String(port));
    const ask = async (query: string): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${port}/v1/graphql`;
      const asked = fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
      return asked.then((answer) => answer.json()).catch(() => undefined);
    };
    try {
      await expect.poll(() => ask('{ author { id } }'), WAIT).toEqual({ data: { author: [{ id: 1 }] } });
      // Twice, because an editor replaces files; a mistake in between changes nothing.
      for (const name of ['writer', 'poet']) {
        project.write({ 'dev/metadata/databases/databases.yaml': '[', 'dev/migrations/default/2_later/up.sql': 'create table later ();' });
        const configuration = `configuration: {custom_name: ${name}}`;
        project.write({ 'dev/draft.yaml': sources(`{table: {schema: public, name: author}, ${configuration}}`) });
        renameSync(`${project.root}/dev/draft.yaml`, `${project.root}/dev/metadata/databases/databases.yaml`);
        await expect.poll(() => ask(`{ ${name} { id } }`), WAIT).toEqual({ data: { [name]: [{ id: 1 }] } });
      }
      // Changes in the console are written to the files, and an edit of them reverts none.
      const permission = { table: 'author', role: 'guest', permission: { columns: ['id'], filter: {} } };
      const clicked = await fetch(`http://127.0.0.1:${port}/v1/metadata`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'pg_create_select_permission', args: permission }),
      });
      expect(clicked.status).toBe(200);
      const tables = 'dev/metadata/databases/databases.yaml';
      await expect.poll(() => project.read(tables), WAIT).toContain('role: guest');
      project.write({ 'dev/draft.yaml': `# kept\n${project.read(tables).replace('poet', 'bard')}` });
      renameSync(`${project.root}/dev/draft.yaml`, `${project.root}/${tables}`);
      await expect.poll(() => ask('{ bard { id } }'), WAIT).toEqual({ data: { bard: [{ id: 1 }] } });
      expect(project.read(tables)).toMatch(/^# kept\n[\s\S]*role: guest/);
      // Later migrations are left to --migrate.
      const status = await own.svc(
        'migrate',
        'status',
        '--project',
        `${project.root}/dev`,
        '--endpoint',
        `http://127.0.0.1:${port}`,
        '--json',
      );
      expect(status.json['databases']).toMatchObject([{ migrations: [{ status: 'applied' }, { status: 'pending' }] }]);
      // External database changes need no notification.
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query('alter table author add name text');
      await client.end();
      await expect.poll(() => ask('{ bard { name } }'), WAIT).toEqual({ data: { bard: [{ name: null }] } });
      // For a stage, with its overlays.
      dev.kill();
      await dev.ended;
      dev = own.start('dev', '--project', `${project.root}/dev`, '--port', String(port), '--env', 'local');
      await expect.poll(() => ask('{ laid_over { id } }'), WAIT).toEqual({ data: { laid_over: [{ id: 1 }] } });
    } finally {
      dev.kill();
      await dev.ended;
      own.remove();
      await database.drop();
    }
  });
});
