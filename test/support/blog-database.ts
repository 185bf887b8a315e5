/** A small database with awkward names, for tests that run compiled SQL. */
import pg from 'pg';
import type { SelectRoot } from '../../src/ir/select.ts';
import { compiler } from '../../src/databases/postgresql/compile/compiler.ts';
import type { Json } from '../../src/util/json.ts';
import { runSelect, type Values } from './run-select.ts';
import { testDatabase } from './postgres.ts';

const SCHEMA = `
  create table author (id int primary key, name text, country text, "t1" int, ":0" text);
  insert into author values (1, 'Ann', 'NL', 11, 'a'), (2, 'Bob', 'NL', 12, 'b'), (3, 'Cid', null, 13, 'c'), (4, null, 'DE', 14, 'd');
  create table article (
    id int primary key, author_id int references author, title text, views int, score numeric, rating float8,
    published boolean not null default true, data jsonb, tags text[]
  );
  insert into article values
    (1, 1, 'Sky', 10, 1.10, 0.5, true, '{"a": {"b": [1, 2]}, "k": 1}', '{x,y}'),
    (2, 1, 'Sea', 30, 2.20, 1.5, false, '{"k": 2}', '{y}'),
    (3, 1, 'Sun', 20, 3.30, 2.5, true, null, '{}'),
    (4, 2, 'Sand', 5, null, null, true, '[1, "k"]', null),
    (5, 2, 'Salt', 5, 9007199254740993.5, 3.5, true, '"k"', '{x,"a,b","q\\"r"}'),
    (6, null, 'Stray', null, null, null, true, '{}', '{x}');
  create table profile (id int primary key, author_id int unique references author, bio text);
  insert into profile values (1, 1, 'painter'), (2, 2, 'baker'), (3, 3, null);
  create function shout(author) returns text language sql stable as $$ select upper($1.name) $$;
  create function shout_with("row" author, suffix text, session json) returns text language sql stable
    as $$ select upper($1.name) || $2 || ($3 ->> 'x-svc-user-id') $$;
  create function articles_of(who author, at_least int default 0) returns setof article language sql stable
    as $$ select * from article where author_id = $1.id and views >= $2 $$;
  create function search(query text, at_least int default 0) returns setof article language sql stable
    as $$ select * from article where title like query and coalesce(views, 0) >= at_least $$;
  create function noise() returns setof article language sql volatile as $$ select * from article $$;
`;

export interface BlogDatabase {
  readonly client: pg.Client;
  /** Compiles and runs the roots. @returns one JSON value per root */
  select(queries: readonly SelectRoot['query'][], values?: Values): Promise<readonly Json[]>;
  /** Compiles and runs one root. */
  one(query: SelectRoot['query'], values?: Values): Promise<Json>;
  close(): Promise<void>;
}

export async function blogDatabase(more = ''): Promise<BlogDatabase> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(SCHEMA + more);
  const { select: compile } = compiler({ stringifyNumericTypes: false });
  const select: BlogDatabase['select'] = (queries, values) =>
    runSelect(client, compile(queries.map((query, i) => ({ alias: String(i), query }))), values);
  return {
    client,
    select,
    one: async (query, values) => (await select([query], values))[0] as Json,
    async close() {
      await client.end();
      await database.drop();
    },
  };
}
