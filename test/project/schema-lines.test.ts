/** The comparison of two databases: each definition that a migration may forget to revert has a line. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { schemaLines } from '../../src/databases/postgresql/migrations/schema-lines.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let client: pg.Client;
const role = `svc_role_${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  // Nothing here is ever committed: roles belong to all databases of the server.
  await client.query(`begin; create role ${role}; create schema s;
    create table item (id int, label text, n int); create table parted (at date) partition by range (at);
    create view seen as select id from item; create table plain (id int);
    create function next_of(int, int) returns int language sql immutable as 'select $1 + $2';
    create function other_of(int, int) returns int language sql immutable as 'select $1 - $2';
    create function nothing() returns trigger language plpgsql as 'begin return null; end';
    create aggregate total(int) (sfunc = next_of, stype = int, initcond = '0');
    create trigger ignoring before insert on item for each row execute function nothing();
    create policy own on item using (true);
    create domain few as int; create domain many as int; create sequence counts; create type pair as (a int);
    create type span as range (subtype = int4);
    create rule quiet as on insert to seen do instead nothing`);
});
afterAll(async () => {
  await client.query('rollback');
  await client.end();
  await database.drop();
});

const lines = async (): Promise<readonly string[]> => {
  const { rows } = await client.query<{ line: string }>(`${schemaLines} order by 1`);
  return rows.map(({ line }) => line);
};

/** A change, its reversal, and the beginning of the lines that differ. The tests insert the name of the role. */
const CHANGES: readonly (readonly [string, string, string])[] = [
  ['create aggregate sums(int) (sfunc = next_of, stype = int)', 'drop aggregate sums(int)', 'aggregate sums(integer)'],
  [
    "create or replace aggregate total(int) (sfunc = other_of, stype = int, initcond = '0')",
    "create or replace aggregate total(int) (sfunc = next_of, stype = int, initcond = '0')",
    'aggregate total(integer)',
  ],
  [
    "create or replace aggregate total(int) (sfunc = next_of, stype = int, initcond = '1')",
    "create or replace aggregate total(int) (sfunc = next_of, stype = int, initcond = '0')",
    'aggregate total(integer)',
  ],
  ['create rule more as on delete to seen do instead nothing', 'drop rule more on seen', 'rule CREATE RULE more'],
  [
    'create or replace rule quiet as on insert to seen do instead insert into plain values (new.id)',
    'create or replace rule quiet as on insert to seen do instead nothing',
    'rule CREATE RULE quiet',
  ],
  ['drop domain few; create domain few as bigint', 'drop domain few; create domain few as int', 'domain few bigint'],
  ['alter domain few set default 3', 'alter domain few drop default', 'domain few integer'],
  ['alter domain few set not null', 'alter domain few drop not null', 'domain few integer'],
  ['alter domain few add constraint above check (value > 0)', 'alter domain few drop constraint above', 'constraint few above'],
  ['alter sequence counts increment 5', 'alter sequence counts increment 1', 'sequence counts bigint increment 5'],
  ['alter sequence counts maxvalue 100', 'alter sequence counts no maxvalue', 'sequence counts'],
  ['alter sequence counts start 7', 'alter sequence counts start 1', 'sequence counts'],
  ['alter sequence counts cache 9 cycle', 'alter sequence counts cache 1 no cycle', 'sequence counts'],
  ['alter sequence counts owned by item.id', 'alter sequence counts owned by none', 'sequence counts'],
  [`grant select, insert on item to somebody`, `revoke select, insert on item from somebody`, `grant INSERT on table item to somebody`],
  [
    `grant select on item to somebody with grant option`,
    `revoke select on item from somebody`,
    `grant SELECT on table item to somebody with grant option`,
  ],
  [
    `grant update (label) on item to somebody`,
    `revoke update (label) on item from somebody`,
    `grant UPDATE on column item.label to somebody`,
  ],
  [
    `grant usage on sequence counts to somebody`,
    `revoke usage on sequence counts from somebody`,
    `grant USAGE on sequence counts to somebody`,
  ],
  [`grant create on schema s to somebody`, `revoke create on schema s from somebody`, `grant CREATE on schema s to somebody`],
  ['revoke usage on type pair from public', 'grant usage on type pair to public', 'revoke USAGE on type pair to public'],
  [
    'revoke execute on function next_of from public',
    'grant execute on function next_of to public',
    'revoke EXECUTE on function next_of(integer,integer) to public',
  ],
  ['revoke delete on item from current_user', 'grant delete on item to current_user', 'revoke DELETE on table item to its owner'],
  ['alter table item force row level security', 'alter table item no force row level security', 'table item r'],
  ['alter table plain set unlogged', 'alter table plain set logged', 'table plain r u'],
  ['alter table item set (fillfactor = 50)', 'alter table item reset (fillfactor)', 'table item r'],
  ['create table heir () inherits (item)', 'drop table heir', 'table heir'],
  [
    "create table part partition of parted for values from ('2020-01-01') to ('2021-01-01')",
    'drop table part',
    'table part r p false false   FOR VALUES',
  ],
  [
    'alter table item alter label type text collate "C"',
    'alter table item alter label type text collate "default"',
    'column item.label text collate "C"',
  ],
  [
    'alter table plain alter id set not null; alter table plain alter id add generated always as identity',
    'alter table plain alter id drop identity; alter table plain alter id drop not null',
    'column plain.id integer true a',
  ],
  [
    'alter table plain add half int generated always as (id / 2) stored',
    'alter table plain drop half',
    'column plain.half integer false s',
  ],
  ['create statistics pairs on id, n from item', 'drop statistics pairs', 'statistics CREATE STATISTICS'],
  [`alter policy own on item to somebody`, 'alter policy own on item to public', `policy item own * true somebody`],
  [
    'drop policy own on item; create policy own on item as restrictive using (true)',
    'drop policy own on item; create policy own on item using (true)',
    'policy item own * false',
  ],
  ['alter table item disable trigger ignoring', 'alter table item enable trigger ignoring', 'trigger item'],
  [
    'drop type span; create type span as range (subtype = int8)',
    'drop type span; create type span as range (subtype = int4)',
    'range span bigint',
  ],
  ["comment on function next_of is 'said'", 'comment on function next_of is null', 'comment pg_proc function'],
  ["comment on type pair is 'said'", 'comment on type pair is null', 'comment pg_type type pair'],
  ["comment on schema s is 'said'", 'comment on schema s is null', 'comment pg_namespace schema s'],
];

it.each(CHANGES)('detects %s', async (done, undone, begins) => {
  const named = (text: string): string => text.replaceAll('somebody', role);
  const before = await lines();
  await client.query(named(done));
  const after = await lines();
  const news = after.filter((line) => !before.includes(line));
  expect(news).not.toEqual([]);
  expect(
    news.filter((line) => line.startsWith(named(begins))),
    news.join('\n'),
  ).not.toEqual([]);
  await client.query(named(undone));
  expect(await lines()).toEqual(before);
});

it('ignores changes other than definitions', async () => {
  const before = await lines();
  await client.query(`insert into item select i from generate_series(1, 10) i; select nextval('counts'); savepoint tried;
    set local search_path = s; create temp table passing (id int) on commit drop; set local search_path = default`);
  expect(await lines()).toEqual(before);
});
