import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { runSql, testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

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
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'cleaner',
    permission: { columns: ['id'], filter: {} },
  });
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:
    - table: {schema: public, name: author}
      select_permissions:
      - {role: cleaner, permission: {columns: [id], filter: {}}}
      - {role: user, permission: {columns: [id, name], filter: {}}}
      delete_permissions: [{role: cleaner, permission: {filter: {}}}]
    - table: {schema: public, name: article}
`,
    'migrations/default/1_article/up.sql': 'create table article (id int primary key);\ninsert into author values (1);\n',
  });
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

it('describes a deployment and changes nothing', async () => {
  const planned = await project.svc('plan', '--json', '--detailed-exit-code', '--out', 'plan.json');
  expect(planned.code).toBe(3);
  const { plan } = planned.json as { plan: { schemas: unknown[]; changes: unknown[]; inconsistencies: unknown } };
  expect(plan).toMatchObject({ migrations: [{ version: '1', state: 'tried' }], inconsistencies: { before: [], after: [] } });
  expect(plan.changes).toContainEqual(
    expect.objectContaining({ object: 'select permission user on public.author', details: ['columns +name -email'] }),
  );
  expect(plan.schemas).toContainEqual({ role: 'user', kind: 'breaking', message: 'author.email was removed.' });
  expect(plan.schemas).toContainEqual({ role: 'user', kind: 'safe', message: 'author.name was added.' });
  // Nothing with permissions for this role refers to integers in the changes.
  expect(plan.schemas.filter((change) => (change as { readonly role: string }).role === 'cleaner')).toEqual([
    { role: 'cleaner', kind: 'safe', message: 'author_mutation_response was added.' },
    { role: 'cleaner', kind: 'safe', message: 'mutation_root was added.' },
  ]);
  // A new input type is reported once.
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
    blocks reads and writes of public.author (access exclusive lock)
    rewrites all rows of public.author
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

it('reports future inconsistencies as errors, except those that a new remote schema may resolve', async () => {
  const other = projectFolder(service);
  try {
    const write = (tables: string, more = '') =>
      other.write({
        'config.yaml': 'version: 3\n',
        'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n${tables}${more}`,
      });
    const author = '    - table: {schema: public, name: author}\n';
    write(`${author}    - table: {schema: public, name: missing}\n`);
    const found = await other.svc('plan', '--json', '--detailed-exit-code');
    expect(found.code).toBe(4);
    expect(found.json).toMatchObject({
      ok: false,
      errors: [{ code: 'inconsistent', file: 'metadata/databases/databases.yaml', line: 6, message: expect.stringContaining('missing') }],
      plan: { inconsistencies: { before: [], after: [expect.stringContaining('missing')], not_known: [] } },
    });
    expect((await other.svc('plan', '--allow-inconsistent')).code).toBe(0);
    // Role clerk could write and not read, and may read now.
    await service.metadata('pg_create_insert_permission', { table: 'author', role: 'clerk', permission: { columns: ['id'], check: {} } });
    const permissions = `      insert_permissions: [{role: clerk, permission: {columns: [id], check: {}}}]
      select_permissions: [{role: clerk, permission: {columns: [id], filter: {}}}]
      remote_relationships:
        - name: far
          definition: {to_remote_schema: {remote_schema: far, lhs_fields: [id], remote_field: {far: {arguments: {id: $id}}}}}
`;
    write(author + permissions);
    other.write({ 'metadata/remote_schemas.yaml': '- {name: far, definition: {url: "http://127.0.0.1:1/graphql"}}\n' });
    other.write({
      'metadata/query_collections.yaml': '- {name: q, definition: {queries: [{name: far, query: "{ far(id: 1) }"}]}}\n',
      'metadata/rest_endpoints.yaml':
        '- {name: far, url: far, methods: [GET], definition: {query: {collection_name: q, query_name: far}}}\n',
    });
    const partial = await other.svc('plan', '--json');
    expect(partial.code).toBe(0);
    const { plan } = partial.json as {
      plan: { inconsistencies: { after: string[]; not_known: string[] }; schemas: { role: string; kind: string; message: string }[] };
    };
    expect(plan.inconsistencies.after).toEqual([]);
    expect(plan.inconsistencies.not_known.map((text) => text.split(':')[0]).sort()).toEqual(
      expect.arrayContaining(['query_collections', 'remote_relationship']),
    );
    const ofClerk = plan.schemas.filter(({ role }) => role === 'clerk');
    expect(ofClerk).toContainEqual({ role: 'clerk', kind: 'safe', message: 'query_root.author was added.' });
    expect(ofClerk.filter(({ kind }) => kind === 'breaking')).toEqual([]);
  } finally {
    other.remove();
  }
});

