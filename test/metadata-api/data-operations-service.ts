/** A service with authors and articles, for the tests of data operations. */
import { expect } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ROWS = `
  truncate author, article, audit, "odd table" restart identity cascade;
  insert into author (name, age, secret) values ('Ann', 30, 's1'), ('Bob', null, 's2'), ('Cid', 10, null);
  insert into article (title, author_id, published, tags, data) values
    ('A', 1, true, '{x,y}', '{"k": 1}'), ('B', 1, false, '{}', null), ('C', 2, true, null, '{"k": 2}'), ('D', 3, false, '{y}', '[]');
`;

const SCHEMA = `
  create table author (id serial primary key, name text not null unique, age int, secret text, twice int generated always as (age * 2) stored);
  create table article (id serial primary key, title text not null, author_id int references author, published boolean not null default false,
    tags text[], data jsonb, raw json);
  create table audit (id serial primary key, entry text);
  create table "odd table" (id int primary key, "some column" text, "dotted.name" int);
  create unique index article_key on article (title, author_id);
  create view titles as select title from article group by title;
  create function shout(author_row author) returns text language sql stable as $$ select upper(author_row.name) $$;
  create function prefixed(author_row author, prefix text) returns text language sql stable as $$ select prefix || author_row.name $$;
  ${ROWS}
`;

const permission = (type: string, table: Json, role: string, definition: JsonObject): Json => ({
  type: `pg_create_${type}_permission`,
  args: { table, role, permission: definition },
});

const METADATA: readonly Json[] = [
  ...['author', 'article', 'audit', 'odd table', 'titles'].map((table) => ({ type: 'pg_track_table', args: { table } })),
  { type: 'pg_create_object_relationship', args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } } },
  {
    type: 'pg_create_array_relationship',
    args: { table: 'author', name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } },
  },
  { type: 'pg_add_computed_field', args: { table: 'author', name: 'loud', definition: { function: 'shout' } } },
  { type: 'pg_add_computed_field', args: { table: 'author', name: 'prefixed', definition: { function: 'prefixed' } } },
  {
    type: 'pg_set_table_customization',
    args: { table: 'author', configuration: { custom_name: 'Writer', column_config: { name: { custom_name: 'fullName' } } } },
  },
  // `user` sees adults and itself, published articles and its own.
  permission('select', 'author', 'user', {
    columns: ['id', 'name', 'age'],
    filter: { _or: [{ age: { _gt: 17 } }, { id: 'X-Svc-User-Id' }] },
  }),
  permission('select', 'article', 'user', {
    columns: ['id', 'title', 'author_id', 'published', 'tags', 'data'],
    filter: { _or: [{ published: true }, { author_id: 'X-Svc-User-Id' }] },
    limit: 2,
  }),
  permission('insert', 'article', 'user', {
    columns: ['title', 'published'],
    check: { title: { _ne: 'forbidden' } },
    set: { author_id: 'X-Svc-User-Id' },
  }),
  permission('update', 'article', 'user', {
    columns: ['title', 'published'],
    filter: { author_id: 'X-Svc-User-Id' },
    check: { title: { _ne: 'forbidden' } },
    set: { tags: ['changed'] },
  }),
  permission('delete', 'article', 'user', { filter: { author_id: 'X-Svc-User-Id' } }),
  permission('insert', 'audit', 'user', { columns: ['entry'], check: {} }),
  permission('delete', 'audit', 'user', { filter: { entry: 'mine' } }),
  permission('insert', 'author', 'user', { columns: '*', check: {}, backend_only: true }),
  permission('select', 'article', 'reader', { columns: ['id', 'title'], filter: {} }),
];

export interface Caller {
  readonly role?: string;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

export const USER: Caller = { role: 'user', user: '1' };

export interface DataOperationsService {
  readonly service: TestService;
  /** Restores the initial rows. */
  reset(): Promise<void>;
  send(body: JsonObject, caller: Caller): Promise<{ readonly status: number; readonly json: Json }>;
  /** The result of an operation that must succeed. */
  run(type: string, args: Json, caller?: Caller): Promise<Json>;
  /** `code @ path: message` of an operation that must fail. */
  refused(type: string, args: Json, caller?: Caller): Promise<string>;
}

/** @param options environment variables without `SVC_GRAPHQL_`; by default data operations are open to all roles */
export async function startDataOperationsService(
  options: Readonly<Record<string, string>> = { LEGACY_ROWS_FOR_ALL_ROLES: 'true' },
): Promise<DataOperationsService> {
  const service = await startTestService(options);
  await service.sql(SCHEMA, { check_metadata_consistency: false });
  await service.metadata('bulk', METADATA);
  const send: DataOperationsService['send'] = async (body, { role, user, headers = {}, path = '/v1/query' }) => {
    const answer = await service.send(path, {
      method: 'POST',
      headers: {
        ...(role === undefined ? {} : { 'x-svc-role': role }),
        ...(user === undefined ? {} : { 'x-svc-user-id': user }),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: answer.json };
  };
  return {
    service,
    reset: async () => void (await service.sql(ROWS, { check_metadata_consistency: false })),
    send,
    async run(type, args, caller = {}) {
      const { status, json } = await send({ type, args }, caller);
      expect(status, JSON.stringify(json)).toBe(200);
      return json;
    },
    async refused(type, args, caller = {}) {
      const { status, json } = await send({ type, args }, caller);
      const { code, path, error } = json as JsonObject;
      expect(status, JSON.stringify(json)).toBe(400);
      return `${String(code)} @ ${String(path)}: ${String(error)}`;
    },
  };
}
