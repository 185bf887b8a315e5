import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let databases: readonly TestDatabase[];
let project: ProjectFolder;
beforeAll(async () => {
  [service, ...databases] = await Promise.all([startTestService(), testDatabase(), testDatabase()]);
  for (const [i, name] of ['trial', 'other'].entries())
    await service.metadata('pg_add_source', { name, configuration: { connection_info: { database_url: databases[i]?.url ?? '' } } });
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': ['default', 'trial']
      .map((name) => `- name: ${name}\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`)
      .join(''),
    'migrations/default/1_author/up.sql':
      "create type mood as enum ('sad'); create table author (id serial primary key, name text, age text, mood mood);",
    'migrations/default/1_author/down.sql': 'drop table author; drop type mood;',
  });
  expect((await project.svc('migrate', 'apply', '--json')).json).toMatchObject({ ok: true });
});
afterAll(async () => {
  await service?.stop();
  for (const database of databases ?? []) await database.drop();
  project?.remove();
});

const folders = (): readonly string[] => readdirSync(join(project.root, 'migrations/default')).sort();

async function create(name: string, ...options: string[]): Promise<JsonObject> {
  return (await project.svc('migrate', 'create', name, '--database-name', 'default', '--from-diff', ...options, '--json')).json;
}

it('writes what was changed by hand since the last migration, and marks it as applied', async () => {
  await service.sql("alter type mood add value 'happy'", { no_transaction: true });
  await service.sql(`alter table author add email text; alter table author alter mood set default 'happy'; create table book (id bigint generated always as identity primary key, author_id int not null references author (id));
    create index book_author on book (author_id)`);
  // The service installs triggers for event triggers.
  await service.metadata('pg_track_table', { table: 'author' });
  await service.metadata('pg_create_event_trigger', {
    name: 'changed',
    table: 'author',
    webhook: 'http://localhost:1',
    insert: { columns: '*' },
  });
  const created = await create('books', '--scratch', 'trial');
  expect(created, JSON.stringify(created)).toMatchObject({
    ok: true,
    warnings: [expect.stringContaining('down.sql: not done: PostgreSQL cannot remove')],
  });
  expect(project.read(`${String(created['folder'])}/up.sql`)).toBe(`-- svc: no-transaction
-- A value that is added to an enum cannot be used in the transaction that adds it.

alter type public.mood add value if not exists 'happy' after 'sad';

create table public.book (
  id bigint generated always as identity not null,
  author_id integer not null,
  constraint book_pkey PRIMARY KEY (id)
);

alter table public.author add column email text;

alter table public.author alter column mood set default 'happy'::public.mood;

CREATE INDEX book_author ON public.book USING btree (author_id);

alter table public.book add constraint book_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.author(id);
`);
  expect(project.read(`${String(created['folder'])}/down.sql`)).toBe(`alter table public.author alter column mood drop default;

-- The rows of the table public.book are lost.
drop table public.book;

-- The values of the column email are lost.
alter table public.author drop column email;

-- Not done: PostgreSQL cannot remove 'happy' from the enum public.mood.
`);
  const status = await project.svc('migrate', 'status', '--database-name', 'default', '--json');
  expect(status.json['databases']).toMatchObject([{ migrations: [{ status: 'applied' }, { status: 'applied' }] }]);
  const before = folders();
  // Not for the source that it is compared with.
  const again = await project.svc('migrate', 'create', 'again', '--from-diff', '--scratch', 'trial');
  expect(again, JSON.stringify(again)).toMatchObject({ code: 0, stdout: expect.stringContaining('no migration was created') });
  expect(folders()).toEqual(before);
});

it('leaves unsafe changes and other objects in comments, and does not mark the migration as applied then', async () => {
  await service.sql('create view names as select name from author; alter table author alter age type int using age::int');
  const created = await create('views', '--scratch', 'trial');
  expect(created['warnings'], JSON.stringify(created)).toEqual([
    'up.sql: not included: view public.names (new)',
    'up.sql: not done: the change of age from text to integer may fail or change values',
    expect.stringContaining('--skip-execution'),
  ]);
  expect(project.read(`${String(created['folder'])}/up.sql`)).toBe(`-- Not included: view public.names (new)

-- Not done: the change of age from text to integer may fail or change values. To do it, remove the comment marks:
-- alter table public.author alter column age type integer using age::text::integer;
`);
  const version = String(created['version']);
  const refused = await create('more', '--scratch', 'trial');
  expect(refused['errors']).toMatchObject([{ code: 'migration', message: expect.stringContaining(`the migration ${version} is pending`) }]);
  expect(
    (await project.svc('migrate', 'apply', '--version', version, '--skip-execution', '--database-name', 'default', '--json')).json,
  ).toMatchObject({ ok: true });
});

it('compares the databases of two sources', async () => {
  await service.sql('create table "Odd one" (id int primary key, "größe" numeric(5,2) not null check ("größe" > 0))', { source: 'other' });
  const created = await create('odd', '--from-source', 'default', '--to-source', 'other');
  const up = project.read(`${String(created['folder'])}/up.sql`);
  expect(up).toContain('create table public."Odd one" (');
  expect(up).toContain('-- Not done: view public.names would have to be dropped with the table public.author.');
  const added = await create('back', '--from-source', 'other');
  expect(project.read(`${String(added['folder'])}/up.sql`)).toContain('drop table public."Odd one";');
});

it.runIf(DEEP)('rejects options that have no meaning together', async () => {
  for (const [message, ...options] of [
    ['--from-diff needs --scratch'],
    ['--scratch and --from-source exclude each other', '--scratch', 'trial', '--from-source', 'other'],
    ['with itself', '--from-source', 'default'],
    ['with itself', '--scratch', 'trial', '--to-source', 'trial'],
    ['--from-server and --from-diff exclude each other', '--scratch', 'trial', '--from-server'],
    ['--from-diff cannot be combined with --up-sql', '--scratch', 'trial', '--up-sql', 'select 1'],
    ['no source "nowhere"', '--from-source', 'nowhere'],
  ] as const) {
    const before = folders();
    const refused = await create('x', ...options);
    expect(refused['errors'], JSON.stringify(refused)).toMatchObject([{ message: expect.stringContaining(message) }]);
    expect(folders()).toEqual(before);
  }
  const lone = await project.svc('migrate', 'create', 'x', '--database-name', 'default', '--from-source', 'other', '--json');
  expect(lone.json['errors']).toMatchObject([{ code: 'usage', message: '--from-source needs --from-diff' }]);
});
