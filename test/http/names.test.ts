import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, printJson } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

/** The error of the operation, or null if it succeeds. */
async function refusal(type: string, args: Json): Promise<{ code: string; path: string; error: string } | null> {
  const { status, json } = await service.send('/v1/metadata', { method: 'POST', body: printJson({ type, args }) });
  if (status === 200) return null;
  const { code, path, error } = json as { code: string; path: string; error: string };
  return { code, path, error };
}

it('reads tables and columns of any name under custom GraphQL names', async () => {
  const table = 'Robert"); drop table "x';
  const long = `c${'x'.repeat(62)}`;
  await service.sql(`create schema "other ""one"""; create table "other ""one"""."Robert""); drop table ""x" (
    "id" int primary key, "näme 'q'" text, "${long}" text, "select" int);
    insert into "other ""one"""."Robert""); drop table ""x" values (1, 'é ''"', 'long', 2)`);
  await service.metadata('pg_track_table', {
    table: { schema: 'other "one"', name: table },
    configuration: { custom_name: 'bobby', column_config: { "näme 'q'": { custom_name: 'name' } } },
  });
  expect(
    await service.graphql(
      `{ bobby(where: {name: {_eq: "é '\\""}, select: {_eq: 2}}, order_by: {${long}: asc}) { id name ${long} select } }`,
    ),
  ).toEqual({
    data: { bobby: [{ id: 1, name: `é '"`, [long]: 'long', select: 2 }] },
  });
});

it('tracks tables without a valid GraphQL name, but hides them until they get one', async () => {
  await service.sql(`create table "1st-table" (id int primary key, "a b" text)`);
  await service.metadata('pg_track_table', { table: '1st-table' });
  expect(await service.graphql('{ __type(name: "query_root") { name } }')).toEqual({ data: { __type: { name: 'query_root' } } });
  await service.metadata('pg_set_table_customization', { table: '1st-table', configuration: { custom_name: 'first' } });
  expect(await service.graphql('{ first { id } }')).toEqual({ data: { first: [] } });
  expect(await service.graphql('{ __type(name: "first") { fields { name } } }')).toEqual({
    data: { __type: { fields: [{ name: 'id' }] } },
  });
});

it.runIf(DEEP)('rejects a table with a column whose type has no GraphQL name', async () => {
  await service.sql(`create type "my-mood" as enum ('sad'); create table moody (id int primary key, mood "my-mood")`);
  const tracked = await service.send('/v1/metadata', {
    method: 'POST',
    body: JSON.stringify({ type: 'pg_track_table', args: { table: 'moody' } }),
  });
  const error = 'cannot use SQL type "my-mood" in the GraphQL schema because its name is not a valid GraphQL identifier';
  expect([tracked.status, tracked.json]).toMatchObject([400, { code: 'validation-failed', error }]);
  await service.sql('alter type "my-mood" rename to mood');
  await service.metadata('pg_track_table', { table: 'moody' });
  expect(await service.graphql('{ moody(where: {mood: {_eq: "sad"}}) { mood } }')).toEqual({ data: { moody: [] } });
});

it.runIf(DEEP)('returns aliases of any length', async () => {
  const a = `a${'b'.repeat(100)}`;
  const answer = await service.graphql(`{ first { ${a}1: id ${a}2: id } ${a}: first { id } }`);
  expect(answer).toEqual({ data: { first: [], [a]: [] } });
  await service.sql(`insert into "1st-table" values (7, '')`);
  expect(await service.graphql(`{ first { ${a}1: id ${a}2: id } }`)).toEqual({ data: { first: [{ [`${a}1`]: 7, [`${a}2`]: 7 }] } });
});

it.runIf(DEEP)('preserves numbers of any precision', async () => {
  await service.sql('create table number (id bigint primary key, n numeric, j jsonb)');
  await service.metadata('pg_track_table', { table: 'number' });
  const digits = '12345678901234567890.12345678901234567890';
  await service.sql(`insert into number values (9007199254740993, ${digits}, '{"n": ${digits}, "e": 1e-7}')`);
  const answer = await service.send('/v1/graphql', {
    method: 'POST',
    body: `{"query":"query ($id: bigint!, $n: numeric!, $j: jsonb!) { number(where: {id: {_eq: $id}, n: {_eq: $n}, j: {_contains: $j}}) { id n j } }",
      "variables":{"id":9007199254740993,"n":${digits},"j":{"n":${digits}}}}`,
  });
  expect(answer.text.replaceAll(/\s/g, '')).toBe(
    `{"data":{"number":[{"id":9007199254740993,"n":${digits},"j":{"e":0.0000001,"n":${digits}}}]}}`,
  );
  const literal = await service.send('/v1/graphql', {
    method: 'POST',
    body: JSON.stringify({ query: `{ number(where: {id: {_eq: 9007199254740993}, j: {_contains: {n: ${digits}}}}) { id } }` }),
  });
  expect(literal.text).toContain('9007199254740993');
});

