/** Migrations of a Citus source run on the coordinator, one at a time. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('migrations of Citus', () => {
  let service: TestService;
  let project: ProjectFolder;
  beforeAll(async () => {
    service = await startTestService();
    project = projectFolder(service);
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml':
        '- name: spread\n  kind: dbc\n  configuration: {connection_info: {database_url: {from_env: SVC_GRAPHQL_DATABASE_URL}}}\n  tables: [{table: {schema: public, name: item}}]\n',
      'migrations/spread/1_item/up.sql': "create table item (id int primary key, name text); insert into item values (1, 'it''s');",
      'migrations/spread/1_item/down.sql': 'drop table item;',
      'migrations/spread/2_more/up.sql': "alter table item add column more int; insert into item values (2, 'two', 2);",
      'migrations/spread/2_more/down.sql': 'delete from item where id = 2; alter table item drop column more;',
    });
  });
  afterAll(async () => {
    await service?.stop();
    project?.remove();
  });

  it('can be applied, listed and reverted', async () => {
    const deployed = await project.svc('deploy', '--json');
    expect(deployed.json, JSON.stringify(deployed.json)).toMatchObject({ ok: true, migrations: [{ version: '1' }, { version: '2' }] });
    const rows = '{ item(order_by: {id: asc}) { name } }';
    expect(await service.graphql(rows)).toEqual({ data: { item: [{ name: "it's" }, { name: 'two' }] } });
    const back = await project.svc('migrate', 'apply', '--down', '1', '--database-name', 'spread', '--json');
    expect(back.json, JSON.stringify(back.json)).toMatchObject({ ok: true });
    expect(await service.graphql(rows)).toEqual({ data: { item: [{ name: "it's" }] } });
    const status = await project.svc('migrate', 'status', '--json');
    expect(status.json['databases']).toMatchObject([{ migrations: [{ status: 'applied' }, { status: 'pending' }] }]);
  });

  it('fail at once if another session holds the lock', async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    try {
      await client.query('select pg_advisory_lock(7329650142863)');
      const refused = await project.svc('migrate', 'apply', '--json', '--lock-timeout', '1');
      expect(refused.json, JSON.stringify(refused.json)).toMatchObject({ ok: false, errors: [{ code: 'locked' }] });
    } finally {
      await client.end();
    }
    const applied = await project.svc('migrate', 'apply', '--json');
    expect(applied.json, JSON.stringify(applied.json)).toMatchObject({ ok: true });
  });
});
