import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.sql(SCHEMA, { check_metadata_consistency: false });
  await service.metadata('bulk', METADATA);
});
afterAll(() => service.stop());

interface Caller {
  readonly role?: string;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

const USER: Caller = { role: 'user', user: '1' };

async function send(body: JsonObject, { role, user, headers = {}, path = '/v1/query' }: Caller) {
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
}

/** The answer of an operation that has to succeed. */
async function run(type: string, args: Json, caller: Caller = {}): Promise<Json> {
  const { status, json } = await send({ type, args }, caller);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

/** `code @ path: message` of an operation that has to be refused. */
async function refused(type: string, args: Json, caller: Caller = {}): Promise<string> {
  const { status, json } = await send({ type, args }, caller);
  const { code, path, error } = json as JsonObject;
  expect(status, JSON.stringify(json)).toBe(400);
  return `${String(code)} @ ${String(path)}: ${String(error)}`;
}

describe('select', () => {
  const titles = async (where: Json, caller: Caller = {}): Promise<Json> => {
    const rows = (await run('select', { table: 'article', columns: ['title'], where, order_by: 'id' }, caller)) as JsonObject[];
    return rows.map((row) => row['title'] ?? null).join('');
  };

  it('gives columns under the names of the database, and rows of relationships', async () => {
    expect(
      await run('select', {
        table: { schema: 'public', name: 'author' },
        source: 'default',
        columns: [
          'name',
          'loud',
          { name: 'articles', alias: 'papers', columns: ['title'], where: { published: false }, order_by: '-title', limit: 1 },
        ],
        order_by: [{ column: 'id', type: 'asc' }],
      }),
    ).toEqual([
      { name: 'Ann', loud: 'ANN', papers: [{ title: 'B' }] },
      { name: 'Bob', loud: 'BOB', papers: [] },
      { name: 'Cid', loud: 'CID', papers: [{ title: 'D' }] },
    ]);
    expect(await run('select', { table: 'article', columns: ['*', { name: 'author', columns: ['name'] }], where: { id: 1 } })).toEqual([
      { id: 1, title: 'A', author_id: 1, published: true, tags: ['x', 'y'], data: { k: 1 }, raw: null, author: { name: 'Ann' } },
    ]);
    expect(await run('select', { table: 'article', columns: ['*.*'], where: { id: 3 } })).toMatchObject([
      { title: 'C', author: { name: 'Bob', secret: 's2' } },
    ]);
    expect(await run('select', { table: 'author', columns: ['*.*'], where: { id: 2 } }, { role: 'user', user: '2' })).toEqual([
      { id: 2, name: 'Bob', age: null, articles: [expect.objectContaining({ title: 'C' })] },
    ]);
  });

  it('reads tables and columns that GraphQL has no names for', async () => {
    await run('insert', { table: 'odd table', objects: [{ id: 1, 'some column': 'x', 'dotted.name': 5 }] });
    expect(await run('select', { table: 'odd table', columns: ['*'], where: { 'some column': 'x' }, order_by: '-dotted.name' })).toEqual([
      { id: 1, 'some column': 'x', 'dotted.name': 5 },
    ]);
    await run('delete', { table: 'odd table', where: {} });
  });

  it.each<[where: Json, found: string]>([
    [{ title: 'B' }, 'B'],
    [{ title: { $ne: 'B' }, published: { _eq: true } }, 'AC'],
    [{ $or: [{ id: { $in: [1, 2] } }, { title: { $like: 'D%' } }] }, 'ABD'],
    [{ $not: { $and: [{ id: { $gt: 1 } }, { id: { $lte: 3 } }] } }, 'AD'],
    [{ _or: [] }, ''],
    [{ _and: [] }, 'ABCD'],
    [{ tags: null }, 'C'],
    [{ tags: { $contains: ['y'] } }, 'AD'],
    [{ tags: ['x', 'y'] }, 'A'],
    [{ tags: { $is_null: false } }, 'ABD'],
    [{ data: { $has_key: 'k' } }, 'AC'],
    [{ data: { $contains: { k: 2 } } }, 'C'],
    [{ data: { $cast: { String: { $like: '%1%' } } } }, 'A'],
    [{ id: { $ceq: 'author_id' } }, 'A'],
    [{ author: { age: { $gte: 18 } } }, 'AB'],
    // Equality is that of SQL: Bob's age is neither.
    [{ author: { age: { $ne: 30 } } }, 'D'],
    [{ author: { age: null } }, 'C'],
    [{ author: { loud: 'CID' } }, 'D'],
    [{ author: { articles: { id: { $cgt: ['$', 'id'] } } } }, 'A'],
    [{ _exists: { _table: 'author', _where: { name: 'nobody' } } }, ''],
    [{ $exists: { $table: 'author', $where: { id: { $ceq: ['$', 'id'] }, name: 'Cid' } } }, 'C'],
    // A text is a text, whatever it looks like.
    [{ title: 'X-Svc-User-Id' }, ''],
  ])('filters by %j', async (where, found) => {
    expect(await titles(where)).toBe(found);
  });

  it('shows a role its rows and columns only, also through conditions', async () => {
    expect(await titles({}, { ...USER, user: '3' })).toBe('AC');
    expect(await run('select', { table: 'article', columns: ['title'], order_by: 'id', limit: 1, offset: 1 }, USER)).toEqual([
      { title: 'B' },
    ]);
    expect(
      await run('select', { table: 'article', columns: ['title', { name: 'author', columns: ['name'] }], where: { id: 3 } }, USER),
    ).toEqual([{ title: 'C', author: null }]);
    // Bob is there, but not for this role.
    expect(await titles({ author: { name: 'Bob' } }, USER)).toBe('');
    expect(await titles({ _not: { author: {} } }, USER)).toBe('C');
    expect(await titles({ _exists: { _table: 'author', _where: { name: 'Bob' } } }, USER)).toBe('');
    const ordered = (order: Json) => run('select', { table: 'article', columns: ['id'], order_by: order }, USER);
    expect(await ordered(['author.age', '-id'])).toEqual([{ id: 2 }, { id: 1 }]);
    expect(await ordered([{ column: 'author.age', type: 'asc', nulls: 'first' }, '-id'])).toEqual([{ id: 3 }, { id: 2 }]);
    expect(
      await run('select', { table: 'author', columns: [{ name: 'articles', columns: ['title'], order_by: 'id' }], where: { id: 1 } }, USER),
    ).toEqual([{ articles: [{ title: 'A' }, { title: 'B' }] }]);
  });

  it.each([USER, {}])('expands stars until there are too many fields, for %j', async (caller) => {
    expect(await refused('select', { table: 'author', columns: [`*${'.*'.repeat(2000)}`] }, caller)).toBe(
      'validation-failed @ $.args: the operation has more than 1000 fields with a selection',
    );
    expect(await refused('select', { table: 'author', columns: Array<string>(7000).fill('*') }, caller)).toBe(
      'validation-failed @ $.args: the operation has more than 20000 fields and values',
    );
  });

  it.each<[args: JsonObject, refusal: string, caller?: Caller]>([
    [{ table: 'nothing', columns: ['id'] }, 'not-exists @ $.args.table: table "nothing" does not exist'],
    [{ table: 'author', columns: ['id', 'user'] }, 'not-exists @ $.args.columns[1]: no such column exists: "user"'],
    [{ table: 'author', columns: ['prefixed'] }, 'not-exists @ $.args.columns[0]: no such column exists: "prefixed"'],
    [{ table: 'author', columns: [{ name: 'books', columns: [] }] }, 'not-exists @ $.args.columns[0]: "books" does not exist'],
    [{ table: 'author', columns: ['*'], where: { user: 1 } }, 'not-exists @ $.args.where.user: "user" does not exist'],
    [
      { table: 'author', columns: ['*'], where: { age: { $near: 1 } } },
      'unexpected-payload @ $.args.where.age["$near"]: unknown operator: $near',
    ],
    [
      { table: 'author', columns: ['*'], where: { prefixed: 'x' } },
      'unexpected-payload @ $.args.where.prefixed: Computed columns with input arguments can not be part of the where clause',
    ],
    [
      { table: 'article', columns: ['*'], where: { raw: { $eq: {} } } },
      'unexpected-payload @ $.args.where.raw: JSON column can not be part of boolean expression',
    ],
    [
      { table: 'article', columns: ['*'], where: { _or: [{ id: { _in: [1, 'x', null] } }] } },
      "parse-failed @ $.args.where._or[0].id._in[2]: unexpected null value for type 'Int'",
    ],
    [
      { table: 'article', columns: ['*'], where: { id: { $gt: {} } } },
      'parse-failed @ $.args.where.id["$gt"]: Integer expected for input type: integer',
    ],
    [
      { table: 'article', columns: ['*'], where: { id: { $gt: 'x' } } },
      'data-exception @ $.args: invalid input syntax for type integer: "x"',
    ],
    [{ table: 'article', columns: ['*'], order_by: 'author' }, 'not-exists @ $.args.order_by: no such column exists: "author"'],
    [
      { table: 'author', columns: ['*'], order_by: 'articles.id' },
      'unexpected-payload @ $.args.order_by: array relationship "articles" cannot be used in order_by',
    ],
    [
      { table: 'article', columns: [{ name: 'author', columns: ['id'], limit: 1 }] },
      "unexpected-payload @ $.args.columns[0]: when selecting an object relationship 'where', 'order_by', 'limit' and 'offset' can't be used",
    ],
    [
      { table: 'author', columns: [{ name: 'articles', columns: ['id'], limit: -1 }] },
      'not-supported @ $.args.columns[0].limit: unexpected negative value',
    ],
    [{ table: 'author' }, 'parse-failed @ $: key "columns" not found'],
    [
      { table: 'author', columns: ['id'], where: [] },
      'parse-failed @ $.where: parsing BoolExp failed, expected Object, but encountered Array',
    ],
    [{ table: 'author', columns: [1] }, 'parse-failed @ $.columns[0]: parsing SelCol failed, expected Object, but encountered Number'],
    [{ table: 'author', columns: ['id'], source: 'x' }, 'not-exists @ $.args: source with name "x" does not exist'],
    [
      { table: 'author', columns: ['id', 'secret'] },
      'permission-denied @ $.args.columns[1]: role "user" does not have permission to select column "secret"',
      USER,
    ],
    [
      { table: 'author', columns: ['loud'] },
      'permission-denied @ $.args.columns[0]: role "user" does not have permission to select computed field "loud"',
      USER,
    ],
    [
      { table: 'author', columns: ['id'], where: { secret: { $is_null: true } } },
      'permission-denied @ $.args.where.secret: role "user" does not have permission to select column "secret"',
      USER,
    ],
    [
      { table: 'author', columns: ['id'], where: { age: { $clt: 'twice' } } },
      'permission-denied @ $.args.where.age["$clt"]: role "user" does not have permission to select column "twice"',
      USER,
    ],
    [
      { table: 'article', columns: ['id'], order_by: 'author.secret' },
      'permission-denied @ $.args.order_by: role "user" does not have permission to select column "secret"',
      USER,
    ],
    [{ table: 'audit', columns: ['id'] }, 'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ', USER],
    [
      { table: 'article', columns: [{ name: 'author', columns: ['id'] }] },
      'permission-denied @ $.args.columns[0]: select on "author" for role "reader" is not allowed. ',
      { role: 'reader' },
    ],
    [
      { table: 'article', columns: ['id'], where: { author: { id: 1 } } },
      'permission-denied @ $.args.where.author: select on "author" for role "reader" is not allowed. ',
      { role: 'reader' },
    ],
    [
      { table: 'article', columns: ['id'], where: { _exists: { _table: 'audit', _where: {} } } },
      'permission-denied @ $.args.where._exists._table: select on "audit" for role "reader" is not allowed. ',
      { role: 'reader' },
    ],
    [{ table: 'article', columns: ['id'] }, 'not-found @ $.args: "x-svc-user-id" header is expected but not found', { role: 'user' }],
  ])('refuses %j', async (args, refusal, caller) => {
    expect(await refused('select', args, caller)).toBe(refusal);
  });

  it('says where on the schema endpoint too', async () => {
    const caller: Caller = { path: '/v2/query' };
    expect(await run('select', { table: 'author', columns: ['id'], limit: 1 }, caller)).toEqual([{ id: 1 }]);
    expect(await refused('select', { table: 'author', columns: ['id'], limit: 'x' }, caller)).toBe(
      'parse-failed @ $.args.limit: parsing Int failed, expected Number, but encountered String',
    );
  });
});

describe('count', () => {
  it('counts rows, or different combinations of columns, that the role may select', async () => {
    expect(await run('count', { table: 'article' })).toEqual({ count: 4 });
    expect(await run('count', { table: 'article', where: { author: { name: 'Ann' } }, distinct: ['author_id'] })).toEqual({ count: 1 });
    // NULL is one of them.
    expect(await run('count', { table: 'author', distinct: ['age'] })).toEqual({ count: 3 });
    expect(await run('count', { table: 'article' }, USER)).toEqual({ count: 3 });
  });

  it('refuses what the role may not select', async () => {
    expect(await refused('count', { table: 'audit' }, USER)).toBe(
      'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ; "count" is only allowed if the role has "select" permissions on the table',
    );
    expect(await refused('count', { table: 'author', distinct: ['secret'] }, USER)).toBe(
      'permission-denied @ $.args.distinct[0]: role "user" does not have permission to select column "secret"',
    );
    expect(await refused('count', { table: 'author', distinct: ['id', 'x'] })).toBe(
      'permission-denied @ $.args.distinct[1]: no such column exists: "x"',
    );
  });
});

describe('writes', () => {
  beforeEach(async () => {
    await service.sql(ROWS, { check_metadata_consistency: false });
  });

  const rows = (table: string, ...columns: readonly string[]): Promise<Json> => run('select', { table, columns, order_by: 'id' });

  it('inserts, with the presets of the role', async () => {
    expect(
      await run('insert', {
        table: 'article',
        objects: [{ title: 'E', author_id: null, data: [1], tags: '{a}' }, { title: 'F' }],
        returning: ['*'],
      }),
    ).toEqual({
      affected_rows: 2,
      returning: [
        { id: 5, title: 'E', author_id: null, published: false, tags: ['a'], data: [1], raw: null },
        { id: 6, title: 'F', author_id: null, published: false, tags: null, data: null, raw: null },
      ],
    });
    expect(
      await run('insert', { table: 'article', objects: [{ title: 'G' }], returning: ['title', 'author_id'] }, { ...USER, user: '2' }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ title: 'G', author_id: 2 }],
    });
    expect(await run('insert', { table: 'audit', objects: [{ entry: 'x' }, {}] }, USER)).toEqual({ affected_rows: 2 });
    const trusted: Caller = { ...USER, headers: { 'x-svc-use-backend-only-permissions': 'true' } };
    expect(await run('insert', { table: 'author', objects: [{ name: 'Dan' }] }, trusted)).toEqual({ affected_rows: 1 });
  });

  it('inserts on conflict by constraint, by columns, or not at all', async () => {
    const upsert = (on_conflict: Json, object: JsonObject = { id: 1, name: 'Ann', age: 31 }) =>
      run('insert', { table: 'author', objects: [object], on_conflict, returning: ['id', 'age', 'secret'] });
    expect(await upsert({ action: 'ignore' })).toEqual({ affected_rows: 0, returning: [] });
    expect(await upsert({ action: 'ignore', constraint: 'author_pkey' }, { id: 1, name: 'Zed' })).toEqual({
      affected_rows: 0,
      returning: [],
    });
    expect(await upsert({ action: 'update', constraint: 'author_name_key' })).toEqual({
      affected_rows: 1,
      returning: [{ id: 1, age: 31, secret: 's1' }],
    });
    expect(await upsert({ action: 'update', constraint_on: 'id' }, { id: 1, name: 'Ann', age: 32 })).toEqual({
      affected_rows: 1,
      returning: [{ id: 1, age: 32, secret: 's1' }],
    });
    // A unique index is no constraint, but rows conflict with it all the same.
    const article = { title: 'A', author_id: 1, published: false };
    expect(
      await run('insert', {
        table: 'article',
        objects: [article],
        on_conflict: { action: 'update', constraint_on: ['author_id', 'title'] },
        returning: ['id'],
      }),
    ).toEqual({ affected_rows: 1, returning: [{ id: 1 }] });
    // The role updates its own rows only, and its presets are written.
    const mine = (title: string) =>
      run(
        'insert',
        {
          table: 'article',
          objects: [{ title, published: true }],
          on_conflict: { action: 'update', constraint_on: ['author_id', 'title'] },
          returning: ['id', 'tags'],
        },
        USER,
      );
    expect(await mine('B')).toEqual({ affected_rows: 1, returning: [{ id: 2, tags: ['changed'] }] });
  });

  it('updates with each operator, and with the presets of the role', async () => {
    const update = (args: JsonObject, caller?: Caller) => run('update', { table: 'article', ...args }, caller);
    expect(await update({ where: { id: 4 }, $set: { data: { a: 1 }, tags: null }, returning: ['data', 'tags'] })).toEqual({
      affected_rows: 1,
      returning: [{ data: { a: 1 }, tags: null }],
    });
    expect(await update({ where: { author: { name: 'Bob' } }, values: { title: 'changed' }, returning: ['title'] })).toEqual({
      affected_rows: 1,
      returning: [{ title: 'changed' }],
    });
    expect(await run('update', { table: 'author', where: {}, $inc: { age: 1 }, returning: ['age'] })).toEqual({
      affected_rows: 3,
      returning: [{ age: 31 }, { age: null }, { age: 11 }],
    });
    expect(
      await run('update', { table: 'author', where: { id: 1 }, $mul: { age: 2 }, $set: { secret: 'new' }, returning: ['age', 'twice'] }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ age: 62, twice: 124 }],
    });
    expect(
      await run('update', { table: 'article', where: { id: 1 }, $default: ['published', 'tags'], returning: ['published', 'tags'] }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ published: false, tags: null }],
    });
    expect(await update({ where: {}, $set: { published: true }, returning: ['id', 'tags'] }, { ...USER, user: '2' })).toEqual({
      affected_rows: 1,
      returning: [{ id: 3, tags: ['changed'] }],
    });
    // Presets alone are written too.
    expect(await update({ where: { id: 4 } }, { ...USER, user: '3' })).toEqual({ affected_rows: 1 });
  });

  it('deletes under the filter of the role', async () => {
    expect(await run('delete', { table: 'article', where: { id: { $gte: 2 } }, returning: ['title'] }, USER)).toEqual({
      affected_rows: 1,
      returning: [{ title: 'B' }],
    });
    expect(await rows('article', 'title')).toEqual([{ title: 'A' }, { title: 'C' }, { title: 'D' }]);
    await run('insert', { table: 'audit', objects: [{ entry: 'mine' }, { entry: 'yours' }] });
    // Without the select permission there is nothing to say in a condition.
    expect(await run('delete', { table: 'audit', where: {} }, USER)).toEqual({ affected_rows: 1 });
    expect(await rows('audit', 'entry')).toEqual([{ entry: 'yours' }]);
  });

  it('tells triggers who is asking', async () => {
    await service.sql(
      `create function note_user() returns trigger language plpgsql as $$ begin new.entry := current_setting('svc.user')::json->>'x-svc-user-id'; return new; end $$;
       create trigger note_user before insert on audit for each row execute function note_user()`,
      { check_metadata_consistency: false },
    );
    await run('insert', { table: 'audit', objects: [{}] }, { ...USER, user: '42' });
    expect(await rows('audit', 'entry')).toEqual([{ entry: '42' }]);
    await service.sql('drop trigger note_user on audit', { check_metadata_consistency: false });
  });

  it.each<[type: string, args: JsonObject, refusal: string, caller?: Caller]>([
    ['insert', { table: 'author', objects: [] }, 'unexpected-payload @ $.args.objects: objects should not be empty'],
    ['insert', { table: 'author' }, 'parse-failed @ $: key "objects" not found'],
    ['insert', { table: 'author', objects: [{ name: 'x' }, { nam: 'y' }] }, 'not-exists @ $.args.objects[1]: no such column exists: "nam"'],
    [
      'insert',
      { table: 'author', objects: [{ name: 'x', twice: 1 }] },
      'not-supported @ $.args.objects[0]: column "twice" is not insertable',
    ],
    ['insert', { table: 'titles', objects: [{ title: 'x' }] }, 'not-supported @ $.args: "titles" is not insertable'],
    [
      'insert',
      { table: 'author', objects: [{ name: 1 }] },
      'parse-failed @ $.args.objects[0].name: parsing Text failed, expected String, but encountered Number',
    ],
    [
      'insert',
      { table: 'author', objects: [{ name: 'New' }, { name: 'Ann' }] },
      'constraint-violation @ $.args: Uniqueness violation. duplicate key value violates unique constraint "author_name_key"',
    ],
    [
      'insert',
      { table: 'author', objects: [{ name: null }] },
      'constraint-violation @ $.args: Not-NULL violation. null value in column "name" of relation "author" violates not-null constraint',
    ],
    [
      'insert',
      { table: 'author', objects: [{ name: 'x' }], on_conflict: { action: 'update' } },
      "unexpected-payload @ $.args.on_conflict: Expecting 'constraint' or 'constraint_on' when the 'action' is 'update'",
    ],
    [
      'insert',
      { table: 'author', objects: [{ name: 'x' }], on_conflict: { action: 'ignore', constraint: 'no' } },
      'constraint-error @ $.args: constraint "no" for table "author" does not exist',
    ],
    [
      'insert',
      { table: 'author', objects: [{ name: 'x' }], on_conflict: { action: 'update', constraint_on: ['age'] } },
      'constraint-error @ $.args: there is no unique or exclusion constraint matching the ON CONFLICT specification',
    ],
    [
      'insert',
      { table: 'author', objects: [{ name: 'x' }] },
      'permission-denied @ $.args: insert on "author" for role "user" is not allowed. ',
      USER,
    ],
    [
      'insert',
      { table: 'article', objects: [{ title: 'x', tags: [] }] },
      'permission-denied @ $.args.objects[0]: role "user" does not have permission to insert column "tags"',
      USER,
    ],
    [
      'insert',
      { table: 'article', objects: [{ title: 'x', author_id: 2 }] },
      'not-supported @ $.args.objects[0]: column "author_id" is not insertable for role "user"; its value is predefined in permission',
      USER,
    ],
    [
      'insert',
      { table: 'article', objects: [{ title: 'fine' }, { title: 'forbidden' }] },
      'permission-error @ $.args: check constraint of an insert/update permission has failed',
      USER,
    ],
    [
      'insert',
      { table: 'audit', objects: [{ entry: 'x' }], on_conflict: { action: 'update', constraint: 'audit_pkey' } },
      'permission-denied @ $.args.on_conflict: upsert is not allowed for role "user" since update permissions are not defined',
      USER,
    ],
    [
      'insert',
      { table: 'audit', objects: [{}], returning: ['id'] },
      'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ',
      USER,
    ],
    [
      'insert',
      { table: 'article', objects: [{ title: 'x' }] },
      'not-found @ $.args: "x-svc-user-id" header is expected but not found',
      { role: 'user' },
    ],
    ['update', { table: 'author', $set: { name: 'x' } }, 'parse-failed @ $: key "where" not found'],
    ['update', { table: 'author', where: {} }, 'unexpected-payload @ $.args: atleast one of $set, $inc, $mul has to be present'],
    [
      'update',
      { table: 'author', where: {}, $inc: { name: 1 } },
      'unexpected-payload @ $.args["$inc"].name: column "name" is of type "text"; this operator works only on columns of numeric types',
    ],
    [
      'update',
      { table: 'author', where: {}, $inc: { age: 1 }, $set: { age: 2 } },
      "validation-failed @ $.args: Column found in multiple operators: ['age'].",
    ],
    ['update', { table: 'author', where: {}, $set: { twice: 2 } }, 'not-supported @ $.args["$set"].twice: column "twice" is not updatable'],
    [
      'update',
      { table: 'author', where: {}, $set: { age: 2 } },
      'permission-denied @ $.args: update on "author" for role "user" is not allowed. ',
      USER,
    ],
    [
      'update',
      { table: 'article', where: {}, $set: { data: 2 } },
      'permission-denied @ $.args["$set"].data: role "user" does not have permission to update column "data"',
      USER,
    ],
    [
      'update',
      { table: 'article', where: {}, $default: ['tags'] },
      'not-supported @ $.args["$default"][0]: column "tags" is not updatable for role "user"; its value is predefined in permission',
      USER,
    ],
    [
      'update',
      { table: 'article', where: { id: 2 }, $set: { title: 'forbidden' } },
      'permission-error @ $.args: check constraint of an insert/update permission has failed',
      USER,
    ],
    [
      'update',
      { table: 'article', where: { author: { secret: 's1' } }, $set: { title: 'x' } },
      'permission-denied @ $.args.where.author.secret: role "user" does not have permission to select column "secret"',
      USER,
    ],
    ['delete', { table: 'author' }, 'parse-failed @ $: key "where" not found'],
    [
      'delete',
      { table: 'author', where: { id: 1 } },
      'constraint-violation @ $.args: Foreign key violation. update or delete on table "author" violates foreign key constraint "article_author_id_fkey" on table "article"',
    ],
    ['delete', { table: 'author', where: {} }, 'permission-denied @ $.args: delete on "author" for role "user" is not allowed. ', USER],
    [
      'delete',
      { table: 'audit', where: { entry: 'x' } },
      'permission-denied @ $.args.where.entry: role "user" does not have permission to select column "entry"',
      USER,
    ],
  ])('refuses to %s %j, and writes nothing', async (type, args, refusal, caller) => {
    const before = await Promise.all([rows('author', '*'), rows('article', '*'), rows('audit', '*')]);
    expect(await refused(type, args, caller)).toBe(refusal);
    expect(await Promise.all([rows('author', '*'), rows('article', '*'), rows('audit', '*')])).toEqual(before);
  });
});

