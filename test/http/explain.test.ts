import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(`
    create table author (id int primary key, name text, tags text[], active boolean);
    create table article (id int primary key, title text, author_id int references author);
    insert into author select n, 'name ' || n, array['t' || n % 3] from generate_series(1, 2000) n;
    insert into article select n, 'it''s $1 "' || n, n from generate_series(1, 2000) n;
    analyze author, article`);
  await service.metadata('pg_track_tables', { tables: ['author', 'article'].map((table) => ({ table })) });
  await service.metadata('pg_create_array_relationship', {
    table: 'author',
    name: 'articles',
    using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
  });
  for (const table of ['author', 'article']) {
    const filter: Json = table === 'author' ? { id: { _eq: 'X-Svc-User-Id' } } : {};
    await service.metadata('pg_create_select_permission', { table, role: 'user', permission: { columns: '*', filter } });
  }
});
afterAll(() => service.stop());

async function explain(body: Json, headers: Record<string, string> = {}, path = '/v1/graphql/explain'): Promise<readonly [number, Json]> {
  const answer = await service.send(path, { method: 'POST', headers, body: printJson(body) });
  return [answer.status, answer.json];
}

interface Explained {
  readonly field: string;
  readonly sql: string | null;
  readonly plan: readonly string[] | null;
}

const query = async (body: JsonObject): Promise<readonly Explained[]> => {
  const [status, json] = await explain(body);
  if (status !== 200) throw new Error(printJson(json));
  return json as unknown as readonly Explained[];
};

describe('explain of queries', () => {
  it('has one element per root field, in order', async () => {
    const found = await query({
      query: '{ b: author_by_pk(id: 3) { name } __typename a: author(limit: 1) { id } __schema { queryType { name } } }',
    });
    expect(found.map(({ field }) => field)).toEqual(['b', '__typename', 'a', '__schema']);
    expect(found.map(({ sql, plan }) => [sql === null, plan === null])).toEqual([
      [false, false],
      [true, true],
      [false, false],
      [true, true],
    ]);
    expect(found[0]?.plan?.join('\n')).toContain('author_pkey');
  });

  it('shows executable statements with the values of request and session', async () => {
    const body = {
      query: {
        query:
          'query Q($title: String, $n: Int) { article(where: {title: {_eq: $title}}, offset: $n) { id } author { id name articles { title } } }',
        operationName: 'Q',
        variables: { title: 'it\'s $1 "7', n: 0 },
      },
      user: { 'X-Svc-Role': 'user', 'x-svc-user-id': '5' },
    };
    const [article, author] = await query(body);
    const run = async (sql: string | null | undefined): Promise<Json> => {
      const result = (await service.sql(sql ?? '')) as { result: readonly (readonly string[])[] } & JsonObject;
      return JSON.parse(result.result[1]?.[0] ?? '') as Json;
    };
    expect(await run(article?.sql)).toEqual([{ id: 7 }]);
    expect(await run(author?.sql)).toEqual([{ id: 5, name: 'name 5', articles: [{ title: 'it\'s $1 "5' }] }]);
    expect(author?.sql).not.toMatch(/\$\d/);
  });

  it('defaults to admin without a user, on the older endpoint too', async () => {
    const [status, json] = await explain({ query: '{ author { id } }', user: null }, {}, '/v1alpha1/graphql/explain');
    expect([status, json]).toMatchObject([
      200,
      [{ field: 'author', plan: expect.arrayContaining([expect.stringContaining('Seq Scan on author')]) as Json }],
    ]);
  });

  it('executes nothing', async () => {
    await service.sql(`
      create function touch() returns setof author as $$ insert into article values (99999, 'made', 1); select * from author limit 1 $$ language sql volatile`);
    await service.metadata('pg_track_function', { function: 'touch', configuration: { exposed_as: 'query' } });
    expect((await query({ query: '{ touch { id } }' }))[0]?.sql).toContain('touch');
    expect(await service.graphql('{ article_by_pk(id: 99999) { id } }')).toEqual({ data: { article_by_pk: null } });
  });

  it.each<[string, Json, string, string]>([
    ['a mutation', { query: 'mutation { delete_author(where: {}) { affected_rows } }' }, 'invalid-params', 'only queries can be explained'],
    ['no query', {}, 'parse-failed', "the key 'query' was not present"],
    ['an unknown field', { query: '{ x }' }, 'validation-failed', "field 'x' not found in type: 'query_root'"],
    [
      'a role without the field',
      { query: '{ author { id } }', user: { 'x-svc-role': 'nobody' } },
      'validation-failed',
      "field 'author' not found in type: 'query_root'",
    ],
    [
      'a missing session variable',
      { query: '{ author { id } }', user: { 'x-svc-role': 'user' } },
      'not-found',
      'missing session variable: "x-svc-user-id"',
    ],
    [
      'a user that is none',
      { query: '{ author { id } }', user: { 'x-svc-role': 1 } },
      'parse-failed',
      'parsing Text failed, expected String',
    ],
    [
      'a misspelt user, for whom it would be admin',
      { query: '{ author { id } }', usr: { 'x-svc-role': 'user', 'x-svc-user-id': '5' } },
      'parse-failed',
      'unknown key "usr": did you mean "user"?',
    ],
    [
      'a key of the outer request',
      { query: { query: '{ author { id } }' }, variables: {} },
      'parse-failed',
      'unknown key "variables": expecting one of query, user, is_relay',
    ],
    ['a list', [], 'parse-failed', 'parsing GQLExplain failed, expected Object, but encountered a different JSON value'],
  ])('rejects %s', async (_what, body, code, error) => {
    expect(await explain(body)).toMatchObject([400, { code, error }]);
  });

  it('is restricted to administrators', async () => {
    expect(await explain({ query: '{ author { id } }' }, { 'x-svc-role': 'user' })).toEqual([
      400,
      {
        path: '$',
        error: 'You have to be an admin to access this endpoint',
        code: 'access-denied',
        suggestions: ['Leave the header X-Svc-Role out, or send the role admin in it.'],
      },
    ]);
  });
});

