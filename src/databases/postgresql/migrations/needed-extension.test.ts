import { expect, it } from 'vitest';
import { neededExtension } from './needed-extension.ts';

/** Returns the functions that need an extension in a database that lacks all of them. */
async function called(...texts: readonly string[]): Promise<readonly string[]> {
  const needed = await neededExtension({}, texts, async (query) => {
    const values = /\(values (.*)\) as called/.exec(query)?.[1] ?? '';
    const missing = [...values.matchAll(/\((?:null|E?'(\w+)'), E?'(\w+)'\)/g)].map(([, schema, name]) =>
      schema === undefined ? name : `${schema}.${name}`,
    );
    return JSON.stringify({ installed: false, lacking: missing });
  });
  return needed?.functions ?? [];
}

it.each([
  ['a table', 'create table public.digest (id int)'],
  ['a table without a schema', 'create table if not exists digest (id int)'],
  ['an insert into a table', 'insert into "public"."digest" (id) values (1)'],
  ['an index of a table', 'create unique index concurrently if not exists one on public.digest (id)'],
  ['an index without a name', 'create index on only "digest" (id)'],
  ['a reference to a table', 'create table a (id int references digest (id))'],
  ['a view', 'create or replace view crypt (a) as select 1'],
  ['a type', 'create type digest as (a int); create table a (b digest(3), c int default 1::digest(3))'],
  ['columns', 'create table a (digest text, crypt int); create index on a (digest); insert into a (digest, crypt) (select 1, 2)'],
  ['a table that is copied', 'copy public.digest (id) to stdout'],
  ['an alias', 'select * from (select 1) as digest (a), generate_series(1, 2) crypt (b), a hmac (c)'],
  ['a common table expression', 'with digest (a) as (select 1), crypt (b) as not materialized (select 2) select 3'],
  ['another case in quotes', 'select "Digest"(1)'],
  ['a text', "insert into a values ('digest(1)', E'\\'digest(1)', $$ digest(1) $$, U&'crypt(1)')"],
  ['a name in quotes', 'select 1 as "the digest(1)"'],
  ['a comment', '-- digest(1)\nselect 1 /* /* */ digest(1) */'],
  ['a comment in a body', 'create function f() returns int language sql as $$ select 1 -- digest(1)\n $$'],
  ['a function of its own', 'create or replace function digest(a int) returns int language sql return 1; select digest(1)'],
  ['a function that it drops', 'drop function if exists digest(text); drop function crypt(text, text)'],
  ['a function of another schema', 'select app.digest(1), pg_catalog.gen_random_uuid()'],
  ['the function of the database', 'select gen_random_uuid()'],
  [
    'an extension behind a text that looks like a comment',
    "insert into t values ('image/*'); create extension pgcrypto; select crypt('a', 'b')",
  ],
])('needs no extension for %s', async (_what, sql) => {
  expect(await called(sql)).toEqual([]);
});

it.each([
  ['a call', "select digest('a', 'md5')", ['digest']],
  ['a default', 'create table a (b uuid default public.gen_random_uuid(), c bytea default gen_random_bytes(8))'],
  ['names in quotes', 'select "public" . "crypt" (1)', ['public.crypt']],
  ['another case', 'SELECT Public.CRYPT(1)', ['public.crypt']],
  ['a call behind a text with two dashes', "create table a (b text default '--', c text default crypt('a', 'b'))", ['crypt']],
  ['a call behind a text with an escaped quote', "select E'\\'', hmac(a, b, c) from d", ['hmac']],
  ['a condition', 'select 1 from a join b on digest(a.c) = b.c where crypt(a, b) = c', ['digest', 'crypt']],
  ['an index of an expression', 'create index on a (digest(b, c))', ['digest']],
  ['another type of a column', "alter table a alter b type bytea using digest(b, 'md5')", ['digest']],
  ['a body in quotes', "create function f() returns text as 'select crypt(''a'', ''b'')' language sql", ['crypt']],
  ['a block', 'do language plpgsql $$ begin perform digest(a, b); end $$', ['digest']],
  ['dynamic SQL', "do $$ begin execute 'select digest(a, b)'; end $$", ['digest']],
  ['an assignment', 'create function f() returns text as $$ begin a := crypt(b, c); select into d digest(a); end $$', ['crypt', 'digest']],
  ['a grant', 'grant execute on function crypt(text, text) to a', ['crypt']],
  ['a function of that name in another schema', 'create function app.digest(int) returns int; select public.digest(1)', ['public.digest']],
])('needs an extension for %s', async (_what, sql, functions = ['public.gen_random_uuid', 'gen_random_bytes']) => {
  expect(await called(sql)).toEqual(functions);
});

it('needs no extension for a function that an earlier migration creates', async () => {
  const creation = 'create function digest(a int) returns int language sql return 1';
  expect(await called(creation, 'select digest(1)')).toEqual([]);
  expect(await called('select digest(1)', creation)).toEqual(['digest']);
});

it('finds the creation of the extension behind a text that looks like a comment', async () => {
  expect(await called("insert into t values ('image/*'); create extension pgcrypto", "select crypt('a', 'b')")).toEqual([]);
});