describe('bulk', () => {
  it('is open to roles as long as it holds nothing but data operations', async () => {
    const count = { type: 'count', args: { table: 'article' } };
    expect(await run('bulk', [count, { type: 'bulk', args: [count] }], USER)).toEqual([{ count: 3 }, [{ count: 3 }]]);
    expect(await run('concurrent_bulk', [count, count], { ...USER, path: '/v2/query' })).toEqual([{ count: 3 }, { count: 3 }]);
    expect(await refused('bulk', [count, { type: 'count', args: { table: 'audit' } }], USER)).toMatch(
      /^permission-denied @ \$\.args\[1\]\.args: select on "audit"/,
    );
    for (const other of [
      { type: 'run_sql', args: { sql: 'select 1' } },
      { type: 'bulk', args: [{ type: 'export_metadata', args: {} }] },
    ]) {
      expect(await refused('bulk', [count, other], USER)).toBe('access-denied @ $.args: restricted access : admin only');
    }
  });

  it('refuses writes among operations that run at once', async () => {
    const { status, json } = await send(
      { type: 'concurrent_bulk', args: [{ type: 'delete', args: { table: 'audit', where: {} } }] },
      { path: '/v2/query' },
    );
    expect({ status, ...(json as JsonObject) }).toMatchObject({
      status: 500,
      code: 'unexpected',
      error: 'Only read-only queries are allowed in a concurrent_bulk',
    });
  });
});

it('prints numbers as the service is told to', async () => {
  const strings = await startTestService({ STRINGIFY_NUMERIC_TYPES: 'true' });
  try {
    await strings.sql('create table big (id bigint primary key, price numeric)');
    await strings.metadata('pg_track_table', 'big');
    const body = JSON.stringify({
      type: 'insert',
      args: { table: 'big', objects: [{ id: '9007199254740993', price: 1.5 }], returning: ['*'] },
    });
    expect((await strings.send('/v1/query', { method: 'POST', body })).json).toEqual({
      affected_rows: 1,
      returning: [{ id: '9007199254740993', price: '1.5' }],
    });
  } finally {
    await strings.stop();
  }
});