describe('explain of subscriptions', () => {
  it('shows the multiplexed statement with the variables of each cohort', async () => {
    const [status, json] = await explain({
      query: {
        query:
          'subscription ($like: String!, $tags: [String!]) { author(where: {name: {_like: $like}, tags: {_eq: $tags}, id: {_lt: 100}}) { id articles(limit: 1) { title } } }',
        variables: { like: 'name%', tags: ['t1'] },
      },
      user: { 'x-svc-role': 'user', 'x-svc-user-id': '4', 'x-svc-other': 'not used' },
    });
    expect(status).toBe(200);
    const { sql, plan, variables } = json as { sql: string; plan: readonly string[]; variables: JsonObject } & JsonObject;
    expect(variables).toEqual({ synthetic: ['100'], query: { like: 'name%', tags: '{"t1"}' }, session: { 'x-svc-user-id': '4' } });
    expect(sql).toContain('unnest(($1)::int4[]');
    expect(sql).toContain('"int4"[]');
    // The typed arrays let a cohort use the index of the key.
    expect(plan.join('\n')).toContain('Index Scan using author_pkey');
  });

  it.each<[string, string, readonly string[], string]>([
    ['a key', 'author_by_pk(id: 7) { id }', ['7'], '"t1"."id" = ("_cohorts"."v1")::"int4"'],
    ['a list', 'author(where: {id: {_in: [1, 2]}}) { id }', ['{1,2}'], '= any (("_cohorts"."v1")::"int4"[])'],
    ['one value of two types', 'author(where: {id: {_lt: 3}, name: {_eq: "3"}}) { id }', ['3', '3'], '= ("_cohorts"."v2")::"text"'],
    [
      'one value in two places',
      'author(where: {id: {_eq: 1}, articles: {id: {_eq: 1}}}) { id }',
      ['1'],
      '"t2"."id" = ("_cohorts"."v1")::"int4"',
    ],
    ['an offset, but not a limit', 'author(limit: 5, offset: 2) { id }', ['2'], 'limit 5 offset ("_cohorts"."v1")::"int8"'],
    // An index on the rows of one of the two values is usable only if the statement contains the value.
    ['a boolean as a literal', 'author(where: {active: {_eq: true}}) { id }', [], '"t1"."active" = true'],
  ])('shows how the statement refers to %s of the document', async (_what, field, synthetic, part) => {
    const [status, json] = await explain({ query: { query: `subscription { ${field} }` } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ sql: expect.stringContaining(part), variables: { synthetic, query: {}, session: {} } });
  });

  it('requires a single root field', async () => {
    expect(await explain({ query: 'subscription { author { id } article { id } }' })).toMatchObject([
      400,
      { error: 'subscriptions must select one top level field' },
    ]);
  });
});
