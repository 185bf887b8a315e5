import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.ts';
import type { CatalogMark, Source } from '../../backend/backend.ts';
import { ROOT } from '../../util/path.ts';
import { pg } from './index.ts';

let database: TestDatabase;
let source: Source;

beforeAll(async () => {
  database = await testDatabase();
  source = await pg.connect(pg.configuration.decode({ connection_info: { database_url: database.url } }, ROOT), {
    ...{ sourceName: 'test', environment: {}, usePreparedStatements: true, maxConnections: 5 },
  });
  await source.runSql(
    'create table author (id int primary key, name text, n numeric); create table item (id int primary key, name text); create sequence s',
    {},
  );
});
afterAll(async () => {
  await source?.close();
  await database?.drop();
});

const mark = async (before: CatalogMark | null = null): Promise<CatalogMark> => {
  const found = await source.catalogMark?.(before);
  if (found === undefined) throw new Error('there is none');
  return found;
};
/** What introspection says, as a text. */
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
  'drop table another.piece',
];

it('is another one after whatever changes the catalog', async () => {
  let [known, said] = [await mark(), await catalog()];
  for (const definition of DEFINITIONS) {
    await source.runSql(definition, {});
    const [next, now] = [await mark(known), await catalog()];
    expect([definition, now === said, next.definitions === known.definitions]).toEqual([definition, false, false]);
    [known, said] = [next, now];
  }
});

it('stays the same while rows are written, and does not count again while nothing is', async () => {
  const first = await mark();
  await source.runSql(`insert into item select i, 'x' from generate_series(1, 500) i; update item set name = 'y'; select nextval('s')`, {});
  await source.runSql('analyze item', {});
  const second = await mark(first);
  expect(second.definitions).toBe(first.definitions);
  expect(await mark({ seen: second.seen, definitions: 'what was counted' })).toEqual({
    seen: expect.anything() as string,
    definitions: expect.stringMatching(/^what was counted$|^0 /) as string,
  });
});

it('is another one after definitions that are seen in another order than they began', async () => {
  const first = await mark();
  let second = first;
  await source.transaction({}, async (early) => {
    await early.runSql('create table early (id int)', {});
    await source.runSql('create table late (id int)', {});
    second = await mark(first);
  });
  const third = await mark(second);
  expect(new Set([first, second, third].map(({ definitions }) => definitions)).size).toBe(3);
});
