/** Minimal cases found by random tests, and attacks designed by hand. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { ask } from './session.ts';

const TABLES = `
  create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table author (id integer primary key, owner integer not null, name text collate "C");
  create table article (
    id integer primary key,
    author_id integer not null references author,
    title text collate "C",
    code character(4),
    divisor integer not null default 1,
    rating double precision,
    parts integer[],
    area box,
    ring circle,
    span lseg,
    docs json[],
    note text,
    nick text collate any_case
  );
  create function ratio(article article) returns integer language plpgsql stable as $$ begin return 10 / article.divisor; end $$;
  create function ratios(author author) returns setof article language sql stable as
    $$ select * from article where author_id = author.id and 10 / divisor > 0 $$;
`;
const ROWS = `
  truncate author, article;
  insert into author values (1, 1, 'a'), (2, 2, 'b');
  insert into article (id, author_id, title, code, rating, parts) values
    (1, 1, 'visible', 'x', 1e16, '{1}'), (2, 1, 'visible too', 'y', -1e16, '{2}'), (3, 1, null, null, 1, null);
`;

const COLUMNS = ['id', 'author_id', 'title', 'code', 'divisor', 'rating', 'parts', 'area', 'ring', 'span', 'docs', 'nick'];
const OWN = { author: { owner: 'X-Svc-User-Id' } };

const permission = (role: string, columns: readonly string[], filter: Json): Json => ({
  role,
  permission: { columns: [...columns], filter, computed_fields: ['ratio'], allow_aggregations: true },
});

const METADATA: Json = {
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
      tables: [
        {
          table: 'author',
          array_relationships: [{ name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } }],
          object_relationships: [
            { name: 'like', using: { manual_configuration: { remote_table: 'article', column_mapping: { id: 'id' } } } },
          ],
          computed_fields: [{ name: 'ratios', definition: { function: 'ratios' } }],
          select_permissions: [
            { role: 'gated', permission: { columns: ['id'], filter: {} } },
            { role: 'joined', permission: { columns: ['id'], filter: {} } },
            { role: 'user', permission: { columns: ['id', 'name'], filter: { owner: 'X-Svc-User-Id' }, allow_aggregations: true } },
            { role: 'simple', permission: { columns: ['id', 'name'], filter: { id: 'X-Svc-User-Id' } } },
          ],
        },
        {
          table: 'article',
          object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          computed_fields: [{ name: 'ratio', definition: { function: 'ratio' } }],
          select_permissions: [
            permission('user', COLUMNS, OWN),
            permission('simple', COLUMNS, { author_id: 'X-Svc-User-Id' }),
            permission('titles', ['id', 'title'], OWN),
            permission('ids', ['id'], {}),
            permission('gated', ['id'], { _exists: { _table: 'author', _where: { name: 'nobody' } } }),
            permission('joined', ['id'], { author: { articles: { title: 'nothing' } } }),
          ],
          update_permissions: [{ role: 'user', permission: { columns: ['title'], filter: OWN } }],
          delete_permissions: [{ role: 'user', permission: { filter: OWN } }],
        },
      ],
    },
  ],
  inherited_roles: [{ role_name: 'masked', role_set: ['titles', 'ids'] }],
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '2' });
  await service.metadata('clear_metadata', {});
  await runSql(service.databaseUrl, TABLES);
  await service.metadata('replace_metadata', METADATA);
});
afterAll(async () => {
  await service?.stop();
});
beforeEach(async () => {
  await runSql(service.databaseUrl, ROWS);
});

const answer = (role: string, query: string, variables: Record<string, Json> = {}): Promise<string> =>
  ask(service.url, { role, session: { 'user-id': '1' }, request: { query, variables } });

const failure = (message: string, code: string): string => JSON.stringify({ errors: [{ message, extensions: { path: '$', code } }] });

describe('inherited roles', () => {
  it('keep the first row per value of a masked column', async () => {
    const query = '{ article(distinct_on: title, order_by: [{title: asc}, {id: asc}]) { id title } }';
    await runSql(service.databaseUrl, `insert into article (id, author_id, title) values (4, 2, 'hidden'), (5, 1, 'visible')`);
    expect(JSON.parse(await answer('masked', query))).toEqual({
      data: {
        article: [
          { id: 1, title: 'visible' },
          { id: 2, title: 'visible too' },
          { id: 3, title: null },
        ],
      },
    });
  });
});

describe('the order of nodes', () => {
  const nodes = '{ nodes { id } }';
  it.each(sample(['count(columns: id, distinct: true)', 'sum { rating }'], 1))('is preserved beside %s', async (beside) => {
    const query = `{ article_aggregate(order_by: {id: desc}) { aggregate { ${beside} } ${nodes.slice(2, -2)} } }`;
    const { data } = JSON.parse(await answer('user', query)) as { data: { article_aggregate: { nodes: Json } } };
    expect(data.article_aggregate.nodes).toEqual([{ id: 3 }, { id: 2 }, { id: 1 }]);
  });
});

describe('unseen rows', () => {
  const HIDDEN = `insert into article (id, author_id, title, code, divisor, parts, area, ring, span, docs)
    values (4, 2, 'hidden', 'abc', 0, '{4}', '(1e300,1e300),(-1e300,-1e300)', '<(0,0),1e300>', '[(1e308,0),(-1e308,0)]', '{1}')`;
  const LIKE = failure('LIKE pattern must not end with escape character', 'bad-request');
  const REGEX = failure('invalid regular expression: parentheses () not balanced', 'data-exception');
  const NO_OPERATOR = JSON.stringify({
    errors: [
      {
        message: "field '_eq' not found in type: 'json_array_comparison_exp'",
        extensions: { path: '$.selectionSet.article.args.where.docs._eq', code: 'validation-failed' },
      },
    ],
  });

  /** Compares answers before and after inserting a row that the role does not see. */
  async function unnoticed(role: string, query: string, variables: Record<string, Json> = {}): Promise<string> {
    const before = await answer(role, query, variables);
    await runSql(service.databaseUrl, HIDDEN);
    expect(await answer(role, query, variables)).toBe(before);
    return before;
  }

  const ids = (...of: number[]): Json => ({ data: { article: of.map((id) => ({ id })) } });

  describe.each(sample(['user', 'simple'], 1))('unseen rows in requests of %s', (role) => {
    it.each(
      sample(
        [
          ['{ title: { _like: "hid\\\\" } }', LIKE],
          ['{ title: { _nilike: "hid\\\\" } }', LIKE],
          ['{ code: { _like: "abc\\\\ " } }', LIKE],
          ['{ title: { _regex: "(" } }', REGEX],
          ['{ _not: { title: { _niregex: "(" } } }', REGEX],
          ['{ id: { _gt: 3 }, code: { _regex: "(" } }', REGEX],
          ['{ docs: { _eq: "{1}" } }', NO_OPERATOR],
        ],
        4,
      ),
    )('cause no failure through %s, which fails for any rows', async (where, expected) => {
      expect(await unnoticed(role, `{ article(where: ${where}) { id } }`)).toBe(expected);
    });

    it.each(
      sample(
        [
          ['{ area: { _gt: "(1,1),(0,0)" } }', ids()],
          ['{ ring: { _lte: "<(0,0),1>" } }', ids()],
          ['{ span: { _gt: "[(0,0),(1,1)]" } }', ids()],
          ['{ area: { _eq: "(1,1),(0,0)" } }', ids()],
          ['{ area: { _lt: "(1,1),(0,0)" }, author: { name: { _like: "b%" } } }', ids()],
          ['{ author: { articles: { title: { _like: "h%" }, area: { _gt: "(1,1),(0,0)" } } } }', ids()],
          ['{ title: { _like: "h%" }, nick: { _regex: "a" } }', ids()],
          ['{ ratio: { _gt: 1 } }', ids(1, 2, 3)],
          ['{ _or: [{ id: { _lt: 0 } }, { ratio: { _lt: 1 } }] }', ids()],
          ['{ parts: { _in: ["{1}", "{2}"] } }', ids(1, 2)],
          ['{ title: { _similar: "%too" } }', ids(2)],
          ['{ title: { _regex: "(v|h).*too" } }', ids(2)],
          ['{ title: { _like: "visible\\\\\\\\" } }', ids()],
        ],
        4,
      ),
    )('cause no failure through %s', async (where, expected) => {
      expect(JSON.parse(await unnoticed(role, `{ article(where: ${where}, order_by: {id: asc}) { id } }`))).toEqual(expected);
    });
  });

  it.each(sample(['gated', 'joined'], 1))('do not make the fields of a related row fail for role %s', async (role) => {
    await runSql(service.databaseUrl, `insert into author values (4, 4, 'd')`);
    const none = [1, 2, 4].map((id) => ({ id, like: null }));
    expect(JSON.parse(await unnoticed(role, '{ author(order_by: {id: asc}) { id like { ratio } } }'))).toEqual({ data: { author: none } });
  });

  it.each(sample(['gated', 'joined'], 1))('do not make an order by related rows fail for role %s', async (role) => {
    await runSql(service.databaseUrl, `insert into author values (4, 4, 'd')`);
    const query = '{ author(order_by: [{like: {ratio: asc}}, {id: desc}]) { id } }';
    expect(JSON.parse(await unnoticed(role, query))).toEqual({ data: { author: [4, 2, 1].map((id) => ({ id })) } });
  });

  it('do not make a pattern fail that would fail for them', async () => {
    await runSql(service.databaseUrl, 'delete from article');
    expect(await unnoticed('user', '{ article(where: {title: {_similar: "("}}) { id } }')).toBe('{"data":{"article":[]}}');
    await runSql(service.databaseUrl, 'delete from article');
    expect(await unnoticed('user', '{ article(where: {parts: {_in: ["no array"]}}) { id } }')).toBe('{"data":{"article":[]}}');
  });

  it('are not read through relationships', async () => {
    for (const where of [
      '{articles: {ratio: {_gt: 1}}}',
      '{_not: {articles: {ratio: {_lt: 1}}}}',
      '{articles_aggregate: {count: {predicate: {_eq: 3}, filter: {ratio: {_gt: 1}}}}}',
      '{ratios: {id: {_eq: 1}}}',
    ]) {
      expect(JSON.parse(await unnoticed('user', `{ author(where: ${where}) { id } }`))).toEqual({ data: { author: [{ id: 1 }] } });
      await runSql(service.databaseUrl, ROWS);
    }
  });

  it('are not read for order, aggregates and similar parts of a request', async () => {
    for (const query of [
      '{ article(order_by: [{ratio: asc}, {id: asc}]) { id } }',
      '{ article_aggregate(where: {ratio: {_gt: 1}}) { aggregate { count sum { ratio } } } }',
      '{ author(order_by: {articles_aggregate: {max: {ratio: asc}}}) { id articles_aggregate { aggregate { max { ratio } } } } }',
      '{ article(where: {ratio: {_gt: 1}}, distinct_on: author_id, order_by: [{author_id: asc}, {id: asc}], limit: 2) { id ratio } }',
    ]) {
      expect(await unnoticed('user', query)).toContain('{"data":');
      await runSql(service.databaseUrl, ROWS);
    }
  });

  it('are not read by writes', async () => {
    await runSql(service.databaseUrl, HIDDEN);
    const where = '{ratio: {_gt: 1}, id: {_gt: 1}}';
    expect(JSON.parse(await answer('user', `mutation { update_article(where: ${where}, _set: {title: "x"}) { affected_rows } }`))).toEqual({
      data: { update_article: { affected_rows: 2 } },
    });
    expect(JSON.parse(await answer('user', `mutation { delete_article(where: ${where}) { affected_rows } }`))).toEqual({
      data: { delete_article: { affected_rows: 2 } },
    });
  });
});