it('hides columns whose names GraphQL or a filter reserves', async () => {
  await service.sql(
    'create table reserved (id int primary key, __typename text, _and int, _or int, _not int); insert into reserved values (1)',
  );
  await service.metadata('pg_track_table', { table: 'reserved' });
  const fields = (type: string): string => `__type(name: "${type}") { fields { name } inputFields { name } }`;
  expect(
    await service.graphql(
      `{ row: ${fields('reserved')} filter: ${fields('reserved_bool_exp')} reserved(where: {_not: {id: {_eq: 2}}}) { __typename id } }`,
    ),
  ).toEqual({
    data: {
      row: { fields: [{ name: 'id' }], inputFields: null },
      filter: { fields: null, inputFields: [{ name: '_and' }, { name: '_not' }, { name: '_or' }, { name: 'id' }] },
      reserved: [{ __typename: 'reserved', id: 1 }],
    },
  });
});

it('re-cases everything except relationships by graphql-default', async () => {
  const cased = await startTestService({ DEFAULT_NAMING_CONVENTION: 'graphql-default' });
  try {
    await cased.sql(`create table sub_category (id int primary key);
      create table sub_category_enum (id int primary key, sub_category_id int references sub_category, is_ok boolean);
      insert into sub_category values (1), (2); insert into sub_category_enum values (10, 1, true)`);
    for (const table of ['sub_category', 'sub_category_enum']) await cased.metadata('pg_track_table', { table });
    const using = { foreign_key_constraint_on: { table: 'sub_category_enum', column: 'sub_category_id' } };
    await cased.metadata('pg_create_array_relationship', { table: 'sub_category', name: 'subcategory_enums', using });
    await cased.metadata('pg_create_object_relationship', {
      table: 'sub_category_enum',
      name: 'the_category',
      using: { foreign_key_constraint_on: 'sub_category_id' },
    });
    const query = `query ($order: SubCategoryEnumAggregateOrderBy) {
      subCategory(
        where: {_or: [{subcategory_enums: {isOk: {_eq: true}}}, {subcategoryEnumsAggregate: {count: {predicate: {_eq: 0}}}},
          {subcategoryEnumsAggregate: {boolAnd: {arguments: isOk, predicate: {_eq: true}}}}]}
        orderBy: {subcategoryEnumsAggregate: $order}
      ) { id subcategory_enums { the_category { id } } subcategoryEnumsAggregate { aggregate { count } } }
      subCategoryEnum(where: {the_category: {id: {_gt: 0}}}, orderBy: {the_category: {id: DESC}}) { id }
      bool: __type(name: "SubCategoryEnumAggregateBoolExpBoolAnd") { kind } count: __type(name: "SubCategoryEnumAggregateBoolExpCount") { kind } }`;
    expect(await cased.graphql(query, { variables: { order: { count: 'ASC' } } })).toEqual({
      data: {
        subCategory: [
          { id: 2, subcategory_enums: [], subcategoryEnumsAggregate: { aggregate: { count: 0 } } },
          { id: 1, subcategory_enums: [{ the_category: { id: 1 } }], subcategoryEnumsAggregate: { aggregate: { count: 1 } } },
        ],
        subCategoryEnum: [{ id: 10 }],
        bool: { kind: 'INPUT_OBJECT' },
        count: { kind: 'INPUT_OBJECT' },
      },
    });
    const insert = 'mutation { insertSubCategoryOne(object: {id: 3, subcategory_enums: {data: [{id: 30}]}}) { subcategory_enums { id } } }';
    expect(await cased.graphql(insert)).toEqual({ data: { insertSubCategoryOne: { subcategory_enums: [{ id: 30 }] } } });
  } finally {
    await cased.stop();
  }
});

