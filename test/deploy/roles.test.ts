/** The service with only the rights that deploy/compose/roles.sh grants. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runSql, testServerUrl } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const run = randomBytes(4).toString('hex');
const name = (of: string): string => `${of}_${run}`;
const at = (database: string, role?: string, password?: string): string => {
  const url = new URL(testServerUrl());
  url.pathname = `/${database}`;
  if (role !== undefined) [url.username, url.password] = [role, password ?? ''];
  return url.href;
};

/** The statements of the script by database, with unique role names: roles belong to the whole server. */
function statements(): readonly (readonly [database: string, sql: string])[] {
  const script = readFileSync(fileURLToPath(new URL('../../deploy/compose/roles.sh', import.meta.url)), 'utf8');
  const [, sql = ''] = /<<'SQL'\n([\s\S]*)\nSQL\n/.exec(script) ?? [];
  const own = sql
    .replaceAll(/\b(svc_meta|svc_app|app_owner|app)\b/g, (word) => name(word))
    .replaceAll(":'meta_password'", "'meta'")
    .replaceAll(":'app_password'", "'app'");
  const [first = '', ...parts] = own.split(/^\\connect /m);
  return [
    ['postgres', first],
    ...parts.map((part): readonly [string, string] => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n'))]),
  ];
}

let service: TestService;

beforeAll(async () => {
  for (const [database, sql] of statements()) {
    // Databases cannot be created in a transaction of several statements.
    if (database !== 'postgres') await runSql(at(database), sql);
    else for (const statement of sql.split(/;\n/)) await runSql(at(database), statement);
  }
  await runSql(
    at(name('app')),
    `set role ${name('app_owner')};
     create table author (id serial primary key, name text not null);
     create table article (id int generated always as identity primary key, author_id int references author, title text);
     grant trigger on author to ${name('svc_app')};`,
  );
  service = await startTestService({
    DATABASE_URL: at(name('app'), name('svc_app'), 'app'),
    METADATA_DATABASE_URL: at(name('svc_meta'), name('svc_meta'), 'meta'),
  });
  for (const table of ['author', 'article']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_object_relationship', {
    table: 'article',
    name: 'author',
    using: { foreign_key_constraint_on: 'author_id' },
  });
});

afterAll(async () => {
  await service.stop();
  for (const database of ['app', 'svc_meta']) await runSql(at('postgres'), `drop database ${name(database)} with (force)`);
  for (const role of ['app_owner', 'svc_app', 'svc_meta']) await runSql(at('postgres'), `drop role ${name(role)}`);
});

it('reads and writes with the granted rights', async () => {
  const answer = await service.graphql(
    `mutation { insert_article_one(object: {title: "t", author: {data: {name: "Ann"}}}) { id title author { name } }
       update_author(where: {}, _set: {name: "Bea"}) { affected_rows } }`,
  );
  expect(answer).toEqual({
    data: { insert_article_one: { id: 1, title: 't', author: { name: 'Ann' } }, update_author: { affected_rows: 1 } },
  });
  expect(await service.graphql('mutation { delete_article(where: {}) { affected_rows } }')).toEqual({
    data: { delete_article: { affected_rows: 1 } },
  });
});

it('sees tables that their owner creates later', async () => {
  await runSql(at(name('app')), `set role ${name('app_owner')}; create table later (id serial primary key, v text)`);
  await service.metadata('pg_track_table', { table: 'later' });
  expect(await service.graphql('mutation { insert_later_one(object: {v: "x"}) { id v } }')).toEqual({
    data: { insert_later_one: { id: 1, v: 'x' } },
  });
});

it('captures events of a table with the trigger right, and removes the trigger again', async () => {
  const args = { table: 'author', name: 'author_events', webhook: 'http://127.0.0.1:9/', insert: { columns: '*' } };
  await service.metadata('pg_create_event_trigger', args);
  await service.graphql('mutation { insert_author_one(object: {name: "Cid"}) { id } }');
  const logs = (await service.metadata('pg_get_event_logs', { name: 'author_events' })) as readonly { readonly trigger_name: string }[];
  expect(logs).toHaveLength(1);
  await service.metadata('pg_delete_event_trigger', { name: 'author_events' });
  expect(await service.graphql('mutation { insert_author_one(object: {name: "Dee"}) { id } }')).toMatchObject({ data: {} });
});

it('cannot change objects that it does not own', async () => {
  await expect(service.sql('alter table author add column x int')).rejects.toThrow(/must be owner of table author/);
  await expect(service.sql('create table mine (id int)')).rejects.toThrow(/permission denied for schema public/);
  await expect(service.sql("copy author from program 'id'")).rejects.toThrow(/permission denied/);
});