describe('columns without permission', () => {
  it('do not change how sums are rounded', async () => {
    const query = '{ article_aggregate { aggregate { sum { rating } avg { rating } stddev { rating } } } }';
    const before = await answer('user', query);
    // The row moves to the end of the table.
    await runSql(service.databaseUrl, `update article set note = 'x' where id = 1`);
    expect(await answer('user', query)).toBe(before);
  });
});

describe('many unseen rows', () => {
  const FLOOD = `
    insert into author select i, 2, 'name ' || i from generate_series(3, 3000) as i;
    insert into article (id, author_id, title, code, divisor, rating, parts)
      select i, 2 + i % 2000, 'title ' || i, 'abc', i % 2, i, array[i] from generate_series(5, 20000) as i;
    analyze;
  `;
  const QUERIES: readonly string[] = [
    '{ article(where: {ratio: {_gt: 1}}, order_by: {id: asc}, limit: 2) { id ratio author { id name } } }',
    '{ article(where: {_or: [{title: {_similar: "(v|t)%"}}, {ratio: {_lt: 100}}]}, order_by: {id: desc}) { id title } }',
    '{ article(where: {title: {_regex: "("}}) { id } }',
    '{ article(where: {title: {_like: "title 1\\\\"}}) { id } }',
    '{ article(where: {parts: {_in: ["{1}", "{5}"]}}) { id } }',
    '{ article(order_by: [{author: {name: desc}}, {ratio: asc}, {id: asc}], offset: 1) { id } }',
    '{ article(distinct_on: code, order_by: [{code: asc}, {id: asc}]) { id code } }',
    '{ article_aggregate(where: {ratio: {_gt: 1}}) { aggregate { count(columns: [code], distinct: true) sum { ratio rating } } } }',
    '{ article_aggregate(order_by: {id: asc}) { aggregate { avg { rating } stddev { rating } max { title } } nodes { id author { id } } } }',
    '{ article(where: {author: {articles: {ratio: {_gt: 1}}}}, order_by: {id: asc}) { id } }',
    '{ article(where: {author: {articles_aggregate: {avg: {arguments: rating, predicate: {_lt: 10}}}}}, order_by: {id: asc}) { id } }',
  ];

  it.runIf(DEEP)('change no answer, whatever plan the database chooses for them', async () => {
    const roles = sample(['user', 'simple'], 1);
    const all = async (): Promise<string[]> => {
      const answers: string[] = [];
      // Often enough for the database to try a generic plan.
      for (let round = 0; round < 7; round++) {
        for (const role of roles) {
          for (const query of QUERIES) answers.push(`${role} ${query} ${await answer(role, query)}`);
        }
      }
      return answers;
    };
    const before = await all();
    expect(new Set(before).size).toBe(roles.length * QUERIES.length);
    // Two of the requests have an invalid pattern.
    expect(before.filter((text) => text.includes('"errors"')).length).toBe(2 * roles.length * 7);
    await runSql(service.databaseUrl, FLOOD);
    expect(await all()).toEqual(before);
  });
});
