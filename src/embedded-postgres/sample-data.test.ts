import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/support/postgres.ts';
import { sampleTablesMetadata } from './sample-data/metadata.ts';
import { loadSampleData } from './sample-data.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

it('loads the whole store once', async () => {
  expect(await loadSampleData(database.url)).toBe(true);
  const counts = await client.query(`select
    (select count(*)::int from artist) as artists, (select count(*)::int from album) as albums, (select count(*)::int from track) as tracks,
    (select count(*)::int from playlist_track) as playlist_tracks, (select count(*)::int from invoice_line) as invoice_lines`);
  expect(counts.rows).toEqual([{ artists: 275, albums: 347, tracks: 3503, playlist_tracks: 8715, invoice_lines: 2240 }]);
  const wrong = await client.query(
    `select invoice_id from invoice join invoice_line using (invoice_id) group by invoice_id having sum(unit_price * quantity) <> total`,
  );
  expect(wrong.rows).toEqual([]);
  const added = await client.query(`insert into artist (name) values ('New') returning artist_id`);
  expect(added.rows).toEqual([{ artist_id: 276 }]);

  expect(await loadSampleData(database.url)).toBe(false);
});

it('does not change a database with a table', async () => {
  const other = await testDatabase();
  const visitor = new pg.Client({ connectionString: other.url });
  await visitor.connect();
  await visitor.query('create table mine (id int)');
  expect(await loadSampleData(other.url)).toBe(false);
  expect((await visitor.query(`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`)).rows).toEqual([
    { relname: 'mine' },
  ]);
  await visitor.end();
  await other.drop();
});

it('defines relationships by existing foreign keys', async () => {
  const tables = sampleTablesMetadata() as unknown as readonly {
    table: { name: string };
    object_relationships: readonly { using: { foreign_key_constraint_on: string } }[];
    array_relationships: readonly { name: string; using: { foreign_key_constraint_on: { column: string; table: { name: string } } } }[];
  }[];
  const keys = await client.query<{
    table: string;
    column: string;
    target: string;
  }>(`select conrelid::regclass::text as table, attname as column,
    confrelid::regclass::text as target from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1] where contype = 'f'`);
  const actual = keys.rows.map((k) => `${k.table}.${k.column}>${k.target}`).sort();
  const forward = tables.flatMap((t) => t.object_relationships.map((r) => `${t.table.name}.${r.using.foreign_key_constraint_on}`)).sort();
  const backward = tables
    .flatMap((t) =>
      t.array_relationships.map(
        ({ using }) => `${using.foreign_key_constraint_on.table.name}.${using.foreign_key_constraint_on.column}>${t.table.name}`,
      ),
    )
    .sort();
  expect(forward).toEqual(actual.map((key) => key.split('>')[0]));
  expect(backward).toEqual(actual);
  expect(
    tables
      .find((t) => t.table.name === 'employee')
      ?.array_relationships.map((r) => r.name)
      .sort(),
  ).toEqual(['customers', 'reports']);
});
