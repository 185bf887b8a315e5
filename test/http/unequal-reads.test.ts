/** Reads that look alike but differ are never merged. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({});
  await service.sql(`
    create table doc (id int primary key, owner text, data jsonb, secret text);
    insert into doc values (1, 'a', '{"a": 1, "b": 2}', 's1'), (2, 'b', '{"a": 3, "b": 4}', 's2');
    create sequence calls;
    create function call() returns setof doc language sql volatile as
      $$ select nextval('calls')::int, owner, data, secret from doc where id = 1 $$;
    create function own(r doc, n int) returns int language sql stable as $$ select r.id * n $$;
  `);
  await service.metadata('pg_track_table', { source: 'default', table: 'doc' });
  await service.metadata('pg_track_function', { source: 'default', function: 'call', configuration: { exposed_as: 'query' } });
  await service.metadata('pg_add_computed_field', { source: 'default', table: 'doc', name: 'own', definition: { function: 'own' } });
  const permissions: readonly (readonly [role: string, columns: readonly string[], filter: JsonObject])[] = [
    ['r1', ['id', 'secret'], { id: { _eq: 1 } }],
    ['r2', ['id', 'owner'], { owner: 'X-Svc-User-Id' }],
  ];
  for (const [role, columns, filter] of permissions)
    await service.metadata('pg_create_select_permission', { source: 'default', table: 'doc', role, permission: { columns, filter } });
  await service.metadata('add_inherited_role', { role_name: 'both', role_set: ['r1', 'r2'] });
});

afterAll(() => service.stop());

test('calls a volatile function once per alias', async () => {
  const { data } = await service.graphql('{ a: call { id } b: call { id } }');
  const { a, b } = data as { readonly a: readonly JsonObject[]; readonly b: readonly JsonObject[] };
  expect([a[0]?.['id'], b[0]?.['id']].sort()).toEqual([1, 2]);
});

test('distinguishes JSON paths in literals and in variables', async () => {
  const query = `query ($x: String, $y: String) { doc(order_by: {id: asc}) {
    a: data(path: "a") b: data(path: "b") a2: data(path: "a") x: data(path: $x) y: data(path: $y) whole: data } }`;
  expect(await service.graphql(query, { variables: { x: 'a', y: 'b' } })).toEqual({
    data: {
      doc: [
        { a: 1, b: 2, a2: 1, x: 1, y: 2, whole: { a: 1, b: 2 } },
        { a: 3, b: 4, a2: 3, x: 3, y: 4, whole: { a: 3, b: 4 } },
      ],
    },
  });
});

test('distinguishes arguments, conditions, orders, limits and offsets', async () => {
  const query = `query ($x: Int!, $y: Int!) {
    doc(order_by: {id: asc}) { a: own(args: {n: $x}) b: own(args: {n: $y}) c: own(args: {n: 1}) d: own(args: {n: 10}) e: own(args: {n: 1}) }
    p: doc(where: {id: {_eq: $x}}) { id } q: doc(where: {id: {_eq: $y}}) { id }
    r: doc(order_by: {id: asc}, limit: 1) { id } s: doc(order_by: {id: asc}, limit: 2) { id } t: doc(order_by: {id: desc}, limit: 1) { id }
    u: doc(order_by: {id: asc}, offset: 1) { id } v: doc(where: {owner: {_eq: "1"}}) { id } w: doc(where: {owner: {_eq: "a"}}) { id } }`;
  expect(await service.graphql(query, { variables: { x: 1, y: 2 } })).toEqual({
    data: {
      doc: [
        { a: 1, b: 2, c: 1, d: 10, e: 1 },
        { a: 2, b: 4, c: 2, d: 20, e: 2 },
      ],
      ...{
        p: [{ id: 1 }],
        q: [{ id: 2 }],
        r: [{ id: 1 }],
        s: [{ id: 1 }, { id: 2 }],
        t: [{ id: 2 }],
        u: [{ id: 2 }],
        v: [],
        w: [{ id: 1 }],
      },
    },
  });
});

test('masks cells of an inherited role under every alias', async () => {
  const query = '{ a: doc(order_by: {id: asc}) { x: id secret y: secret owner } b: doc(order_by: {id: asc}) { owner o2: owner secret } }';
  expect(await service.graphql(query, { role: 'both', session: { 'user-id': 'b' } })).toEqual({
    data: {
      a: [
        { x: 1, secret: 's1', y: 's1', owner: null },
        { x: 2, secret: null, y: null, owner: 'b' },
      ],
      b: [
        { owner: null, o2: null, secret: 's1' },
        { owner: 'b', o2: 'b', secret: null },
      ],
    },
  });
});
