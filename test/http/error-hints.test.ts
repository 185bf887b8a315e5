/** GraphQL errors point to their place in the document and suggest names, from what the role may see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlOptions, startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(`create table author (id int primary key, name text, salary int);
    create table secret (id int primary key);
    create table kind (value text primary key, comment text);
    insert into kind values ('novel', ''), ('poem', '');
    create table book (id int primary key, title text, kind text references kind, author_id int references author)`);
  for (const table of ['author', 'secret', 'kind', 'book']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_set_table_is_enum', { table: 'kind', is_enum: true });
  await service.metadata('pg_create_array_relationship', {
    table: 'author',
    name: 'books',
    using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } },
  });
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'user',
    permission: { columns: ['id', 'name'], filter: {} },
  });
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'blind',
    permission: { columns: ['id', 'name'], filter: {} },
  });
  await service.metadata('pg_create_select_permission', { table: 'book', role: 'blind', permission: { columns: '*', filter: {} } });
  await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: ['blind'] });
});
afterAll(() => service.stop());

interface Hints {
  readonly line: Json | undefined;
  readonly column: Json | undefined;
  readonly suggestions: Json | undefined;
}

async function hintsOf(query: string, options: GraphqlOptions = {}): Promise<Hints> {
  const { errors } = (await service.graphql(query, options)) as { errors: [{ locations?: [JsonObject]; extensions: JsonObject }] };
  const [{ locations, extensions }] = errors;
  return { line: locations?.[0].line, column: locations?.[0].column, suggestions: extensions.suggestions };
}

describe('an error in a document', () => {
  it.each<[string, string, number, number, readonly string[] | undefined]>([
    ['a root field', '{\n  autor { id }\n}', 2, 3, ['author']],
    ['a field', '{ author { id nam } }', 1, 15, ['name']],
    ['a field of the second of two equal roots', '{ a: author { id } b: author { salry } }', 1, 32, ['salary']],
    ['a field in a fragment', '{ author { ...F } } fragment F on author { nmae }', 1, 44, ['name']],
    ['an argument', '{ author(limitt: 1) { id } }', 1, 3, ['limit']],
    ['a field of a condition', '{ author(where: {books: {titel: {_eq: "x"}}}) { id } }', 1, 26, ['title']],
    ['an operator', '{ author(where: {id: {_eqq: 1}}) { id } }', 1, 23, ['_eq']],
    ['an enum value', '{ book(where: {kind: {_eq: novle}}) { id } }', 1, 23, ['novel']],
    ['a type of a variable', 'query ($n: Innt) { author(limit: $n) { id } }', 1, 27, ['Int']],
    ['a directive', '{ author { id @skp(if: true) } }', 1, 12, ['skip']],
    ['a wrong value in a list', '{ author(order_by: [{id: asc}, {id: up}]) { id } }', 1, 33, undefined],
    ['a required argument', '{ author_by_pk { id } }', 1, 3, undefined],
    ['a missing selection', '{ author }', 1, 3, undefined],
  ])('points to %s', async (_what, query, line, column, suggestions) => {
    const hints = await hintsOf(query);
    expect(hints).toMatchObject({ line, column });
    expect(hints.suggestions).toEqual(suggestions);
  });

  it('lists all fields that have the path', async () => {
    const { errors } = (await service.graphql('{ a: author(limit: 1) { id } b: author(limit: "x") { id } }')) as {
      errors: [{ locations: Json }];
    };
    expect(errors[0].locations).toEqual([
      { line: 1, column: 13 },
      { line: 1, column: 40 },
    ]);
  });

  it.each([
    ['a single object in the place of a list', '{ a: author(order_by: {nam: asc}) { id } b: author(order_by: [{id: asc}]) { id } }', 1, 24],
    ['a variable', 'query ($w: author_bool_exp) { a: author(where: $w) { id } b: author(where: {name: {_eq: "ok"}}) { id } }', 1, 41],
  ])('points into %s', async (_what, query, line, column) => {
    expect(await hintsOf(query, { variables: query.includes('$w') ? { w: { name: { _eq: null } } } : {} })).toMatchObject({ line, column });
  });

  it.each<[string, string, JsonObject]>([
    ['has no value', 'query ($a: Int, $n: Int!) { author(limit: $n, offset: $a) { id } }', {}],
    ['is null', 'query ($a: Int, $n: Int!) { author(limit: $n, offset: $a) { id } }', { n: null }],
  ])('points to the declaration of a variable that %s', async (_what, query, variables) => {
    expect(await hintsOf(query, { variables })).toMatchObject({ line: 1, column: 17 });
  });

  it('has no position if too many fields have the path', async () => {
    const many = Array.from({ length: 11 }, (_, n) => `a${n}: author(limit: ${n === 10 ? '"x"' : 1}) { id }`).join(' ');
    expect(await hintsOf(`{ ${many} }`)).toMatchObject({ line: undefined });
  });

  it.each([
    ['the root field of a wrong value', '{\n  author(where: {id: {_eq: "x"}}) { id } }', 2, 3],
    [
      'the operation, if the value may be of several root fields',
      'query a { __typename }\nquery b { a: author { id } b: author(where: {id: {_eq: "x"}}) { id } }',
      2,
      1,
    ],
    ['the argument of a violated constraint', 'mutation { insert_book(objects: {id: 1, author_id: 9}) { affected_rows } }', 1, 24],
  ])('points to %s, when the database refuses it', async (_what, query, line, column) => {
    expect(await hintsOf(query, query.startsWith('query a') ? { operationName: 'b' } : {})).toMatchObject({ line, column });
  });

  it('has no position if it concerns the whole document', async () => {
    expect(await hintsOf('{ author { id } }', { variables: { unknown: 1 } })).toMatchObject({ line: undefined });
  });

  it('explains a syntax error', async () => {
    expect(await hintsOf('{ author { id ')).toEqual({ line: 1, column: 15, suggestions: ['Expected Name, found <EOF>.'] });
  });

  it('suggests to a role what it can see, the same for hidden names and for names that do not exist', async () => {
    expect((await hintsOf('{ author { salry } }', { role: 'user' })).suggestions).toBeUndefined();
    expect((await hintsOf('{ author { salary } }', { role: 'user' })).suggestions).toBeUndefined();
    expect((await hintsOf('{ secret { id } }', { role: 'user' })).suggestions).toBeUndefined();
    expect((await hintsOf('{ secre { id } }', { role: 'user' })).suggestions).toBeUndefined();
    expect((await hintsOf('{ author { nam } }', { role: 'user' })).suggestions).toEqual(['name']);
  });

  it('suggests nothing to a role without introspection, but points to the place', async () => {
    expect(await hintsOf('{ author { nam } }', { role: 'blind' })).toEqual({ line: 1, column: 12, suggestions: undefined });
    expect((await hintsOf('{ author { id ', { role: 'blind' })).suggestions).toEqual(['Expected Name, found <EOF>.']);
  });

  it('reveals nothing when a subscription of a role without introspection is planned again', async () => {
    const session = { 'x-svc-role': 'blind' };
    const socket = await new TestSocket(service.url, { protocol: MODERN, headers: session }).init(session);
    socket.start('1', 'subscription ($k: kind_enum!) { book(where: {kind: {_eq: $k}}) { id } }', { variables: { k: 'poem' } });
    await socket.take(1);
    await service.sql("delete from kind where value = 'poem'; insert into kind values ('poems', '')");
    await service.metadata('reload_metadata', {});
    const [failed] = await socket.take(1);
    expect(failed).toMatchObject({ type: 'error', payload: [{ message: "'poem' is not one of the values that may be given here" }] });
    expect(JSON.stringify(failed)).not.toContain('poems');
    socket.close();
  });

  it('points to the argument that the database rejects', async () => {
    const hints = await hintsOf('mutation {\n  insert_author(objects: {id: "x"}) { affected_rows }\n}');
    expect(hints).toMatchObject({ line: 2, column: 17 });
  });

  it('has no position without a document', async () => {
    expect((await service.send('/v1/graphql', { method: 'POST', body: '{"query":1}' })).json).not.toHaveProperty('errors.0.locations');
  });
});