it('rejects fields of a table with invalid or reserved GraphQL names', async () => {
  await service.sql(`
    create table writer (id int primary key, full_name text);
    create table letter (id int primary key, writer_id int references writer);
    create function greeting(w writer) returns text as $$ select 'Dear ' || w.full_name $$ language sql stable`);
  await service.metadata('pg_track_tables', { tables: ['writer', 'letter'].map((table) => ({ table })) });
  const illegal = 'cannot include "to whom" in the GraphQL schema because  it is not a valid GraphQL identifier';
  const reserved = (name: string): string => `no field can have the name "${name}": it is reserved by GraphQL or by conditions`;
  const relationship = (name: string) =>
    refusal('pg_create_object_relationship', { table: 'letter', name, using: { foreign_key_constraint_on: 'writer_id' } });
  expect(await relationship('to whom')).toEqual({ code: 'validation-failed', path: '$.args', error: illegal });
  expect(await relationship('_and')).toEqual({ code: 'validation-failed', path: '$.args', error: reserved('_and') });
  const computed = await refusal('pg_add_computed_field', { table: 'writer', name: '_or', definition: { function: 'greeting' } });
  expect(computed?.error).toContain(`because ${reserved('_or')}`);
  // A rejected change does not block later ones.
  await service.sql('alter table letter drop column writer_id', { cascade: true });
});

it.runIf(DEEP)('rejects remote relationships whose fields would hide others', async () => {
  await service.sql(
    'create table pupil (id int primary key, full_name text); create table lesson (id int primary key, pupil_id int references pupil)',
  );
  await service.metadata('pg_track_tables', { tables: ['pupil', 'lesson'].map((table) => ({ table })) });
  const configuration = { column_config: { full_name: { custom_name: 'called' } } };
  await service.metadata('pg_set_table_customization', { table: 'pupil', configuration });
  const using = { foreign_key_constraint_on: { table: 'lesson', column: 'pupil_id' } };
  await service.metadata('pg_create_array_relationship', { table: 'pupil', name: 'lessons', using });
  const target = { relationship_type: 'array', source: 'default', table: 'lesson', field_mapping: { id: 'pupil_id' } };
  const create = (name: string) => ({ table: 'pupil', name, definition: { to_source: target } });
  await service.metadata('pg_create_remote_relationship', create('hours'));
  for (const name of ['called', 'lessons_aggregate', 'hours_aggregate'])
    expect((await refusal('pg_create_remote_relationship', create(name)))?.error).toContain(
      `in remote relationship "${name}": field with name "${name}" already exists in table "pupil"`,
    );
  expect((await refusal('pg_create_remote_relationship', create('__typename')))?.error).toContain(
    'no field can have the name "__typename"',
  );
  expect(await service.graphql('{ __type(name: "pupil") { fields { name } } }')).toEqual({
    data: {
      __type: {
        fields: ['called', 'hours', 'hours_aggregate', 'id', 'lessons', 'lessons_aggregate'].map((name) => ({ name })),
      },
    },
  });
});

it.runIf(DEEP)('reserves the names of introspection', async () => {
  await service.sql(`
    create table __hidden (id int primary key);
    create table pen (id int primary key);
    create function __pens() returns setof pen as $$ select * from pen $$ language sql stable`);
  await service.metadata('pg_track_tables', { tables: ['__hidden', 'pen'].map((table) => ({ table })) });
  const customize = (configuration: Json) => refusal('pg_set_table_customization', { table: 'pen', configuration });
  expect((await customize({ custom_root_fields: { select: '__schema' } }))?.error).toContain('cannot include "__schema"');
  expect((await customize({ custom_name: '__pen' }))?.error).toContain('cannot include "__pen"');
  expect((await refusal('pg_track_function', { function: '__pens' }))?.error).toContain('function name is not a legal GraphQL identifier');
  const answer = await service.graphql('{ __schema { queryType { fields { name } } types { name } } }');
  const { queryType, types } = (answer as { data: { __schema: { queryType: { fields: { name: string }[] }; types: { name: string }[] } } })
    .data.__schema;
  expect(queryType.fields.map(({ name }) => name)).toContain('pen');
  expect(queryType.fields.filter(({ name }) => name.startsWith('__'))).toEqual([]);
  expect(types.filter(({ name }) => name.startsWith('__hidden'))).toEqual([]);
});
