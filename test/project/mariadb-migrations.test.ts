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
    await mariadb.run('create database shop; create database trial character set utf8mb4');
    service = await startTestService({}, { SHOP: mariadb.url('shop'), TRIAL: mariadb.url('trial') });
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

  it('report an interrupted migration, because DDL commits implicitly', async () => {
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

  it('cannot be written from a difference', async () => {
    const trial = { name: 'mirror', configuration: { connection_info: { connection_string: { from_env: 'TRIAL' } } } };
    await service.metadata('dbb_add_source', trial);
    const create = ['migrate', 'create', 'next', '--database-name', 'shop', '--from-diff', '--from-source', 'mirror'];
    expect((await project.svc(...create, '--json')).json['errors']).toMatchObject([
      { code: 'not-supported', message: '--from-diff does not support sources of the kind "dbb"' },
    ]);
    await service.metadata('dbb_drop_source', { name: 'mirror' });
  });

  it('count as not run if MariaDB rejects them before any effect', async () => {
    const forget = ['migrate', 'delete', '--server', '--version', '3', '--database-name', 'shop', '--yes'];
    const run = async (sql: string): Promise<string> => {
      project.write({ 'migrations/shop/3_third/up.sql': sql });
      return JSON.stringify((await project.svc('migrate', 'apply', '--json')).json['errors']);
    };
    for (const sql of ["-- it's\ncreat table third (id int);", "insert into item values (3, 'a;b', 1); create table third (id int);"])
      expect(await run(sql)).toContain('none of its statements was run');
    // The last of them was not run and does not block; a part of this one is done.
    expect(await run('create table third (id int); creat;')).toContain('is marked dirty');
    await project.svc(...forget);
    expect(await run('drop table third, nothing;')).toContain('is marked dirty');
    await project.svc(...forget);
    project.write({
      'migrations/shop/3_third/up.sql': 'create table third (id int);',
      'migrations/shop/3_third/down.sql': 'drop table third; drop table nothing;',
    });
    expect((await project.svc('migrate', 'apply', '--json')).json).toMatchObject({ ok: true });
    const down = async (): Promise<unknown> => {
      await project.svc('migrate', 'apply', '--down', '1', '--json');
      return (await project.svc('migrate', 'status', '--json')).json['databases'];
    };
    expect(await down()).toMatchObject([{ migrations: [{}, {}, { status: 'dirty' }] }]);
    await project.svc('migrate', 'delete', '--version', '3', '--database-name', 'shop', '--yes');
  });

  it('can be tried in a scratch database', async () => {
    await service.metadata('dbb_add_source', {
      name: 'trial',
      configuration: { connection_info: { connection_string: { from_env: 'TRIAL' } } },
    });
    project.write({ 'migrations/shop/2_broken/down.sql': 'delete from item; create table left_over (id int);' });
    const verified = await project.svc('migrate', 'verify', '--database-name', 'shop', '--scratch', 'trial', '--json');
    expect(verified.json, JSON.stringify(verified.json)).toMatchObject({ verified: ['1'] });
    expect(JSON.stringify(verified.json['errors'])).toContain('remains after down: table left_over');
    expect(JSON.stringify(await service.metadata('dbb_get_source_tables', { source: 'trial' }))).not.toContain('"trial"');
    await service.metadata('dbb_drop_source', { name: 'trial' });
  });

  it('are recorded in tables that are not offered for tracking', async () => {
    expect(await service.metadata('dbb_get_source_tables', { source: 'shop' })).toEqual([{ name: 'item' }, { name: 'other' }]);
    const details = await service.metadata('dbb_get_source_tables', { source: 'shop', details: true });
    expect(JSON.stringify(details)).not.toContain('svc_');
  });

  it('preserve the table names of the files', async () => {
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

  it('can be squashed as MariaDB parses them', async () => {
    project.write({
      'migrations/shop/7_mark/up.sql':
        "create trigger mark before insert on item for each row begin set new.name = concat(new.name, '\\'; -- '); end # it's the end",
      'migrations/shop/8_note/up.sql': "create table `it's; commit; a note` (id int primary key)",
    });
    const squashed = await project.svc('migrate', 'squash', '--from', '7', '--to', '8', '--database-name', 'shop', '--yes', '--json');
    expect(squashed.json, JSON.stringify(squashed.json)).toMatchObject({ ok: true, squashed: ['7', '8'] });
    expect(JSON.stringify(squashed.json)).not.toContain('cannot share a transaction');
    expect((await project.svc('migrate', 'apply', '--json')).json).toMatchObject({ ok: true });
    expect(JSON.stringify(await service.metadata('dbb_get_source_tables', { source: 'shop' }))).toContain("it's; commit; a note");
    await mariadb.run("insert into shop.item values (70, 'x'); drop trigger shop.mark; drop table shop.`it's; commit; a note`");
    expect(await service.graphql('{ item_by_pk(id: 70) { name } }')).toEqual({ data: { item_by_pk: { name: "x'; -- " } } });
  });

  it('can be verified with those of other sources', async () => {
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
    expect(JSON.stringify(both)).toContain('DDL of the source shop cannot be rolled back');
  });
});
