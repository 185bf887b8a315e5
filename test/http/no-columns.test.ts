import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(
    `create table person (id int primary key, name text); create table membership (person_id int primary key references person);
     create table lone (id int primary key); create table other (id int primary key, lone_id int references lone); create table counted (id int primary key); create table badge (id int primary key references counted);
     insert into person values (1, 'Ada'); insert into membership values (1)`,
  );
  for (const table of ['person', 'membership', 'lone', 'other', 'counted', 'badge']) await service.metadata('pg_track_table', { table });
  const relate = (table: string, name: string, using: JsonObject) =>
    service.metadata(`pg_create_${name === 'others' ? 'array' : 'object'}_relationship`, { table, name, using });
  await relate('membership', 'person', { foreign_key_constraint_on: 'person_id' });
  await relate('other', 'lone', { foreign_key_constraint_on: 'lone_id' });
  await relate('lone', 'others', { foreign_key_constraint_on: { table: 'other', column: 'lone_id' } });
  await relate('badge', 'counted', { foreign_key_constraint_on: 'id' });
  const permit = (table: string, columns: readonly string[], aggregations = table !== 'lone') =>
    service.metadata('pg_create_select_permission', {
      table,
      role: 'user',
      permission: { columns: [...columns], filter: {}, allow_aggregations: aggregations },
    });
  await permit('person', ['name']);
  await permit('membership', []);
  await permit('lone', []);
  await permit('other', [], false);
  await permit('counted', []);
  // The relationship to one row offers no aggregate.
  await permit('badge', [], false);
  await service.metadata('pg_create_insert_permission', { table: 'lone', role: 'user', permission: { columns: ['id'], check: {} } });
});
afterAll(() => service.stop());

test('offers no root field and no type for a table without readable fields', async () => {
  const { data } = await service.graphql('{ __schema { types { name kind fields { name } } } }', { role: 'user' });
  const { types } = (data as unknown as { __schema: { types: { name: string; kind: string; fields: { name: string }[] | null }[] } })
    .__schema;
  expect(types.filter(({ kind, fields }) => kind === 'OBJECT' && fields?.length === 0)).toEqual([]);
  expect(types.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['lone']));
  expect(
    types
      .find(({ name }) => name === 'query_root')
      ?.fields?.map(({ name }) => name)
      .sort(),
  ).toEqual(['counted_aggregate', 'membership', 'membership_aggregate', 'person', 'person_aggregate']);
  expect(types.find(({ name }) => name === 'mutation_root')?.fields?.map(({ name }) => name)).toEqual(['insert_lone']);
});

test('offers a table without readable columns if its relationships lead to some', async () => {
  expect(await service.graphql('{ membership { person { name } } }', { role: 'user' })).toEqual({
    data: { membership: [{ person: { name: 'Ada' } }] },
  });
  expect(await service.graphql('mutation { insert_lone(objects: [{id: 5}]) { affected_rows } }', { role: 'user' })).toEqual({
    data: { insert_lone: { affected_rows: 1 } },
  });
});

test('lets a role count rows of which it can read no field', async () => {
  expect(await service.graphql('{ counted_aggregate { aggregate { count } } }', { role: 'user' })).toEqual({
    data: { counted_aggregate: { aggregate: { count: 0 } } },
  });
});
