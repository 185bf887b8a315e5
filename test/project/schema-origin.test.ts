/** Origin of the schema of `svc schema`: the service that the project names, the embedded PostgreSQL of `svc dev`, or the files. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { command, type Ran } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const permission = (name: string): string => `- {role: user, permission: {columns: [${name}], filter: {}}}`;
const sources = (column: string): string =>
  `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n    - table: {schema: public, name: note}\n      select_permissions: [${permission(column).slice(2)}]\n`;

let service: TestService;
let folder: ProjectFolder;
beforeAll(async () => {
  service = await startTestService();
  await service.sql('create table note (id int primary key, body text)');
  folder = projectFolder(service);
  folder.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': sources('body') });
  expect(await folder.svc('deploy')).toMatchObject({ code: 0 });
  // The files have another schema than the service.
  folder.write({ 'metadata/databases/databases.yaml': sources('id') });
});
afterAll(async () => {
  folder.remove();
  await service.stop();
});

/** Without an endpoint in the environment of the process. */
const schema = (...args: readonly string[]): Promise<Ran> =>
  command(['schema', '--role', 'user', ...args], { cwd: folder.root, env: { SVC_GRAPHQL_DATABASE_URL: service.databaseUrl } });
const OF_FILES = 'type note {\n  id: Int!\n}';
const OF_SERVICE = 'type note {\n  body: String\n}';
const type = ({ stdout }: Ran): string => /^type note \{[^}]*\}/m.exec(stdout)?.[0] ?? '';

it('is the service that .env or the chosen environment names', async () => {
  expect(type(await schema())).toBe(OF_FILES);
  folder.write({ '.env': `SVC_GRAPHQL_ENDPOINT=${service.url}\n` });
  expect(type(await schema())).toBe(OF_SERVICE);
  folder.write({ '.env': '', 'config.yaml': `version: 3\nenvironments: {staging: {endpoint: "${service.url}"}, local: {}}\n` });
  expect(type(await schema('--env', 'staging'))).toBe(OF_SERVICE);
  expect(type(await schema('--env', 'local'))).toBe(OF_FILES);
  expect((await folder.svc('doctor', '--env', 'staging')).stdout).toContain('run svc deploy --env staging');
  // The endpoint that svc init writes is where svc dev will be: the files can be read without it.
  folder.write({ 'config.yaml': 'version: 3\nendpoint: http://localhost:1\n' });
  expect(type(await schema())).toBe(OF_FILES);
});

it('reads the schema of a role whose introspection is disabled', async () => {
  await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: ['user'] });
  const ran = await schema('--endpoint', service.url);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(type(ran)).toBe(OF_SERVICE);
  folder.write({ 'a.graphql': 'query A { note { body } }' });
  expect(type(await schema('--endpoint', service.url, '--documents', 'a.graphql'))).toBe(OF_SERVICE);
  // Its clients still cannot read it.
  expect(await service.graphql('{ __schema { queryType { name } } }', { role: 'user' })).toMatchObject({ errors: [{}] });
  expect(type(await schema('--endpoint', service.url, '--backend-only'))).toBe(OF_SERVICE);
  await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: [] });
});

it('finds the embedded PostgreSQL of a svc dev, running or stopped', async () => {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const own = projectFolder({ url: endpoint });
  const env = {};
  own.write({
    'config.yaml': `version: 3\nendpoint: ${endpoint}\n`,
    'metadata/databases/databases.yaml': sources('body'),
    'migrations/default/1_note/up.sql': 'create table note (id int primary key, body text);',
    'web/package.json': '{}',
  });
  const ran = (): Promise<Ran> => command(['schema', '--role', 'user'], { cwd: own.root, env });
  expect(await ran()).toMatchObject({ code: 4, stderr: expect.stringContaining('SVC_GRAPHQL_DATABASE_URL') });
  const dev = own.start('dev');
  try {
    await expect.poll(() => dev.messages(), WAIT).toContain('migrations: 1 run');
    const running = await ran();
    expect(running.stderr).toContain(`the schema is read from the service at ${endpoint}`);
    expect(type(running)).toBe(OF_SERVICE);
    dev.kill();
    await dev.ended;
    const stopped = await ran();
    expect(stopped.code).toBe(0);
    expect(type(stopped)).toBe(OF_SERVICE);
    // It is stopped again, and found from every folder of the project.
    expect(type(await command(['schema', '--role', 'user'], { cwd: join(own.root, 'web'), env }))).toBe(OF_SERVICE);
  } finally {
    dev.kill();
    await dev.ended;
    own.remove();
  }
});
