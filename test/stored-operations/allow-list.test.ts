import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ ENABLE_ALLOWLIST: 'true' });
  await service.sql("create table author (id int primary key, name text); insert into author values (1, 'Ann')");
  await service.metadata('pg_track_table', { table: 'author' });
  for (const role of ['user', 'guest']) {
    await service.metadata('pg_create_select_permission', { table: 'author', role, permission: { columns: '*', filter: {} } });
  }
  const collect = (name: string, query: string) =>
    service.metadata('create_query_collection', { name, definition: { queries: [{ name: 'q', query }] } });
  await collect(
    'all',
    'query Q($id: Int!) { __typename a: author(where: {id: {_eq: $id}}) { ...f } } fragment f on author { id __typename name }',
  );
  await collect('users', '{ author { id } }');
  await service.metadata('add_collection_to_allowlist', { collection: 'all' });
  await service.metadata('add_collection_to_allowlist', { collection: 'users', scope: { global: false, roles: ['user'] } });
  await service.metadata('create_rest_endpoint', {
    name: 'authors',
    url: 'authors',
    methods: ['GET'],
    definition: { query: { collection_name: 'users', query_name: 'q' } },
  });
});
afterAll(() => service.stop());

const refused: JsonObject = {
  errors: [{ message: 'query is not allowed', extensions: { path: '$', code: 'validation-failed' } }],
};

describe('the allow-list', () => {
  it('compares documents without whitespace, comments and __typename', async () => {
    const query = `# the same
      query Q($id: Int!) { a: author(where: {id: {_eq: $id}}) { ...f, __typename } }
      fragment f on author { id, name }`;
    for (const role of ['user', 'guest']) {
      expect(await service.graphql(query, { role, variables: { id: 1 }, operationName: 'Q' })).toEqual({
        data: { a: [{ id: 1, name: 'Ann', __typename: 'author' }] },
      });
    }
  });

  it.each([
    ['another alias', 'query Q($id: Int!) { b: author(where: {id: {_eq: $id}}) { ...f } } fragment f on author { id name }'],
    ['another order', 'query Q($id: Int!) { a: author(where: {id: {_eq: $id}}) { ...f } } fragment f on author { name id }'],
    ['another name', 'query R($id: Int!) { a: author(where: {id: {_eq: $id}}) { ...f } } fragment f on author { id name }'],
    ['a literal for a variable', 'query Q { a: author(where: {id: {_eq: 1}}) { ...f } } fragment f on author { id name }'],
    ['introspection', '{ __schema { queryType { name } } }'],
  ])('rejects %s', async (_what, query) => {
    expect(await service.graphql(query, { role: 'user' })).toEqual(refused);
  });

  it('permits a collection with roles to these only', async () => {
    expect(await service.graphql('{ author { id } }', { role: 'user' })).toEqual({ data: { author: [{ id: 1 }] } });
    expect(await service.graphql('{ author { id } }', { role: 'guest' })).toEqual(refused);
  });

  it('applies to REST endpoints and not to administrators', async () => {
    expect(await service.graphql('{ author { name } }')).toEqual({ data: { author: [{ name: 'Ann' }] } });
    expect((await service.send('/api/rest/authors')).status).toBe(200);
    expect((await service.send('/api/rest/authors', { headers: { 'x-svc-role': 'user' } })).status).toBe(200);
    const guest = await service.send('/api/rest/authors', { headers: { 'x-svc-role': 'guest' } });
    expect([guest.status, guest.json]).toEqual([400, { path: '$', error: 'query is not allowed', code: 'validation-failed' }]);
  });

  it('follows changes immediately, and is reported', async () => {
    await service.metadata('update_scope_of_collection_in_allowlist', { collection: 'users', scope: { global: true } });
    expect(await service.graphql('{ author { id } }', { role: 'guest' })).toEqual({ data: { author: [{ id: 1 }] } });
    await service.metadata('drop_collection_from_allowlist', { collection: 'users' });
    expect(await service.graphql('{ author { id } }', { role: 'user' })).toEqual(refused);
    expect((await service.send('/v1alpha1/config')).json).toMatchObject({ is_allow_list_enabled: true });
  });

  it('reports invalid documents as usual', async () => {
    expect(await service.graphql('{ author', { role: 'user' })).toMatchObject({ errors: [{ message: 'not a valid graphql query' }] });
  });
});
