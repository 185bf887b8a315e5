import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { runSql, type TestDatabase, testDatabase, testServerUrl } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const role = `svc_weak_${randomBytes(4).toString('hex')}`;
let database: TestDatabase;
let service: TestService;
let project: ProjectFolder;
beforeAll(async () => {
  database = await testDatabase();
  await runSql(database.url, `create role ${role} login password 'weak'; grant all on schema public to ${role}`);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'weak';
  service = await startTestService({}, { WEAK_URL: url.href });
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml':
      '- {name: weak, kind: postgres, configuration: {connection_info: {database_url: {from_env: WEAK_URL}}}, tables: []}\n',
    'migrations/weak/1_a/up.sql': 'create table a (id int primary key);\n',
  });
});
afterAll(async () => {
  await service.stop();
  project.remove();
  await runSql(database.url, `drop owned by ${role} cascade`);
  await database.drop();
  await runSql(testServerUrl(), `drop role ${role}`);
});

/** Checks that `plan` ends as `deploy`, both with the statement to run, and runs it. */
async function refusedUntil(statement: string): Promise<void> {
  const expected = [expect.objectContaining({ code: 'privilege', message: expect.stringContaining(`as the owner, run ${statement}`) })];
  for (const command of ['plan', 'deploy'] as const) {
    const ran = await project.svc(command, '--json');
    expect([command, ran.code, ran.json['errors']]).toEqual([command, 1, expect.arrayContaining(expected)]);
  }
  await runSql(database.url, statement);
}

it('names the privileges that the history of migrations needs, and needs no others', async () => {
  await refusedUntil(`create schema svc_catalog authorization ${role}`);
  await runSql(database.url, `alter schema svc_catalog owner to current_user`);
  await refusedUntil(`grant usage, create on schema svc_catalog to ${role}`);
  await runSql(database.url, `revoke create on schema svc_catalog from ${role}`);
  await refusedUntil(`grant create on schema svc_catalog to ${role}`);
  expect((await project.svc('plan')).code).toBe(0);
  expect((await project.svc('deploy')).code).toBe(0);

  project.write({ 'migrations/weak/2_b/up.sql': 'create table b (id int primary key);\n' });
  await runSql(
    database.url,
    `alter table svc_catalog.migration owner to current_user; alter table svc_catalog.seed owner to current_user;
      revoke all on schema svc_catalog from ${role}`,
  );
  await refusedUntil(`grant usage, create on schema svc_catalog to ${role}`);
  const doctor = await project.svc('doctor', '--json');
  expect(doctor.json['findings']).toContainEqual(
    expect.objectContaining({ id: 'migrations', cause: expect.stringContaining('cannot write the tables svc_catalog.migration') }),
  );
  await refusedUntil(`grant select, insert, update, delete on svc_catalog.migration, svc_catalog.seed to ${role}`);
  expect((await project.svc('deploy')).code).toBe(0);
});
