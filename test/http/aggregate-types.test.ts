/** Columns and computed fields that aggregates accept, with the result types. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ STRINGIFY_NUMERIC_TYPES: 'true' });
  await service.sql(`
    create type mood as enum ('sad', 'happy');
    create domain words as text[];
    create table shelf (id int primary key);
    create table book (
      id int primary key, shelf_id int references shelf, mood mood, moods mood[], ns int[], big numeric[], ok boolean, oks boolean[],
      js jsonb[], old json[], ips inet[], ws words, ids uuid[], vs varchar(3)[], price numeric not null default 1);
    insert into shelf values (1), (2);
    insert into book values (1, 1, 'sad', '{happy}', '{1,2}', '{1.5}', true, '{t}', '{"1"}', null, '{::1}', '{b}', '{00000000-0000-0000-0000-000000000001}', '{a}'),
      (2, 1, 'happy', '{sad,happy}', '{2,1}', '{10,2.5}', false, '{f,t}', '{"2"}', null, '{::2,::1}', '{a,c}', '{}', '{b}'),
      (3, 2, 'sad', null, '{3}', null, null, null, null, null, null, null, null, null);
    create function doubled(b book) returns int language sql stable as 'select b.id * 2';
    create function cost(b book) returns numeric language sql stable as 'select b.price * 2';
  `);
  for (const table of ['shelf', 'book']) await service.metadata('pg_track_table', { table });
  for (const name of ['doubled', 'cost'])
    await service.metadata('pg_add_computed_field', { table: 'book', name, definition: { function: name } });
  const using = { foreign_key_constraint_on: { table: 'book', column: 'shelf_id' } };
  await service.metadata('pg_create_array_relationship', { table: 'shelf', name: 'books', using });
});
afterAll(() => service.stop());

const ARRAYS = ['big', 'ids', 'ips', 'js', 'moods', 'ns', 'oks', 'vs', 'ws'];

async function typesOf(name: string): Promise<Readonly<Record<string, string>>> {
  const answer = await service.graphql(
    `{ __type(name: "${name}") { fields { name type { name ofType { ofType { name } } } } inputFields { name type { name } } } }`,
  );
  type Member = { name: string; type: { name: string | null; ofType?: { ofType: { name: string } | null } | null } };
  const { fields, inputFields } = (
    answer['data'] as { __type: { fields: readonly Member[] | null; inputFields: readonly Member[] | null } }
  ).__type;
  return Object.fromEntries((fields ?? inputFields ?? []).map((m) => [m.name, m.type.name ?? `[${m.type.ofType?.ofType?.name}]`]));
}

it('offers min and max of native enums and arrays, but not of booleans and json', async () => {
  for (const name of ['max', 'min']) {
    const fields = await typesOf(`book_${name}_fields`);
    expect(Object.keys(fields)).toEqual([...ARRAYS, 'cost', 'doubled', 'id', 'mood', 'price', 'shelf_id'].sort());
    expect(fields).toMatchObject({ mood: 'mood', ns: '[Int]', moods: '[mood]' });
    expect(Object.keys(await typesOf(`book_${name}_order_by`))).toEqual(Object.keys(fields));
  }
  expect(await service.graphql(`{ book_aggregate { aggregate { max { mood ${ARRAYS.join(' ')} } min { mood ns } } } }`)).toEqual({
    data: {
      book_aggregate: {
        aggregate: {
          max: {
            mood: 'happy',
            big: ['10', '2.5'],
            ids: ['00000000-0000-0000-0000-000000000001'],
            ips: ['::2', '::1'],
            js: [2],
            moods: ['happy'],
            ns: [3],
            oks: [true],
            vs: ['b'],
            ws: ['b'],
          },
          min: { mood: 'sad', ns: [1, 2] },
        },
      },
    },
  });
});

it('orders by min and max of enums and arrays', async () => {
  const ids = async (by: JsonObject): Promise<unknown> => {
    const query = 'query ($by: book_aggregate_order_by) { shelf(order_by: {books_aggregate: $by}) { id } }';
    return (await service.graphql(query, { variables: { by } }))['data'];
  };
  expect(await ids({ max: { mood: 'asc' } })).toEqual({ shelf: [{ id: 2 }, { id: 1 }] });
  expect(await ids({ max: { ns: 'desc' } })).toEqual({ shelf: [{ id: 2 }, { id: 1 }] });
});

it('returns aggregates of a numeric computed field in its type, and of a column in its own type or Float', async () => {
  for (const name of ['avg', 'stddev', 'stddev_pop', 'stddev_samp', 'var_pop', 'var_samp', 'variance']) {
    expect(await typesOf(`book_${name}_fields`)).toEqual({
      cost: 'numeric',
      doubled: 'Int',
      id: 'Float',
      price: 'Float',
      shelf_id: 'Float',
    });
  }
  expect(await typesOf('book_sum_fields')).toEqual({ cost: 'numeric', doubled: 'Int', id: 'Int', price: 'numeric', shelf_id: 'Int' });
});
