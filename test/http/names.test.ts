import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

it('reads tables and columns of any name under GraphQL names of their own', async () => {
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

it('tracks what has no GraphQL name, but leaves it out until it gets one', async () => {
  await service.sql(`create table "1st-table" (id int primary key, "a b" text)`);
  await service.metadata('pg_track_table', { table: '1st-table' });
  expect(await service.graphql('{ __type(name: "query_root") { name } }')).toEqual({ data: { __type: { name: 'query_root' } } });
  await service.metadata('pg_set_table_customization', { table: '1st-table', configuration: { custom_name: 'first' } });
  expect(await service.graphql('{ first { id } }')).toEqual({ data: { first: [] } });
  expect(await service.graphql('{ __type(name: "first") { fields { name } } }')).toEqual({
    data: { __type: { fields: [{ name: 'id' }] } },
  });
});

it('refuses a table with a column whose type has no GraphQL name', async () => {
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

it('gives aliases of any length back', async () => {
  const a = `a${'b'.repeat(100)}`;
  const answer = await service.graphql(`{ first { ${a}1: id ${a}2: id } ${a}: first { id } }`);
  expect(answer).toEqual({ data: { first: [], [a]: [] } });
  await service.sql(`insert into "1st-table" values (7, '')`);
  expect(await service.graphql(`{ first { ${a}1: id ${a}2: id } }`)).toEqual({ data: { first: [{ [`${a}1`]: 7, [`${a}2`]: 7 }] } });
});

it('keeps numbers of any precision', async () => {
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

it('leaves columns out whose names GraphQL or a filter uses itself', async () => {
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

it('re-cases everything but relationships by graphql-default', async () => {
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
