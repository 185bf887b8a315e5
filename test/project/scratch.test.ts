import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let other: TestDatabase;
let project: ProjectFolder;
beforeAll(async () => {
  [service, other] = await Promise.all([startTestService(), testDatabase()]);
  await service.metadata('pg_add_source', { name: 'trial', configuration: { connection_info: { database_url: other.url } } });
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`,
    'migrations/default/1_kinds/up.sql': `create schema more; create type more.kind as enum ('a'); create domain label as text; create extension citext;
      create table author (id serial primary key, kind more.kind, name label); create view names as select name from author;
      create function one(author) returns int language sql as 'select 1';
      create aggregate total(int) (sfunc = int4pl, stype = int4);`,
    'migrations/default/1_kinds/down.sql':
      'drop aggregate total(int); drop function one(author); drop view names; drop table author; drop domain label; drop schema more cascade; drop extension citext;',
    'migrations/default/2_index/up.notx.sql': 'create index concurrently names_of on author (name);',
    'migrations/default/2_index/down.sql': '-- svc: no-transaction\ndrop index concurrently names_of;',
    'migrations/default/3_view/up.sql': 'create view more.ids as select id from author;',
  });
});
afterAll(async () => {
  await service?.stop();
  await other?.drop();
  project?.remove();
});

async function left(): Promise<string> {
  const sql = `select string_agg(x, ' ' order by x) from (select nspname || '.' || relname from pg_class c join pg_namespace n on n.oid = relnamespace where nspname !~ '^pg_' and nspname <> 'information_schema'
    union all select extname from pg_extension union all select typname from pg_type t join pg_namespace n on n.oid = typnamespace where nspname = 'public'
    union all select proname from pg_proc p join pg_namespace n on n.oid = pronamespace where nspname = 'public' union all select nspname from pg_namespace where nspname = 'more') as found (x)`;
  return ((await service.sql(sql, { source: 'trial' })) as { result: string[][] }).result[1]?.[0] as string;
}

it('tries all migrations in a scratch database, which is empty again afterwards', async () => {
  expect(await left()).toBe('plpgsql');
  const verified = await project.svc('migrate', 'verify', '--scratch', 'trial', '--json');
  expect(verified.json, JSON.stringify(verified.json)).toMatchObject({
    verified: ['1', '2'],
    errors: [{ code: 'no-down', file: 'migrations/default/3_view' }],
  });
  expect(await left()).toBe('plpgsql');
  expect((await service.sql(`select to_regclass('author')::text`)) as object).toMatchObject({ result: [['to_regclass'], ['NULL']] });
});

it.runIf(DEEP)('rejects a scratch database that is not empty, and the database of the source itself', async () => {
  for (const name of ['default', 'nowhere'])
    expect((await project.svc('migrate', 'verify', '--scratch', name, '--json')).json['errors']).toHaveLength(1);
  for (const [made, kind] of [
    ['create table precious (id int)', 'table'],
    ["create type precious as enum ('a')", 'type'],
    ['create domain precious as text', 'domain'],
  ]) {
    await service.sql(made as string, { source: 'trial' });
    const refused = await project.svc('migrate', 'verify', '--scratch', 'trial', '--json');
    expect(refused.json['errors'], kind).toMatchObject([{ code: 'scratch', message: expect.stringContaining('is not empty') }]);
    expect(await left()).toContain('precious');
    await service.sql(`drop ${kind} precious`, { source: 'trial' });
  }
});

it.runIf(DEEP)('reports whether a squashed migration makes the same schema as the applied ones', async () => {
  project.write({
    'migrations/default/3_view/down.sql': 'drop view more.ids;',
    'migrations/default/4_value/up.sql': "alter type more.kind add value 'b';",
    'migrations/default/5_use/up.sql': "insert into author (kind) values ('b');",
  });
  expect((await project.svc('migrate', 'apply', '--json')).json).toMatchObject({ ok: true });
  const squash = (from: string, to: string) =>
    project.svc('migrate', 'squash', '--from', from, '--to', to, '--scratch', 'trial', '--yes', '--json');
  // A value of an enum cannot be used in the transaction that adds it.
  expect((await squash('4', '5')).json['errors']).toMatchObject([
    { code: 'squash', message: expect.stringContaining('the new migration fails') },
  ]);
  const squashed = await squash('1', '3');
  expect(squashed.json, JSON.stringify(squashed.json)).toMatchObject({ ok: true, squashed: ['1', '2', '3'] });
  expect(JSON.stringify(squashed.json['warnings'])).not.toContain('does not revert everything');
  expect((await project.svc('migrate', 'status')).stdout).toMatch(/3 +squashed +applied/);
  expect(await left()).toBe('plpgsql');
});
