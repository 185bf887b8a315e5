import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let project: ProjectFolder;
beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  await service.sql('create table author (id int primary key, name text, email text)');
  await service.metadata('pg_track_table', { table: 'author' });
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'user',
    permission: { columns: ['id', 'email'], filter: {} },
  });
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:
    - table: {schema: public, name: author}
      select_permissions: [{role: user, permission: {columns: [id, name], filter: {}}}]
    - table: {schema: public, name: article}
`,
    'migrations/default/1_article/up.sql': 'create table article (id int primary key);\ninsert into author values (1);\n',
  });
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

it('tells what a deployment would do, and leaves everything as it is', async () => {
  const planned = await project.svc('plan', '--json', '--detailed-exit-code', '--out', 'plan.json');
  expect(planned.code).toBe(3);
  const { plan } = planned.json as { plan: { schemas: unknown[]; changes: unknown[]; inconsistencies: unknown } };
  expect(plan).toMatchObject({ migrations: [{ version: '1', state: 'tried' }], inconsistencies: { before: [], after: [] } });
  expect(plan.changes).toContainEqual(
    expect.objectContaining({ object: 'select permission user on public.author', details: ['columns +name -email'] }),
  );
  expect(plan.schemas).toContainEqual({ role: 'user', kind: 'breaking', message: 'author.email was removed.' });
  expect(plan.schemas).toContainEqual({ role: 'user', kind: 'safe', message: 'author.name was added.' });
  // An input that is new is told once.
  expect(
    plan.schemas.filter(
      (change) =>
        JSON.stringify(change).includes('author_bool_exp.name') || JSON.stringify(change).includes('name on input type author_bool_exp'),
    ),
  ).toHaveLength(1);
  expect(await service.graphql('{ author { id } }')).toEqual({ data: { author: [] } });
  expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });

  project.write({ 'migrations/default/2_wide/up.sql': 'alter table author alter id type bigint;\ncreate index on author (name);\n' });
  project.write({ 'migrations/default/3_link/up.sql': 'create table link (author bigint references author);\n' });
  const { stdout } = await project.svc('plan');
  expect(stdout).toContain(`2 wide: tried
    reads and writes of public.author wait meanwhile (access exclusive)
    all rows of public.author are written anew
  default 3 link: tried
`);
  expect((await project.svc('plan', '--no-try')).stdout).toContain('note: no SQL was run: ');
  project.write({ 'metadata/remote_schemas.yaml': '- name: added\n  definition: {url: "http://127.0.0.1:1/graphql"}\n' });
  const partial = await project.svc('plan', '--json');
  expect(partial.json['plan']).toMatchObject({
    inconsistencies: { after: [] },
    roles_not_compared: [],
    untried_sources: [],
    untried_remote_schemas: ['added'],
  });

  project.write({ 'migrations/default/4_broken/up.sql': 'select 1;\n\nselect nothing;\n' });
  const broken = await project.svc('plan', '--json');
  expect(broken.code).toBe(1);
  expect(broken.json['errors']).toEqual([
    expect.objectContaining({ file: 'migrations/default/4_broken/up.sql', line: 3, message: expect.stringContaining('nothing') }),
  ]);
  const refused = await project.svc('deploy', '--plan', 'plan.json', '--json');
  expect(refused.json['errors']).toEqual([expect.objectContaining({ code: 'plan' })]);
});
