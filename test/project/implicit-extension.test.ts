import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { runSql, testDatabase, testServerUrl } from '../support/postgres.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let project: ProjectFolder;
beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`,
    'migrations/default/1_a/up.sql':
      '-- crypt(x) in a comment\ncreate table a (id uuid primary key default public.gen_random_uuid(), secret text);\n',
    'migrations/default/2_b/up.sql':
      "create function sealed(text) returns text language sql as $$ select crypt($1, gen_salt('bf', 4)) $$;\n",
  });
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

const installed = async (): Promise<Json | undefined> => {
  const query = "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pgcrypto'";
  const answer = (await service.sql(query)) as JsonObject;
  return answer['result'];
};

it('creates pgcrypto if migrations need it, and announces it first', async () => {
  const planned = await project.svc('plan', '--json');
  expect(planned.json).toMatchObject({ ok: true, plan: { migrations: [{ state: 'tried' }, { state: 'tried' }] } });
  expect(planned.stdout).toContain(
    'pgcrypto in the schema public of default, which its SQL needs for public.gen_random_uuid, crypt, gen_salt',
  );
  expect((await project.svc('doctor')).stdout).toContain(
    '[implicit-extension] svc deploy creates pgcrypto in the schema public of default',
  );
  expect(await installed()).toEqual([['nspname']]);

  const deployed = await project.svc('deploy');
  expect(deployed).toMatchObject({ code: 0 });
  expect(deployed.stdout + deployed.stderr).toContain('created pgcrypto in the schema public of default');
  expect(await installed()).toEqual([['nspname'], ['public']]);
});

it("prints the statement to run if the source's role may not create pgcrypto", async () => {
  const role = `svc_weak_${randomBytes(4).toString('hex')}`;
  const database = await testDatabase();
  await runSql(
    database.url,
    `create role ${role} login password 'weak'; create schema svc_catalog authorization ${role}; grant all on schema public to ${role}`,
  );
  const url = new URL(database.url);
  url.username = role;
  url.password = 'weak';
  const weak = await startTestService({}, { WEAK_URL: url.href });
  const other = projectFolder(weak);
  try {
    other.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml':
        '- name: weak\n  kind: postgres\n  configuration: {connection_info: {database_url: {from_env: WEAK_URL}}}\n  tables: []\n',
      'migrations/weak/1_a/up.sql': "select digest('a', 'md5');\n",
    });
    const message = 'create extension if not exists pgcrypto with schema "public";';
    expect((await other.svc('plan', '--json')).json['errors']).toEqual([
      expect.objectContaining({ message: expect.stringContaining('pgcrypto cannot be created') }),
    ]);
    const refused = await other.svc('deploy', '--json');
    expect(refused.code).toBe(1);
    expect(refused.json['errors']).toContainEqual(
      expect.objectContaining({ code: 'extension', message: expect.stringContaining(message) }),
    );
  } finally {
    await weak.stop();
    other.remove();
    await runSql(database.url, `drop owned by ${role}`);
    await database.drop();
    await runSql(testServerUrl(), `drop role ${role}`);
  }
});
