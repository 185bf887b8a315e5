/**
 * Relationships to views that are not insertable: administrators' input types contain them, as generated clients expect, but reject them.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(`
    create table house (id int primary key, city text);
    create view houses_of_city as select city, count(*) as houses from house group by city;
    create view small_house as select id, city from house where id < 10;
  `);
  for (const table of ['house', 'houses_of_city', 'small_house']) await service.metadata('pg_track_table', { table });
  const manual = (remote_table: string, column: string): JsonObject => ({
    manual_configuration: { remote_table, column_mapping: { [column]: column } },
  });
  await service.metadata('pg_create_object_relationship', { table: 'house', name: 'statistics', using: manual('houses_of_city', 'city') });
  await service.metadata('pg_create_array_relationship', { table: 'houses_of_city', name: 'houses_there', using: manual('house', 'city') });
  await service.metadata('pg_create_array_relationship', { table: 'house', name: 'same', using: manual('small_house', 'id') });
  for (const table of ['house', 'houses_of_city']) {
    await service.metadata('pg_create_select_permission', { table, role: 'user', permission: { columns: '*', filter: {} } });
  }
  await service.metadata('pg_create_insert_permission', { table: 'house', role: 'user', permission: { columns: '*', check: {} } });
});
afterAll(() => service.stop());

async function fieldsOf(type: string, role = 'admin'): Promise<readonly string[] | null> {
  const answer = await service.graphql(`{ __type(name: "${type}") { inputFields { name } } }`, { role });
  const found = (answer['data'] as { __type: { inputFields: readonly { name: string }[] } | null }).__type;
  return found?.inputFields.map(({ name }) => name) ?? null;
}

it('relationships to read-only views are in the input types of administrators, without a root field for the view', async () => {
  expect(await fieldsOf('house_insert_input')).toEqual(['city', 'id', 'same', 'statistics']);
  expect(await fieldsOf('houses_of_city_obj_rel_insert_input')).toEqual(['data']);
  expect(await fieldsOf('houses_of_city_insert_input')).toEqual(['city', 'houses', 'houses_there']);
  expect(await fieldsOf('small_house_arr_rel_insert_input')).toEqual(['data']);
  const roots = await service.graphql('{ __type(name: "mutation_root") { fields { name } } }');
  expect(JSON.stringify(roots)).not.toContain('insert_houses_of_city');
});

it('relationships to read-only views are not in the input types of other roles', async () => {
  expect(await fieldsOf('house_insert_input', 'user')).toEqual(['city', 'id']);
  expect(await fieldsOf('houses_of_city_insert_input', 'user')).toBeNull();
});

it('rejects nested inserts into read-only views, from any level', async () => {
  const refusal = (path: string): JsonObject => ({
    errors: [
      {
        message: 'rows cannot be inserted into "houses_of_city"',
        locations: expect.any(Array),
        extensions: { path, code: 'not-supported' },
      },
    ],
  });
  const place = '$.selectionSet.insert_house.args.objects[0].statistics';
  expect(
    await service.graphql('mutation { insert_house(objects: [{id: 1, statistics: {data: {city: "Rome"}}}]) { affected_rows } }'),
  ).toEqual(refusal(place));
  const query = 'mutation ($rows: [house_insert_input!]!) { insert_house(objects: $rows) { affected_rows } }';
  const row = { id: 1, statistics: { data: { city: 'Rome', houses_there: { data: [] } } } };
  expect(await service.graphql(query, { variables: { rows: [row] } })).toEqual(refusal(place));
  const harmless = { id: 1, statistics: null, same: null };
  expect(await service.graphql(query, { variables: { rows: [harmless] } })).toEqual({ data: { insert_house: { affected_rows: 1 } } });
});

it('inserts into insertable views', async () => {
  const query = 'mutation { insert_house_one(object: {id: 20, same: {data: [{city: "Oslo"}]}}) { id } }';
  // The row of the view has a house number that exists already: the insert reached the table.
  expect(JSON.stringify(await service.graphql(query))).toContain('Uniqueness violation');
});
