import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.ts';
import { WAIT } from '../../../test/support/wait.ts';
import type { CatalogFingerprint, Source } from '../../backend/backend.ts';
import { ROOT } from '../../util/path.ts';
import { postgresql } from './index.ts';

let database: TestDatabase;
let source: Source;

beforeAll(async () => {
  database = await testDatabase();
  source = await postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: database.url } }, ROOT), {
    ...{ sourceName: 'test', environment: {}, usePreparedStatements: true, maxConnections: 5 },
  });
  await source.runSql(
    'create table author (id int primary key, name text, n numeric); create table item (id int primary key, name text); create sequence s; create extension file_fdw; create server files foreign data wrapper file_fdw',
    {},
  );
});
afterAll(async () => {
  await source?.close();
  await database?.drop();
});

const fingerprint = async (before: CatalogFingerprint | null = null): Promise<CatalogFingerprint> => {
  const found = await source.catalogFingerprint?.(before);
  if (found === undefined) throw new Error('there is no fingerprint');
  return found;
};
/** Returns the introspected catalog as text. */
const catalog = async (): Promise<string> =>
  JSON.stringify(await source.introspect(), (_, value: unknown) => (value instanceof Map ? [...(value as Map<string, object>)] : value));

const DEFINITIONS = [
  'create table article (id int primary key, author_id int)',
  'alter table article add note text',
  'alter table article rename note to remark',
  "alter table article alter remark set default 'x'",
  'alter table article alter remark drop default',
  'alter table article alter author_id set not null',
  'alter table article alter remark type varchar(9)',
  'alter table article add constraint by_author foreign key (author_id) references author (id) not valid',
  'alter table article validate constraint by_author',
  'alter table article add unique (remark)',
  'alter table article enable row level security',
  "comment on table article is 'said'",
  "comment on column article.id is 'said too'",
  'comment on table article is null',
  'alter table article rename to piece',
  'create schema other; alter table piece set schema other',
  'alter schema other rename to another',
  'create view seen as select id, name from author',
  'create or replace view seen as select id, name from author limit 1',
  'create function half(a int) returns int language sql immutable as $$ select a / 2 $$',
  'alter function half stable',
  "comment on function half is 'of it'",
  'create function ignore() returns trigger language plpgsql as $$ begin return null; end $$; create trigger ignoring before insert on author for each row execute function ignore()',
  'drop trigger ignoring on author',
  'create table heir () inherits (author)',
  'alter table heir no inherit author',
  'create domain few as int; alter table author add amount few',
  'alter domain few set default 3',
  'alter table author drop amount',
  'drop function half; drop function ignore',
  "create foreign table lines (line text) server files options (filename '/dev/null')",
  'alter foreign table lines alter line set not null',
  'create function third(a int) returns int language sql immutable as $$ select a / 3 $$',
  'alter extension file_fdw add function third(int)',
  'alter extension file_fdw drop function third(int)',
  'drop table another.piece',
];

it('has a new fingerprint after every change of the catalog', async () => {
  let [before, catalogBefore] = [await fingerprint(), await catalog()];
  for (const definition of DEFINITIONS) {
    await source.runSql(definition, {});
    const [after, catalogAfter] = [await fingerprint(before), await catalog()];
    expect([definition, catalogAfter === catalogBefore, after.definitions === before.definitions]).toEqual([definition, false, false]);
    [before, catalogBefore] = [after, catalogAfter];
  }
});

/** Changes that comparisons of migrations find, but introspection does not. */
const OTHER_DEFINITIONS = [
  'create table other (id int, label text)',
  'create index by_label on other (label)',
  'alter index by_label rename to by_name',
  'create statistics pairs on id, label from other',
  'alter statistics pairs set statistics 9',
  'alter sequence s increment 5',
  'alter sequence s owned by other.id',
  'create policy own on other using (true)',
  'alter policy own on other using (id > 1)',
  "create type mood as enum ('a')",
  "alter type mood add value 'b'",
  "alter type mood rename value 'b' to 'c'",
  'create type span as range (subtype = int4)',
  'create function next_of(int, int) returns int language sql immutable as $$ select $1 + $2 $$',
  'create function other_of(int, int) returns int language sql immutable as $$ select $1 - $2 $$',
  'create aggregate total(int) (sfunc = next_of, stype = int)',
  'create or replace aggregate total(int) (sfunc = other_of, stype = int)',
  'create rule quiet as on delete to other do instead nothing',
  'alter rule quiet on other rename to silent',
  'alter table other disable rule silent',
  'grant select on other to public',
  'grant update (label) on other to public',
  'revoke execute on function next_of from public',
  'revoke usage on type mood from public',
  'grant create on schema public to public',
  'alter table other set (fillfactor = 50)',
  'alter server files rename to others',
  'drop policy own on other',
  'drop statistics pairs',
  'drop index by_name',
];

it('has a new fingerprint after every change that comparisons of migrations find', async () => {
  let before = await fingerprint();
  const missed: string[] = [];
  for (const definition of OTHER_DEFINITIONS) {
    await source.runSql(definition, {});
    const after = await fingerprint(before);
    if (after.definitions === before.definitions) missed.push(definition);
    before = after;
  }
  expect(missed).toEqual([]);
});

it('keeps its fingerprint while rows are written', async () => {
  const first = await fingerprint();
  await source.runSql(`insert into item select i, 'x' from generate_series(1, 500) i; update item set name = 'y'; select nextval('s')`, {});
  await source.runSql('analyze item', {});
  expect((await fingerprint(first)).definitions).toBe(first.definitions);
});

it('does not compute the fingerprint again without writes', async () => {
  // The snapshot is that of the whole server. Other tests write to their own databases, so the test waits for two calls without a write
  // between them.
  await vi.waitFor(async () => {
    const { seen } = await fingerprint();
    expect(await fingerprint({ seen, definitions: 'not computed again' })).toEqual({ seen, definitions: 'not computed again' });
  }, WAIT);
});

it('has a new fingerprint after transactions that commit in another order than they began', async () => {
  const first = await fingerprint();
  let second = first;
  await source.transaction({}, async (early) => {
    await early.runSql('create table early (id int)', {});
    await source.runSql('create table late (id int)', {});
    second = await fingerprint(first);
  });
  const third = await fingerprint(second);
  expect(new Set([first, second, third].map(({ definitions }) => definitions)).size).toBe(3);
});
