/** A service with authors and articles, to group them. */
import { afterAll, beforeAll } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';

const SCHEMA = `
  create table author (id int primary key, name text not null, country text, mentor_id int references author);
  create table article (
    id int primary key, author_id int references author, title text not null, views int not null, rating numeric, score float8,
    label char(4), word text collate "folded", facts jsonb, notes json, place box, published_at timestamptz, day date, local timestamp
  );
  create table loose (title text, views int);
  insert into author values (1, 'Ann', 'NZ', null), (2, 'Bob', null, 1), (3, 'Cid', 'NZ', 2), (4, 'Dan', 'AU', 4);
  insert into article (id, author_id, title, views, rating, score, label, word, facts, published_at, day, local) values
    (1, 1, 'x', 10, 1.0, 0, 'a', 'one', '{"a": 1.0}', '2024-03-30T22:30Z', '2024-03-30', '2024-03-30T22:30'),
    (2, 1, 'y', 20, 1.00, '-0', 'a ', 'ONE', '{"a": 1}', '2024-03-30T23:30Z', '2024-03-31', '2024-03-30T23:30'),
    (3, 2, 'x', 30, 2, 'NaN', 'b', 'two', '{"b": 1}', '2024-03-31T10:00Z', '2024-04-01', '2024-03-31T10:00'),
    (4, 3, 'y', 40, null, 'NaN', 'b', 'two', null, '2024-12-31T23:30Z', '2024-12-31', '2024-12-31T23:30'),
    (5, null, 'z', 50, 'NaN', null, null, null, null, null, null, null),
    (6, 4, 'z', 60, 'NaN', 0.5, 'c', 'Two', '{"b": 1.00}', 'infinity', 'infinity', '-infinity');
  insert into loose values ('a', 1), ('a', 2), ('b', 3);
  create function top(n int) returns setof article language sql stable as $$ select * from article order by id limit n $$;
  create function heat(a article) returns int language sql stable as $$ select a.views / 25 $$;
  create function heat_of_name(a author) returns int language sql stable as $$ select 12 / (2 - a.id) $$;
`;

export type Ask = TestService['graphql'];

/** Starts the service of a test file. */
export function useLibrary(): () => TestService {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ADMIN_SECRET: 'hush' });
    await service.sql(`create collation folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`);
    await service.sql(SCHEMA);
    for (const table of ['author', 'article', 'loose']) await service.metadata('pg_track_table', { table });
    await service.metadata('pg_track_function', { function: 'top' });
    await service.metadata('pg_create_object_relationship', {
      table: 'article',
      name: 'author',
      using: { foreign_key_constraint_on: 'author_id' },
    });
    await service.metadata('pg_create_object_relationship', {
      table: 'author',
      name: 'mentor',
      using: { foreign_key_constraint_on: 'mentor_id' },
    });
    await service.metadata('pg_create_array_relationship', {
      table: 'author',
      name: 'articles',
      using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
    });
    await service.metadata('pg_add_computed_field', { table: 'article', name: 'heat', definition: { function: 'heat' } });
    await service.metadata('pg_add_computed_field', { table: 'author', name: 'risk', definition: { function: 'heat_of_name' } });
    const permit = (table: string, role: string, permission: Json) =>
      service.metadata('pg_create_select_permission', { table, role, permission });
    await permit('article', 'reader', {
      columns: ['title', 'author_id'],
      filter: { views: { _lt: 50 } },
      allow_aggregations: true,
      limit: 2,
    });
    await permit('author', 'reader', { columns: ['country'], computed_fields: ['risk'], filter: { id: { _neq: 2 } } });
    await permit('article', 'counter', { columns: [], filter: {}, allow_aggregations: true });
    await permit('article', 'lister', { columns: ['title'], filter: {} });
    await permit('article', 'titles', { columns: ['id', 'title'], filter: { views: { _lt: 30 } }, allow_aggregations: true });
    await permit('article', 'views', { columns: ['id', 'views'], filter: { views: { _gt: 10 } }, allow_aggregations: true });
    await service.metadata('add_inherited_role', { role_name: 'both', role_set: ['titles', 'views'] });
  });
  afterAll(() => service.stop());
  return () => service;
}

/** Value of the first root field, or `path: message (code)` of the first error. */
export function resultOf(answer: JsonObject): Json {
  const [error] = (answer['errors'] ?? []) as readonly { message: string; extensions: { path: string; code: string } }[];
  if (error !== undefined) return `${error.extensions.path}: ${error.message} (${error.extensions.code})`;
  return Object.values(answer['data'] as JsonObject)[0] as Json;
}