it('plans again if another run applies the migrations meanwhile', async () => {
  const its = await startTestService();
  const other = projectFolder(its);
  try {
    other.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`,
      'migrations/default/1_slow/up.sql': 'create table slow (id int); select pg_sleep(3);\n',
    });
    const deployed = other.svc('deploy', '--json');
    const running = () => its.sql("select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()");
    await expect.poll(running, WAIT).toMatchObject({ result: [['count'], ['1']] });
    expect(await other.svc('plan', '--json')).toMatchObject({ code: 0, json: { plan: { migrations: [] } } });
    expect(await deployed).toMatchObject({ code: 0 });
  } finally {
    other.remove();
    await its.stop();
  }
});

it('tries the migrations of a new source in its database, and compares its schema', async () => {
  const database = await testDatabase();
  const its = await startTestService({}, { FAR_URL: database.url });
  const other = projectFolder(its);
  const source = (variable: string) =>
    `- name: far\n  kind: postgres\n  configuration: {extensions_schema: ext, connection_info: {database_url: {from_env: ${variable}}}}\n  tables: [{table: {schema: public, name: thing}}]\n`;
  try {
    other.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml': source('FAR_URL'),
      'migrations/far/1_thing/up.sql': 'create schema ext; create table thing (id int primary key);\n',
      'migrations/far/2_column/up.sql': 'alter table thing add name text;\n',
    });
    const planned = await other.svc('plan', '--json');
    expect(planned.json).toMatchObject({
      ok: true,
      plan: { migrations: [{ state: 'tried' }, { state: 'tried' }], inconsistencies: { after: [] }, untried_sources: [] },
    });
    expect((planned.json as { plan: { schemas: unknown[] } }).plan.schemas).toContainEqual(
      expect.objectContaining({ role: 'admin', message: 'query_root.thing was added.' }),
    );
    expect(await its.metadata('export_metadata', {})).toMatchObject({ sources: [{ name: 'default' }] });

    other.write({ 'migrations/far/2_column/up.sql': 'alter table thing add name nonsense;\n' });
    const [failed, refused] = [await other.svc('plan', '--json'), await other.svc('deploy', '--json')];
    const missing = { file: 'migrations/far/2_column/up.sql', line: 1, message: expect.stringContaining('"nonsense" does not exist') };
    expect([failed.code, refused.code]).toEqual([1, 1]);
    expect([failed.json['errors'], refused.json['errors']]).toEqual([
      [expect.objectContaining(missing)],
      expect.arrayContaining([expect.objectContaining(missing)]),
    ]);
    // The first migration is recorded in the database now, which a plan for another service with that source sees.
    await its.metadata('pg_drop_source', { name: 'far', cascade: true });
    other.write({ 'migrations/far/2_column/up.sql': 'alter table thing add name text;\n' });
    expect((await other.svc('plan', '--json')).json).toMatchObject({ plan: { migrations: [{ version: '2', state: 'tried' }] } });

    other.write({ 'metadata/databases/databases.yaml': source('UNSET_URL') });
    const unset = [await other.svc('plan', '--json'), await other.svc('deploy', '--json')];
    for (const each of unset) {
      expect(each.code).not.toBe(0);
      expect(JSON.stringify(each.json['errors'])).toContain('UNSET_URL');
    }
  } finally {
    await its.stop();
    await database.drop();
    other.remove();
  }
});

it('runs migrations in the database that the project configures for a source of the service', async () => {
  const database = await testDatabase();
  const its = await startTestService({}, { OTHER_URL: database.url });
  const other = projectFolder(its);
  try {
    other.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml':
        '- name: default\n  kind: postgres\n  configuration: {connection_info: {database_url: {from_env: OTHER_URL}}}\n  tables: [{table: {schema: public, name: moved}}]\n',
      'migrations/default/1_moved/up.sql': 'create table moved (id int primary key);\n',
    });
    const planned = await other.svc('plan', '--json');
    expect(planned.json).toMatchObject({
      ok: true,
      plan: { migrations: [{ state: 'tried' }], inconsistencies: { after: [] }, untried_sources: [] },
    });
    expect(await other.svc('deploy', '--json')).toMatchObject({ code: 0, json: { ok: true } });
    expect(await its.graphql('{ moved { id } }')).toEqual({ data: { moved: [] } });
    await runSql(database.url, 'drop table moved');
  } finally {
    await its.stop();
    await database.drop();
    other.remove();
  }
});
