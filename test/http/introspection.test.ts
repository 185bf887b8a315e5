import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

const QUERIES = [
  '{ __schema { queryType { name } } }',
  '{ __type(name: "query_root") { name } }',
  '{ ...F } fragment F on query_root { s: __schema { queryType { name } } }',
];

function refusal(role: string, field: string) {
  return {
    errors: [
      { message: `introspection is disabled for role: "${role}"`, extensions: { path: `$.selectionSet.${field}`, code: 'not-supported' } },
    ],
  };
}

async function prepare(service: TestService): Promise<void> {
  await service.sql('create table item (id int primary key)');
  await service.metadata('pg_track_table', { table: 'item' });
  for (const role of ['user', 'other']) {
    await service.metadata('pg_create_select_permission', { table: 'item', role, permission: { columns: '*', filter: {} } });
  }
}

describe('introspection of some roles', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    await prepare(service);
  });
  afterAll(() => service.stop());

  it.each(['set_graphql_introspection_options', 'set_graphql_schema_introspection_options'])('is disabled by %s', async (type) => {
    for (const query of QUERIES) expect(await service.graphql(query, { role: 'user' })).toHaveProperty('data');
    await service.metadata(type, { disabled_for_roles: ['user'] });
    for (const query of QUERIES) {
      expect(await service.graphql(query, { role: 'user' })).toEqual(refusal('user', query.includes('__type') ? '__type' : '__schema'));
      expect(await service.graphql(query, { role: 'other' })).toHaveProperty('data');
      expect(await service.graphql(query)).toHaveProperty('data');
    }
    expect(await service.graphql('{ __typename item { __typename } }', { role: 'user' })).toEqual({
      data: { __typename: 'query_root', item: [] },
    });
    await service.metadata(type, { disabled_for_roles: [] });
    for (const query of QUERIES) expect(await service.graphql(query, { role: 'user' })).toHaveProperty('data');
  });

  it('may be disabled for admin too', async () => {
    await service.metadata('set_graphql_introspection_options', { disabled_for_roles: ['admin'] });
    expect(await service.graphql('{ __schema { queryType { name } } }')).toEqual(refusal('admin', '__schema'));
    await service.metadata('set_graphql_introspection_options', { disabled_for_roles: [] });
  });
});

describe('introspection of all roles', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ DISABLE_INTROSPECTION: 'true' });
    await prepare(service);
  });
  afterAll(() => service.stop());

  it('is disabled by an option, except for admin', async () => {
    for (const query of QUERIES) {
      for (const role of ['user', 'other', 'unknown'])
        expect(await service.graphql(query, { role })).toMatchObject({ errors: [{ extensions: { code: 'not-supported' } }] });
      expect(await service.graphql(query)).toHaveProperty('data');
    }
    expect(await service.graphql('{ __typename }', { role: 'user' })).toEqual({ data: { __typename: 'query_root' } });
  });
});
