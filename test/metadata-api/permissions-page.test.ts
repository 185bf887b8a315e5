/** The examples of docs/permissions.md, unchanged, and its statements about conditions. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

const page = readFileSync(new URL('../../docs/permissions.md', import.meta.url), 'utf8');
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.sql(blocksOf('sql setup').join(''));
  for (const block of blocksOf('json metadata')) {
    const operation = JSON.parse(block) as Json;
    await service.metadata('bulk', Array.isArray(operation) ? operation : [operation]);
  }
  await service.sql(`insert into author (name, tenant) values ('Ann', 1), ('Bob', 2);
    insert into article (author_id, title, content, is_published) values (1, 'one', 'one', false), (2, 'two', '', true), (2, 'three', '', false)`);
});
afterAll(() => service.stop());

const as = (role: string, query: string, session: Record<string, string> = { 'user-id': '1' }): Promise<JsonObject> =>
  service.graphql(query, { role, session });
const titles = (...found: readonly string[]): JsonObject => ({ data: { article: found.map((title) => ({ title })) } });

test('accepts the permissions of the page', async () => {
  const list = '{ article(order_by: {id: asc}) { title } }';
  expect(await as('user', list)).toEqual(titles('one', 'two'));
  expect(await as('editor', '{ article_aggregate { aggregate { count } } author(order_by: {id: asc}) { articles { title } } }')).toEqual({
    data: {
      article_aggregate: { aggregate: { count: 2 } },
      author: [{ articles: [{ title: 'one' }] }, { articles: [{ title: 'two' }] }],
    },
  });
  expect(await as('user', 'mutation { insert_article_one(object: {title: "mine"}) { author_id } }')).toEqual({
    data: { insert_article_one: { author_id: 1 } },
  });
  const refused = [
    'mutation { insert_article_one(object: {title: ""}) { id } }',
    'mutation { insert_article_one(object: {title: "a", author_id: 2}) { id } }',
    'mutation { update_article(where: {title: {_eq: "mine"}}, _set: {title: ""}) { affected_rows } }',
    '{ author { name } }',
  ];
  for (const query of refused) expect(await as('user', query)).toHaveProperty('errors');
  expect(await as('user', 'mutation { update_article(where: {}, _set: {content: "c"}) { affected_rows } }')).toEqual({
    data: { update_article: { affected_rows: 2 } },
  });
  expect(await as('user', 'mutation { delete_article(where: {title: {_eq: "mine"}}) { affected_rows } }')).toEqual({
    data: { delete_article: { affected_rows: 1 } },
  });
  const neighbours = await service.graphql(
    '{ author(where: {id: {_eq: 1}}) { neighbours { name } } article(where: {id: {_eq: 1}}) { author { name } } }',
  );
  expect(neighbours).toEqual({ data: { author: [{ neighbours: [{ name: 'Ann' }] }], article: [{ author: { name: 'Ann' } }] } });
});

test.each<[JsonObject, Record<string, string>, readonly string[] | 'refused']>([
  [{ author: { tenant: 'x-svc-tenant-id' } }, { 'tenant-id': '1' }, ['one']],
  [{ author: { tenant: 'X-Svc-Tenant-Id' } }, {}, 'refused'],
  [{ id: { _in: 'x-svc-ids' } }, { ids: '{2,3}' }, ['two', 'three']],
  [{ _exists: { _table: 'author', _where: { name: 'x-svc-name' } } }, { name: 'Ann' }, ['one', 'two', 'three']],
  [{ _exists: { _table: 'author', _where: { name: 'x-svc-name' } } }, { name: 'Eve' }, []],
  [{ title: { _cgt: 'content' } }, {}, ['two', 'three']],
  [{ author: { id: { _clt: ['$', 'id'] } } }, {}, ['three']],
  [{ _not: { _or: [{ id: 1 }, { is_published: true }] } }, {}, ['three']],
])('the condition %j', async (filter, session, expected) => {
  const args = { table: 'article', role: 'other' };
  await service.metadata('pg_create_select_permission', { ...args, permission: { columns: ['title'], filter } });
  try {
    await service.sql(`update article set content = title where id = 1`);
    const answer = await as('other', '{ article { title } }', session);
    if (expected === 'refused') expect(answer).toHaveProperty('errors');
    else
      expect((answer['data'] as { article: { title: string }[] }).article.map(({ title }) => title).sort()).toEqual([...expected].sort());
  } finally {
    await service.metadata('pg_drop_select_permission', args);
  }
});

test.each([{ articles_aggregate: { count: { predicate: { _gt: 1 } } } }])('rejects a permission with %j', async (filter) => {
  const args = { table: 'author', role: 'other', permission: { columns: ['id'], filter } };
  await expect(service.metadata('pg_create_select_permission', args)).rejects.toThrow('does not exist');
});
