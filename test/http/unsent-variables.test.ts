/** An unsent nullable variable omits its argument or field, as the GraphQL specification says; it is not null. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SCHEMA = `
  create table note (id int primary key, title text default 'untitled', body text, count int not null default 7, data jsonb, tags text[]);
  create table line (id serial primary key, note_id int references note, text text default 'empty');
  create function notes_like(pattern text, minimum int default 0) returns setof note language sql stable as
    'select * from note where (title like pattern or pattern is null) and count >= minimum order by id';
`;

async function start(options: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const service = await startTestService(options);
  await service.sql(SCHEMA);
  for (const table of ['note', 'line']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_array_relationship', {
    table: 'note',
    name: 'lines',
    using: { foreign_key_constraint_on: { table: 'line', column: 'note_id' } },
  });
  await service.metadata('pg_track_function', { function: 'notes_like' });
  return service;
}

const ROWS = `truncate note restart identity cascade;
  insert into note values (1, 'one', 'first', 1, '{"a": 1}', '{x}'), (2, 'two', 'second', 2, '{"a": 2}', '{y}')`;

function errorOf(answer: JsonObject): string | undefined {
  return (answer['errors'] as readonly { message: string }[] | undefined)?.[0]?.message;
}

describe('an unsent variable', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start();
  });
  beforeEach(() => service.sql(ROWS));
  afterAll(() => service.stop());

  const data = async (query: string, variables: JsonObject = {}): Promise<Json> => {
    const answer = await service.graphql(query, { variables });
    if (answer['data'] === undefined) throw new Error(errorOf(answer));
    return answer['data'];
  };

  it('leaves a column unchanged in an update, after any earlier request', async () => {
    const query = `mutation ($title: String, $body: String, $count: Int) {
      update_note_by_pk(pk_columns: {id: 1}, _set: {title: $title, body: $body}, _inc: {count: $count}) { title body count } }`;
    const update = async (variables: JsonObject): Promise<Json> =>
      ((await data(query, variables)) as JsonObject)['update_note_by_pk'] as Json;
    expect(await update({ title: 'uno', body: 'prima', count: 1 })).toEqual({ title: 'uno', body: 'prima', count: 2 });
    expect(await update({ title: 'eins' })).toEqual({ title: 'eins', body: 'prima', count: 2 });
    expect(await update({ count: 5 })).toEqual({ title: 'eins', body: 'prima', count: 7 });
    expect(await update({ title: null })).toEqual({ title: null, body: 'prima', count: 7 });
    expect(await update({ title: 'I', body: null })).toEqual({ title: 'I', body: null, count: 7 });
  });

  it('changes nothing as the only change of an update', async () => {
    const set =
      'mutation ($set: note_set_input, $t: String) { update_note(where: {}, _set: $set) { affected_rows } again: update_note(where: {}, _set: {title: $t}) { affected_rows } }';
    expect(await data(set)).toEqual({ update_note: { affected_rows: 0 }, again: { affected_rows: 0 } });
  });

  it('leaves the default to the database in an insert, nested rows and arguments included', async () => {
    const query = `mutation ($title: String, $count: Int, $text: String, $tag: String = null, $columns: [note_update_column!]) {
      insert_note_one(
        object: {id: 9, title: $title, count: $count, body: $tag, data: {a: $title, b: [$count]}, lines: {data: [{text: $text}]}},
        on_conflict: {constraint: note_pkey, update_columns: $columns}
      ) { title count body data lines { text } } }`;
    expect(await data(query)).toEqual({
      insert_note_one: { title: 'untitled', count: 7, body: null, data: { b: [null] }, lines: [{ text: 'empty' }] },
    });
  });

  it('stores the row without its relationships, or in place of an unsent row', async () => {
    const query = `mutation ($lines: line_arr_rel_insert_input, $conflict: note_on_conflict, $id: Int!) {
      insert_note(objects: [{id: $id, title: "new", lines: $lines}], on_conflict: $conflict) { affected_rows } }`;
    expect(await data(query, { id: 10 })).toEqual({ insert_note: { affected_rows: 1 } });
    expect(errorOf(await service.graphql(query, { variables: { id: 10 } }))).toContain('Uniqueness violation');
    const conflict = { constraint: 'note_pkey', update_columns: ['title'] };
    expect(await data(query, { id: 10, conflict })).toEqual({ insert_note: { affected_rows: 1 } });
  });

  it('omits arguments of queries, orders, pages and functions', async () => {
    const query = `query ($where: note_bool_exp, $order: [note_order_by!], $limit: Int, $offset: Int, $on: [note_select_column!], $path: String, $by: order_by) {
      note(where: $where, order_by: $order, limit: $limit, offset: $offset, distinct_on: $on) { id data(path: $path) }
      ordered: note(order_by: {id: desc, title: $by}) { id } }`;
    const all = [
      { id: 1, data: { a: 1 } },
      { id: 2, data: { a: 2 } },
    ];
    const ordered = [{ id: 2 }, { id: 1 }];
    expect(await data(query)).toEqual({ note: all, ordered });
    expect(await data(query, { limit: 1, path: 'a', where: { id: { _gt: 1 } } })).toEqual({ note: [{ id: 2, data: 2 }], ordered });
    expect(await data(query, { where: null, limit: null, by: null })).toEqual({ note: all, ordered });
    const call = 'query ($p: String, $minimum: Int) { notes_like(args: {pattern: $p, minimum: $minimum}) { id } }';
    expect(await data(call, { p: 't%' })).toEqual({ notes_like: [{ id: 2 }] });
    expect(await data(call, { p: null, minimum: 1 })).toEqual({ notes_like: [{ id: 1 }, { id: 2 }] });
    // NULL in place of the default would return no row.
    expect(await data(call, { p: null, minimum: null })).toEqual({ notes_like: [] });
    expect(errorOf(await service.graphql(call))).toBe('Non default arguments cannot be omitted');
  });

  it.each(
    sample(
      [
        ['query ($x: Int) { note(where: {id: {_eq: $x}}) { id } }', "unexpected null value for type 'Int'"],
        ['mutation ($x: Int) { delete_note(where: {id: {_eq: $x}}) { affected_rows } }', "unexpected null value for type 'Int'"],
        [
          'mutation ($x: note_bool_exp) { delete_note(where: $x) { affected_rows } }',
          "variable 'x' is declared as 'note_bool_exp', but used where 'note_bool_exp!' is expected",
        ],
        ['query ($x: [note_bool_exp!]) { note(where: {_and: $x}) { id } }', 'expected a list, but found null'],
        ['query ($x: [String!]) { note(where: {tags: {_contains: $x}}) { id } }', 'expected a list, but found null'],
        [
          'query ($x: Int) { note(where: {lines_aggregate: {count: {predicate: {_eq: $x}}}}) { id } }',
          "unexpected null value for type 'Int'",
        ],
      ],
      2,
    ),
  )('is rejected in a condition: %s', async (query, message) => {
    expect(errorOf(await service.graphql(query))).toBe(message);
  });
});

describe.each([
  ['--unsent-variables-are-null', { UNSENT_VARIABLES_ARE_NULL: 'true' }, null, "unexpected null value for type 'Int'"],
  ['no_null_unbound_variable_default', { EXPERIMENTAL_FEATURES: 'no_null_unbound_variable_default' }, 'one', undefined],
])('an unsent variable with %s', (_name, options, title, refusal) => {
  let service: TestService;
  beforeAll(async () => {
    service = await start(options);
    await service.sql(ROWS);
  });
  afterAll(() => service.stop());

  it('has the same effect everywhere', async () => {
    const set = 'mutation ($t: String) { update_note_by_pk(pk_columns: {id: 1}, _set: {title: $t}) { id } }';
    await service.graphql(set);
    expect(await service.graphql('{ note_by_pk(id: 1) { title } }')).toEqual({ data: { note_by_pk: { title } } });
    expect(errorOf(await service.graphql('query ($x: Int) { note(where: {id: {_eq: $x}}) { id } }'))).toBe(refusal);
  });
});
