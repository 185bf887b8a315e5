import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe.runIf(DEEP && hasMariadb())('migrations of MariaDB', () => {
  let mariadb: TestMariadb;
  let service: TestService;
  let project: ProjectFolder;
  beforeAll(async () => {
    mariadb = await startMariadb();
    await mariadb.run('create database shop');
    service = await startTestService({}, { SHOP: mariadb.url('shop') });
    project = projectFolder(service);
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml':
        '- name: shop\n  kind: dbb\n  configuration: {connection_info: {connection_string: {from_env: SHOP}}}\n  tables: [{table: item}]\n',
      'migrations/shop/1_item/up.sql': "create table item (id int primary key, name text); insert into item values (1, 'it''s');",
      'migrations/shop/1_item/down.sql': 'drop table item;',
      'migrations/shop/2_broken/up.sql': 'create table other (id int); select nothing;',
    });
  });
  afterAll(async () => {
    await service?.stop();
    await mariadb?.stop();
    project?.remove();
  });

  it('tells what began and did not end, because definitions commit', async () => {
    const half = await project.svc('deploy', '--json');
    expect(half.json, JSON.stringify(half.json)).toMatchObject({
      ok: false,
      migrations: [{ version: '1', outcome: 'run' }],
      done: ['sources'],
    });
    const status = await project.svc('migrate', 'status', '--json');
    expect(status.json['databases']).toMatchObject([{ migrations: [{ status: 'applied' }, { status: 'dirty' }] }]);
    const refused = await project.svc('migrate', 'apply', '--json');
    expect(refused.json['errors']).toMatchObject([{ code: 'dirty' }]);
    expect(JSON.stringify(refused.json['errors'])).toContain('svc migrate delete --server --version 2 --database-name shop');
    const forgotten = await project.svc('migrate', 'delete', '--server', '--version', '2', '--database-name', 'shop', '--yes');
    expect(forgotten.code).toBe(0);
    project.write({ 'migrations/shop/2_broken/up.sql': "insert into item values (2, 'two');" });
    const deployed = await project.svc('deploy', '--json');
    expect(deployed.json, JSON.stringify(deployed.json)).toMatchObject({ ok: true, migrations: [{ version: '2', outcome: 'run' }] });
    expect(await service.graphql('{ item(order_by: {id: asc}) { name } }')).toEqual({
      data: { item: [{ name: "it's" }, { name: 'two' }] },
    });
  });

  it('are written down in tables that nobody is asked to track', async () => {
    expect(await service.metadata('dbb_get_source_tables', { source: 'shop' })).toEqual([{ name: 'item' }, { name: 'other' }]);
    const details = await service.metadata('dbb_get_source_tables', { source: 'shop', details: true });
    expect(JSON.stringify(details)).not.toContain('svc_');
  });

  it('keeps how the files name tables', async () => {
    const file = 'metadata/databases/databases.yaml';
    const before = project.read(file);
    const compared = await project.svc('metadata', 'diff', '--json');
    expect(compared.json, JSON.stringify(compared.json)).toMatchObject({ ok: true });
    expect((await project.svc('metadata', 'export')).code).toBe(0);
    expect(project.read(file)).toBe(before);
    const permission = { columns: ['id'], filter: {} };
    await service.metadata('dbb_create_select_permission', { source: 'shop', table: 'item', role: 'user', permission });
    expect((await project.svc('metadata', 'export')).code).toBe(0);
    expect(project.read(file)).toMatch(/table: item\b/);
    expect(project.read(file)).toContain('role: user');
  });

  it('verifies those of other sources', async () => {
    expect((await project.svc('migrate', 'verify', '--json')).json['errors']).toMatchObject([{ code: 'not-supported' }]);
    await service.metadata('pg_add_source', {
      name: 'default',
      configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
    });
    project.write({
      'migrations/default/1_note/up.sql': 'create table note (id int primary key);',
      'migrations/default/1_note/down.sql': 'drop table note;',
    });
    const both = await project.svc('migrate', 'verify', '--json');
    expect(both.json, JSON.stringify(both.json)).toMatchObject({ ok: true, verified: ['1'] });
    expect(JSON.stringify(both)).toContain('definitions of the source shop cannot be rolled back');
  });
});
