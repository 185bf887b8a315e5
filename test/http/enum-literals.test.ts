import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(
    `create type mode as enum ('managed', 'own'); create table thing (id int primary key, mode mode, modes mode[], name text, day date);
     insert into thing values (1, 'managed', '{own}', 'own', 'epoch'), (2, 'own', '{}', null, null)`,
  );
  await service.metadata('pg_track_table', { table: 'thing' });
});
afterAll(() => service.stop());

test.each([
  ['{ thing(where: {mode: {_eq: managed}}) { id } }', [1]],
  ['{ thing(where: {mode: {_in: [managed, own]}}, order_by: {id: asc}) { id } }', [1, 2]],
  ['{ thing(where: {modes: {_contains: [own]}}) { id } }', [1]],
  ['{ thing(where: {day: {_eq: epoch}}) { id } }', [1]],
])('accepts enum literals for database scalars in %s', async (query, ids) => {
  expect(await service.graphql(query)).toEqual({ data: { thing: ids.map((id) => ({ id })) } });
});

test('accepts an enum literal in an insert', async () => {
  const query = 'mutation { insert_thing_one(object: {id: 3, mode: own}) { mode } }';
  expect(await service.graphql(query)).toEqual({ data: { insert_thing_one: { mode: 'own' } } });
});

test('rejects an enum literal for a text', async () => {
  const { errors } = await service.graphql('{ thing(where: {name: {_eq: own}}) { id } }');
  expect(errors).toMatchObject([{ message: "expected a string for type 'String', but found an enum value" }]);
});
