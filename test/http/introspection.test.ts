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
      {
        message: `introspection is disabled for role: "${role}"`,
        locations: expect.any(Array),
        extensions: { path: `$.selectionSet.${field}`, code: 'not-supported' },
      },
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

  it('can be disabled for admin too', async () => {
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

describe('error messages for a role without introspection', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ENABLE_EXT_FEDERATION: 'true' });
    await prepare(service);
    await service.sql('create table hidden_key (id int, constraint secret_constraint primary key (id))');
    await service.metadata('pg_track_table', { table: 'hidden_key', ext_federation_config: { enable: 'v1' } });
    for (const role of ['user', 'other']) {
      await service.metadata('pg_create_select_permission', {
        table: 'hidden_key',
        role,
        permission: { columns: '*', filter: {}, query_root_fields: [] },
      });
      await service.metadata('pg_create_insert_permission', { table: 'hidden_key', role, permission: { columns: '*', check: {} } });
      await service.metadata('pg_create_update_permission', { table: 'hidden_key', role, permission: { columns: ['id'], filter: {} } });
    }
    await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: ['user'] });
  });
  afterAll(() => service.stop());

  it.each(['{ _service { sdl } }', '{ x: _service { sdl } }', '{ ...F } fragment F on query_root { _service { __typename } }'])(
    'do not contain its schema: %s',
    async (query) => {
      expect(await service.graphql(query, { role: 'user' })).toEqual(refusal('user', '_service'));
      expect(await service.graphql(query, { role: 'other' })).toHaveProperty('data');
      expect(await service.graphql(query)).toHaveProperty('data');
    },
  );

  const conflict = 'on_conflict: {constraint: nothing, update_columns: []}';
  it.each([
    ['a literal', `mutation { insert_hidden_key(objects: [{id: 1}], ${conflict}) { affected_rows } }`, {}],
    [
      'a variable',
      'mutation ($c: hidden_key_constraint!) { insert_hidden_key(objects: [], on_conflict: {constraint: $c, update_columns: []}) { affected_rows } }',
      { c: 'nothing' },
    ],
    ['a list', '{ item(distinct_on: [nothing]) { id } }', {}],
    ['a list in a variable', 'query ($d: [item_select_column!]) { item(distinct_on: $d) { id } }', { d: ['nothing'] }],
    ['an order', '{ item(order_by: {id: nothing}) { id } }', {}],
    ['an order in a variable', 'query ($o: [item_order_by!]) { item(order_by: $o) { id } }', { o: { id: 'nothing' } }],
  ])('do not contain the values of an enum: %s', async (_what, query, variables) => {
    const answer = await service.graphql(query, { role: 'other', variables });
    expect(JSON.stringify(answer)).toMatch(/expected one of the values \['.*\] for type '\w+', but found 'nothing'/);
    const hidden = await service.graphql(query, { role: 'user', variables });
    expect(hidden).toEqual({
      errors: [{ ...(answer['errors'] as { message: string }[])[0], message: "'nothing' is not one of the values that may be given here" }],
    });
  });
});
