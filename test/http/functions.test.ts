/** SQL functions as fields: positional and named arguments, defaults, sessions, results, permissions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlOptions, startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const SCHEMA = `
  create table author (id int primary key, name text, owner int);
  create table article (id int primary key, title text, author_id int references author, likes int);
  insert into author values (1, 'Ann', 7), (2, 'Bob', 8);
  insert into article values (1, 'Sky', 1, 5), (2, 'Sea', 1, 6), (3, 'Sand', 2, 7);
  create function find(term text, lowest int default 0, most int default 100) returns setof article language sql stable as
    $$ select * from article where title ilike $1 and likes between $2 and $3 $$;
  create function nameless(int, int default 1) returns setof article language sql stable as
    $$ select * from article where likes >= $1 * $2 $$;
  create function best() returns article language sql stable as $$ select * from article order by likes desc limit 1 $$;
  create function none_at_all() returns article language sql stable as $$ select * from article where false $$;
  create function mine(session json) returns setof article language sql stable as
    $$ select article.* from article join author on author.id = author_id where owner = (session->>'x-svc-user-id')::int $$;
  create function counted_up(by int default 1) returns setof article language sql volatile as
    $$ update article set likes = likes + $1 returning * $$;
  create function shout(a author, times int default 1) returns text language sql stable as $$ select a.name || repeat('!', times) $$;
  create function whose(a author, session json) returns text language sql stable as
    $$ select (session->>'x-svc-role') || ' sees ' || a.name $$;
  create function popular(a author, lowest int) returns setof article language sql stable as
    $$ select * from article where author_id = a.id and likes >= lowest $$;
  create function listed(ids int[], keys uuid[] default null, titles varchar[] default null) returns setof article language sql stable as
    $$ select * from article where id = any (ids) and (titles is null or title = any (titles)) order by id $$;
  create function among(a author, ids int[]) returns boolean language sql stable as $$ select a.id = any (ids) $$;
`;

const FUNCTIONS: readonly (readonly [string, JsonObject])[] = [
  ['find', {}],
  ['nameless', {}],
  ['best', {}],
  ['listed', {}],
  ['none_at_all', {}],
  ['mine', { session_argument: 'session', custom_name: 'my_articles' }],
  ['counted_up', { exposed_as: 'query', custom_root_fields: { function: 'countUp' } }],
];

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: 'hush' });
  await service.sql(SCHEMA);
  for (const table of ['author', 'article']) await service.metadata('pg_track_table', { table });
  for (const [name, configuration] of FUNCTIONS) await service.metadata('pg_track_function', { function: name, configuration });
  for (const [name, definition] of [
    ['shout', { function: 'shout' }],
    ['whose', { function: 'whose', session_argument: 'session' }],
    ['popular', { function: 'popular' }],
  ] as const) {
    await service.metadata('pg_add_computed_field', { table: 'author', name, definition });
  }
  const select = async (table: string, role: string, permission: Json) =>
    service.metadata('pg_create_select_permission', { table, role, permission });
  await select('author', 'user', { columns: ['id'], filter: {}, computed_fields: ['whose'] });
  await select('article', 'user', { columns: ['title'], filter: { likes: { _lt: 7 } }, limit: 1 });
});
afterAll(() => service.stop());

async function data(query: string, options: GraphqlOptions = {}): Promise<Json> {
  const body = await service.graphql(query, options);
  expect(body['errors']).toBeUndefined();
  return body['data'] as Json;
}

async function refused(query: string, options: GraphqlOptions = {}): Promise<string> {
  const [error] = (await service.graphql(query, options))['errors'] as readonly {
    message: string;
    extensions: { path: string; code: string };
  }[];
  return `${error?.extensions.code} at ${error?.extensions.path}: ${error?.message}`;
}

describe('functions that read', () => {
  it.each([
    ['{ find(args: {term: "s%"}, order_by: {id: desc}, limit: 2) { title } }', { find: [{ title: 'Sand' }, { title: 'Sea' }] }],
    ['{ find(args: {term: "s%", most: 5}) { title } }', { find: [{ title: 'Sky' }] }],
    ['{ find(args: {term: null}) { title } }', { find: [] }],
    ['{ find(args: {term: "s%"}, where: {author_id: {_eq: 2}}) { title } }', { find: [{ title: 'Sand' }] }],
    [
      '{ find_aggregate(args: {term: "s%"}) { aggregate { count sum { likes } } } }',
      { find_aggregate: { aggregate: { count: 3, sum: { likes: 18 } } } },
    ],
    ['{ nameless(args: {arg_1: 7}) { title } }', { nameless: [{ title: 'Sand' }] }],
    ['{ nameless(args: {arg_1: 3, arg_2: 2}, order_by: {id: asc}) { title } }', { nameless: [{ title: 'Sea' }, { title: 'Sand' }] }],
    ['{ best { title } none_at_all { title } }', { best: { title: 'Sand' }, none_at_all: null }],
  ])('return rows: %s', async (query, expected) => {
    expect(await data(query)).toEqual(expected);
  });

  it('receive the session and return only rows that the role may see', async () => {
    const query = '{ my_articles { title } }';
    expect(await data(query, { session: { 'user-id': '8' } })).toEqual({ my_articles: [{ title: 'Sand' }] });
    expect(await data(query, { role: 'user', session: { 'user-id': '8' } })).toEqual({ my_articles: [] });
    expect(await data(query, { role: 'user', session: { 'user-id': '7' } })).toMatchObject({ my_articles: [{}] });
    expect(await refused('{ my_articles_aggregate { aggregate { count } } }', { role: 'user' })).toBe(
      "validation-failed at $.selectionSet.my_articles_aggregate: field 'my_articles_aggregate' not found in type: 'query_root'",
    );
  });

  it('may be volatile, and then run once', async () => {
    const before = (await data('{ article_by_pk(id: 1) { likes } }')) as { article_by_pk: { likes: number } };
    expect(await data('{ countUp(where: {id: {_eq: 1}}) { likes } }')).toEqual({ countUp: [{ likes: before.article_by_pk.likes + 1 }] });
    expect(await data('{ countUp(args: {by: -1}, where: {id: {_eq: 1}}) { likes } }')).toEqual({ countUp: [before.article_by_pk] });
  });

  it.each([
    ['{ find { title } }', "validation-failed at $.selectionSet.find.args.args: missing required field 'args'"],
    ['{ find(args: {}) { title } }', 'not-supported at $.selectionSet.find.args.args: Non default arguments cannot be omitted'],
    [
      '{ nameless(args: {arg_2: 2}) { title } }',
      'not-supported at $.selectionSet.nameless.args.args: Non default arguments cannot be omitted',
    ],
    [
      '{ my_articles(args: {session: "{}"}) { title } }',
      "validation-failed at $.selectionSet.my_articles: 'my_articles' has no argument named 'args'",
    ],
  ])('rejects %s', async (query, message) => {
    expect(await refused(query)).toBe(message);
  });
});

describe('computed fields', () => {
  it('take arguments and the session', async () => {
    const query = `{ author(order_by: {shout: desc}) { whose two: shout(args: {times: 2}) one: shout popular(args: {lowest: 6}) { title } } }`;
    // A field with caller's arguments cannot be used in an order.
    expect(await refused(query)).toBe(
      "validation-failed at $.selectionSet.author.args.order_by[0].shout: field 'shout' not found in type: 'author_order_by'",
    );
    expect(await data(query.replace('shout: desc', 'whose: desc'))).toEqual({
      author: [
        { whose: 'admin sees Bob', two: 'Bob!!', one: 'Bob!', popular: [{ title: 'Sand' }] },
        { whose: 'admin sees Ann', two: 'Ann!!', one: 'Ann!', popular: [{ title: 'Sea' }] },
      ],
    });
    expect(await data('{ author(where: {whose: {_like: "%Ann"}}) { id } }')).toEqual({ author: [{ id: 1 }] });
  });

  it('require a permission of their own, or one for the returned table', async () => {
    expect(await data('{ author(order_by: {id: asc}) { whose popular(args: {lowest: 0}) { title } } }', { role: 'user' })).toMatchObject({
      author: [
        { whose: 'user sees Ann', popular: [{}] },
        { whose: 'user sees Bob', popular: [] },
      ],
    });
    expect(await refused('{ author { shout } }', { role: 'user' })).toBe(
      "validation-failed at $.selectionSet.author.selectionSet.shout: field 'shout' not found in type: 'author'",
    );
  });
});

describe('permissions for functions', () => {
  it('are required if they are not inferred', async () => {
    const strict = await startTestService({ ADMIN_SECRET: 'hush', INFER_FUNCTION_PERMISSIONS: 'false' });
    try {
      await strict.sql(
        'create table t (id int primary key); insert into t values (1); create function f() returns setof t language sql stable as $$ select * from t $$',
      );
      await strict.metadata('pg_track_table', { table: 't' });
      await strict.metadata('pg_track_function', { function: 'f' });
      for (const role of ['a', 'b']) {
        await strict.metadata('pg_create_select_permission', { table: 't', role, permission: { columns: '*', filter: {} } });
      }
      await strict.metadata('add_inherited_role', { role_name: 'ab', role_set: ['a', 'b'] });
      await strict.metadata('pg_create_function_permission', { function: 'f', role: 'a' });
      for (const role of ['a', 'ab']) expect(await strict.graphql('{ f { id } }', { role })).toEqual({ data: { f: [{ id: 1 }] } });
      expect(await strict.graphql('{ f { id } }', { role: 'b' })).toMatchObject({
        errors: [{ message: "field 'f' not found in type: 'query_root'" }],
      });
    } finally {
      await strict.stop();
    }
  });
});

describe('an array argument of a function', () => {
  const ids = async (args: string, declaration = '', variables: JsonObject = {}): Promise<unknown> => {
    const query = `query ${declaration} { listed(args: ${args}) { id } }`;
    const headers = { 'x-svc-admin-secret': 'hush' };
    const answer = await service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const { data, errors } = answer.json as { data?: { listed: { id: number }[] }; errors?: { message: string }[] };
    return data?.listed.map(({ id }) => id) ?? errors?.[0]?.message;
  };

  it('is a scalar in the schema', async () => {
    await service.metadata('pg_add_computed_field', { table: 'author', name: 'among', definition: { function: 'among' } });
    const answer = await service.graphql(
      '{ listed: __type(name: "listed_args") { inputFields { name type { kind name } } } among: __type(name: "among_author_args") { inputFields { name type { name } } } }',
    );
    expect(answer).toEqual({
      data: {
        listed: {
          inputFields: ['ids', 'keys', 'titles'].map((name, i) => ({
            name,
            type: { kind: 'SCALAR', name: ['_int4', '_uuid', '_varchar'][i] },
          })),
        },
        among: { inputFields: [{ name: 'ids', type: { name: '_int4' } }] },
      },
    });
    const nested = 'query ($ids: _int4) { author(order_by: {id: asc}) { among(args: {ids: $ids}) } }';
    expect(await service.graphql(nested, { variables: { ids: [2] } })).toEqual({ data: { author: [{ among: false }, { among: true }] } });
  });

  it.each<[string, string, JsonObject]>([
    ['{ids: [1, 3]}', '', {}],
    ['{ids: "{1,3}"}', '', {}],
    ['{ids: $ids}', '($ids: _int4)', { ids: [1, 3] }],
    ['{ids: $ids}', '($ids: _int4!)', { ids: '{1,3}' }],
    ['{ids: $ids}', '($ids: [Int!])', { ids: [1, 3] }],
    ['{ids: $ids}', '($ids: [Int!]!)', { ids: ['1', 3] }],
    ['{ids: $ids, titles: $titles}', '($ids: _int4 = [1, 2, 3], $titles: [String!])', { titles: ['Sky', 'Sand'] }],
    ['{ids: [$a, $b], keys: null}', '($a: Int!, $b: Int!)', { a: 1, b: 3 }],
    ['$args', '($args: listed_args!)', { args: { ids: [3, 1], titles: '{Sky,Sand}' } }],
  ])('may be a list or a text: %s %s', async (args, declaration, variables) => {
    expect(await ids(args, declaration, variables)).toEqual([1, 3]);
  });

  it('may have another length in a cached plan', async () => {
    for (const list of [[1], [2, 3], [], '{2}']) {
      expect(await ids('{ids: $ids}', '($ids: _int4!)', { ids: list })).toEqual(typeof list === 'string' ? [2] : list);
    }
    for (const a of [1, 2]) expect(await ids('{ids: [$a]}', '($a: Int!)', { a })).toEqual([a]);
  });

  it.each<[string, string, JsonObject, string]>([
    ['{ids: ["x"]}', '', {}, 'invalid input syntax for type integer: "x"'],
    ['{ids: [1, null]}', '', {}, "unexpected null value for type 'Int'"],
    [
      '{ids: [1.5]}',
      '',
      {},
      'The value 1.5 lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?',
    ],
    ['{ids: $ids}', '($ids: [String!])', { ids: ['1'] }, "variable 'ids' is declared as '[String!]', but used where '_int4' is expected"],
    ['{ids: $ids}', '($ids: _text)', { ids: ['1'] }, "variable 'ids' is declared as '_text', but used where '_int4' is expected"],
    ['{ids: $ids}', '($ids: _int4)', { ids: { a: 1 } }, 'Integer expected for input type: integer'],
  ])('is rejected with a reason: %s %s', async (args, declaration, variables, message) => {
    expect(await ids(args, declaration, variables)).toBe(message);
  });
});
