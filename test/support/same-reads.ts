/** All reads of the same tables have the same answers on PostgreSQL and on another kind: values, operators, roles, streams, endpoints. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { sample } from './deep.ts';
import { hasMariadb } from './mariadb.ts';
import type { GraphqlOptions } from './service.ts';
import { MODERN, TestSocket } from './websocket.ts';
import { comparable, ADMIN_SECRET, type Kind, type OtherKind, PRODUCTS, SOURCES, startTwins, type Twins } from './twins.ts';

const AS_ADMIN = { 'x-svc-admin-secret': ADMIN_SECRET };

const tables = (kind: 'pg' | 'dbb'): string => {
  const [text, json, zoned, plain, double, bytes] =
    kind === 'pg'
      ? ['varchar(40) collate "C"', 'jsonb', 'timestamptz(3)', 'timestamp(3)', 'float8', 'text']
      : ['varchar(40) collate utf8mb4_nopad_bin', 'json', 'timestamp(3) null', 'datetime(3)', 'double', 'text'];
  return `
create table thing (id int primary key, name ${text}, big bigint, exact decimal(30,10), ratio ${double}, flag boolean, doc ${json}, seen ${zoned}, at ${plain},
  day date, uid uuid, parent_id int references thing (id), owner ${text}, note ${bytes});
create table part (thing_id int references thing (id), place int, label ${text}, weight int, primary key (thing_id, place));
create view heavy as select id, name, big from thing where big > 5;
insert into thing values
 (1, 'one', 9007199254740993, 12345678901234567890.0123456789, 0.1, true, '{"a": {"b": [1, 2, {"c": null}]}, "k": "v"}', '2024-01-02 03:04:05.5+00:00', '2024-01-02 03:04:05.5',
  '2024-02-29', '6ccd780c-baba-1026-9564-5b8c656024db', null, 'u1', 'x'),
 (2, 'Two', 10, 0.5, -1e20, false, '[1, "a", true]', '2023-12-31 23:59:59.999+00:00', '1999-01-01 00:00:00', '1970-01-01', null, 1, 'u1', null),
 (3, 'three%', null, null, null, null, null, null, null, null, '00000000-0000-0000-0000-000000000001', 1, 'u2', ''),
 (4, 'ünï_"code"', 10, -0.0000000001, 2.5, true, '{"a": 1, "k": "w"}', '2024-01-02 03:04:05.5+00:00', '2024-01-02 03:04:06', '2024-02-28', null, 2, 'u2', 'y'),
 (5, null, 7, 3, 100, false, '"text"', '1999-12-31 00:00:00+00:00', null, null, null, null, null, 'z');
insert into part values (1, 1, 'l', 5), (1, 2, 'm', null), (2, 1, 'l', 7), (4, 9, 'n', 1), (4, 10, null, 1), (4, 11, 'o', 2);`;
};

const ALL = 'id name big exact flag seen at day uid parent_id owner note';
/** SQL that the databases read differently is written for each of them. */
const forMariadb = (sql: string): string => sql.replaceAll('+00:00', '');

const REQUESTS: readonly (readonly [title: string, request: string, options?: GraphqlOptions])[] = [
  ['values of all types', `{ _thing(order_by: {id: asc}) { ${ALL} __typename } _thing_by_pk(id: 1) { doc(path: "a.b") } }`],
  ['views', '{ _heavy(order_by: {id: asc}) { id name big } _heavy_aggregate { aggregate { count max { big } } } }'],
  [
    'doubles',
    '{ _thing(order_by: {id: asc}, where: {ratio: {_lt: 50}}) { id ratio } a: _thing(where: {ratio: {_in: [0.1, -1e20]}}, order_by: {id: asc}) { id } }',
  ],
  [
    'paths into documents',
    '{ _thing(order_by: {id: asc}) { a: doc(path: "$.a.b[1]") b: doc(path: "k") c: doc(path: "$[1]") d: doc(path: "none") } }',
  ],
  [
    'comparisons of numbers',
    `{ a: _thing(where: {big: {_eq: "9007199254740993"}}) { id } b: _thing(where: {exact: {_gt: "12345678901234567890.0123456788"}}) { id }
       c: _thing(where: {exact: {_in: ["-0.0000000001", 3]}}, order_by: {id: asc}) { id } d: _thing(where: {big: {_nin: [7, 10]}}) { id }
       e: _thing(where: {_not: {big: {_lte: 10}}}) { id } f: _thing(where: {big: {_neq: 10}}, order_by: {id: asc}) { id } }`,
  ],
  [
    'comparisons of moments, days, identifiers and flags',
    `{ a: _thing(where: {seen: {_eq: "2024-01-02T05:04:05.5+02:00"}}, order_by: {id: asc}) { id } b: _thing(where: {at: {_gte: "2024-01-02T03:04:05.5"}}, order_by: {id: asc}) { id }
       c: _thing(where: {day: {_in: ["2024-02-29", "1970-01-01"]}}, order_by: {id: asc}) { id } d: _thing(where: {uid: {_eq: "6CCD780C-BABA-1026-9564-5B8C656024DB"}}) { id }
       e: _thing(where: {flag: {_eq: true}}, order_by: {id: asc}) { id } f: _thing(where: {flag: {_neq: true}}, order_by: {id: asc}) { id }
       g: _thing(where: {uid: {_is_null: false}}, order_by: {uid: asc}) { id } h: _thing(where: {flag: {_in: [true, false]}, seen: {_lt: "2000-01-01T00:00:00Z"}}) { id } }`,
  ],
  [
    'patterns',
    `{ a: _thing(where: {name: {_like: "%e%"}}, order_by: {id: asc}) { id } b: _thing(where: {name: {_like: "three\\\\%"}}) { id } c: _thing(where: {name: {_nlike: "t%"}}, order_by: {id: asc}) { id }
       d: _thing(where: {name: {_ilike: "T%"}}, order_by: {id: asc}) { id } e: _thing(where: {name: {_nilike: "T%"}}, order_by: {id: asc}) { id } f: _thing(where: {name: {_regex: "^[Tt]"}}, order_by: {id: asc}) { id }
       g: _thing(where: {name: {_iregex: "^two$"}}) { id } h: _thing(where: {name: {_nregex: "e"}}, order_by: {id: asc}) { id } i: _thing(where: {name: {_niregex: "T"}}, order_by: {id: asc}) { id }
       j: _thing(where: {name: {_like: "_n%"}}) { id } k: _thing(where: {name: {_regex: "[0-9]|c.d"}}) { id } }`,
  ],
  [
    'documents',
    `{ a: _thing(where: {doc: {_contains: {k: "v"}}}) { id } b: _thing(where: {doc: {_has_key: "k"}}, order_by: {id: asc}) { id } c: _thing(where: {doc: {_has_keys_any: ["k", "z"]}}, order_by: {id: asc}) { id }
       d: _thing(where: {doc: {_has_keys_all: ["k", "a"]}}, order_by: {id: asc}) { id } e: _thing(where: {doc: {_contained_in: {a: 1, k: "w", z: 1}}}) { id } f: _thing(where: {doc: {_contains: {a: {b: [2]}}}}) { id }
       g: _thing(where: {doc: {_is_null: true}}) { id } }`,
  ],
  ['keys of arrays', '{ a: _thing(where: {doc: {_has_key: "a"}, id: {_eq: 2}}) { id } }'],
  [
    'orders',
    `{ a: _thing(order_by: [{big: asc}, {id: asc}]) { id } b: _thing(order_by: [{big: desc}, {id: desc}]) { id } c: _thing(order_by: [{exact: asc_nulls_first}, {id: asc}]) { id }
       d: _thing(order_by: [{seen: desc_nulls_last}, {name: desc_nulls_first}]) { id } e: _thing(order_by: [{parent: {name: asc}}, {parts_aggregate: {sum: {weight: desc_nulls_last}}}, {id: asc}]) { id }
       f: _thing(order_by: [{parts_aggregate: {count: desc}}, {flag: asc_nulls_last}, {id: asc}]) { id } g: _part(order_by: [{thing: {parent: {id: desc_nulls_last}}}, {place: desc}]) { thing_id place } }`,
  ],
  [
    'pages of related rows of related rows',
    `{ _thing(order_by: {id: asc}) { id parent { id things(order_by: {id: desc}, limit: 1) { id } } things(order_by: {name: desc_nulls_last}, limit: 1, offset: 1) { id }
       parts(order_by: {place: desc}, limit: 2) { place thing { parts_aggregate(where: {weight: {_gt: 1}}) { aggregate { count sum { weight } } nodes { label } } } } } }`,
  ],
  [
    'rows that differ in some columns',
    `{ a: _thing(distinct_on: [big], order_by: [{big: desc_nulls_last}, {id: desc}]) { id big } b: _thing(distinct_on: [owner, flag], order_by: [{owner: asc}, {flag: desc_nulls_last}, {id: asc}], limit: 3) { id }
       c: _thing(order_by: {id: asc}) { parts(distinct_on: weight, order_by: [{weight: desc_nulls_last}, {place: desc}], limit: 1) { place } } }`,
  ],
  [
    'aggregates',
    `{ _thing_aggregate(order_by: {id: asc}) { aggregate { count n: count(columns: [owner, flag]) d: count(columns: [owner, flag], distinct: true) e: count(columns: flag, distinct: true) sum { big exact } min { name seen at day exact } max { name seen day big } }
       nodes { id } } none: _thing_aggregate(where: {id: {_lt: 0}}) { aggregate { count sum { big } avg { big } min { name } variance { big } } nodes { id } }
       page: _thing_aggregate(order_by: {id: desc}, limit: 2, offset: 1) { aggregate { count sum { id } } nodes { id } } }`,
  ],
  [
    'conditions on related rows and their aggregates',
    `{ a: _thing(where: {parts: {label: {_eq: "l"}, weight: {_gt: 5}}}) { id } b: _thing(where: {_not: {parts: {}}}, order_by: {id: asc}) { id } c: _thing(where: {parent: {parent: {id: {_eq: 1}}}}) { id }
       d: _thing(where: {parts_aggregate: {count: {predicate: {_eq: 3}}}}) { id } e: _thing(where: {parts_aggregate: {count: {arguments: [label], distinct: true, filter: {weight: {_is_null: false}}, predicate: {_gte: 2}}}}) { id }
       f: _thing(where: {_and: [{_or: [{id: {_eq: 1}}, {owner: {_eq: "u2"}}]}, {_not: {flag: {_eq: true}}}, {}]}) { id } g: _thing(where: {_or: []}) { id } h: _thing(where: {_and: []}, order_by: {id: asc}) { id } }`,
  ],
  [
    'variables, fragments, directives and other names',
    `query($where: _thing_bool_exp!, $order: [_thing_order_by!], $limit: Int = 2, $id: Int!, $names: [String!], $not: Boolean!, $path: String) {
       first: _thing(where: $where, order_by: $order, limit: $limit) { ...all } _thing_by_pk(id: $id) { ...all self: doc(path: $path) } listed: _thing(where: {name: {_in: $names}}, order_by: {id: asc}) { id }
       skipped: _thing @skip(if: $not) { id } } fragment all on _thing { id other: name @include(if: $not) ... on _thing { parent { id } } }`,
    { variables: { where: { id: { _gt: 1 } }, order: [{ id: 'desc' }], id: 2, names: ['one', 'ünï_"code"'], not: true, path: '[0]' } },
  ],
  ['what is wrong in a request', '{ _thing(where: {id: {_eq: "x"}}) { id } _thing_by_pk(id: 1) { nothing } }'],
  ['what is wrong in a value', 'query($id: uuid!) { _thing(where: {uid: {_eq: $id}}) { id } }', { variables: { id: 'no uuid' } }],
];

const REQUESTS_OF_USERS: readonly string[] = [
  '{ _thing(order_by: {id: asc}) { id name parts(order_by: {place: asc}) { place weight } } }',
  '{ _thing_aggregate(order_by: {id: asc}) { aggregate { count max { id } } nodes { id } } }',
  '{ _thing(where: {parts: {weight: {_gt: 1}}}, order_by: {id: asc}) { id } _part(order_by: [{thing_id: asc}, {place: asc}]) { thing_id place label } }',
  '{ _thing(order_by: [{name: asc_nulls_first}, {id: asc}], limit: 9) { id } _thing_by_pk(id: 1) { name } big: _thing_by_pk(id: 4) { id } }',
  '{ _thing { big } }',
];

/** A query that another kind answers differently from PostgreSQL, with the reason. */
export interface ReadDifference {
  readonly reason: string;
  /** Converts its answer to PostgreSQL's. */
  readonly asPostgresql: (answer: string) => string;
}

/** Defines the tests of one kind. @param differences by query title; all other answers are equal */
export function sameReads(other: OtherKind, differences: ReadonlyMap<string, ReadDifference>): void {
  describe.skipIf(other === 'dbb' && !hasMariadb())(`reads of PostgreSQL and ${PRODUCTS[other]}`, () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await startTwins(
        ['thing', 'part', 'heavy'],
        { pg: tables('pg'), dbb: forMariadb(tables('dbb')) },
        {
          // Streams continue immediately.
          STREAMING_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '1',
        },
        other,
      );
      await twins.relate('object', 'thing', 'parent', 'parent_id');
      await twins.relate('array', 'thing', 'things', { table: 'thing', column: 'parent_id' });
      await twins.relate('array', 'thing', 'parts', { table: 'part', column: 'thing_id' });
      await twins.relate('object', 'part', 'thing', 'thing_id');
      const select = (role: string, table: string, permission: JsonObject): Promise<void> =>
        twins.both('create_select_permission', { role, table, permission });
      await select('owner', 'thing', {
        columns: ['id', 'name', 'owner'],
        filter: { owner: { _eq: 'X-Svc-User' } },
        allow_aggregations: true,
      });
      await select('owner', 'part', { columns: ['thing_id', 'place', 'label'], filter: { thing: { owner: { _eq: 'X-Svc-User' } } } });
      await select('checker', 'thing', {
        columns: ['id', 'flag', 'name'],
        filter: { _or: [{ id: { _in: 'X-Svc-Ids' } }, { parts: { weight: { _cgt: ['$', 'id'] } } }, { name: { _clt: 'owner' } }] },
        limit: 2,
      });
      await select('checker', 'part', { columns: '*', filter: { _exists: { _table: 'heavy', _where: { name: { _eq: 'X-Svc-User' } } } } });
      await twins.service.metadata('add_inherited_role', { role_name: 'both', role_set: ['owner', 'checker'] });
    });
    afterAll(() => twins?.stop());

    it.each(sample(REQUESTS, 8).map(([title, request, options = {}]) => ({ title, request, options })))(
      '$title',
      async ({ title, request, options }) => {
        const [theirs, ours] = [await twins.answer('pg', request, options), await twins.answer(other, request, options)];
        const difference = differences.get(title);
        if (difference === undefined) {
          expect(ours).toBe(theirs);
          expect(theirs.includes('"data"')).toBe(!title.startsWith('what is wrong'));
        } else {
          expect(ours, `not different any more: ${difference.reason}`).not.toBe(theirs);
          expect(difference.asPostgresql(ours), difference.reason).toBe(theirs);
        }
      },
    );

    it.each([
      ['owner', { user: 'u1' }],
      ['owner', {}],
      ['checker', { ids: '{1,3,5}', user: 'one' }],
      ['checker', { ids: '{}', user: 'nobody' }],
      ['both', { user: 'u2', ids: '{1}' }],
      ['both', { user: "u'1\\", ids: 'x' }],
    ])('returns the same to role %s with %j', async (role, session) => {
      for (const request of REQUESTS_OF_USERS) {
        const [theirs, ours] = [
          await twins.answer('pg', request, { role, session }),
          await twins.answer(other, request, { role, session }),
        ];
        // The databases describe invalid values in their own words.
        if (theirs.includes('data-exception')) expect(ours).toContain('data-exception');
        else expect(ours, request).toBe(theirs);
      }
    });

    it('sends the same to subscribers, many of whom share a statement', async () => {
      const socket = await new TestSocket(twins.service.url, { protocol: MODERN, headers: AS_ADMIN }).init(AS_ADMIN);
      const heard = new Map<string, Json>();
      try {
        const queries = [
          'subscription($id: Int!, $names: [String!]) { _thing(where: {_or: [{id: {_gt: $id}}, {name: {_in: $names}}]}, order_by: {id: asc}) { id name parts { label } } }',
          'subscription($id: Int!, $names: [String!]) { _thing(where: {id: {_neq: $id}, _not: {name: {_in: $names}}}, order_by: {name: asc}, limit: 2) { id name } }',
          'subscription($id: Int!, $names: [String!]) { _thing_aggregate(where: {id: {_lte: $id}, name: {_nin: $names}}) { aggregate { count } } }',
          'subscription($id: Int!, $name: String) { _thing_by_pk(id: $id) { name parts(where: {label: {_like: $name}}) { place } } }',
        ];
        const values = [1, 2, 3, 4].map((id) => ({
          id,
          names: [['one'], ['Two', 'one'], [], ['ünï_"code"']][id - 1] as string[],
          name: `%${id}`,
        }));
        const ids: string[] = [];
        for (const [q, query] of queries.entries()) {
          for (const [v, all] of values.entries()) {
            const { names, name, ...rest } = all;
            const variables: JsonObject = query.includes('$names')
              ? { ...rest, names }
              : { ...rest, name: v === 0 ? null : 'l%', ...(v > 1 && { name }) };
            for (const kind of ['pg', other] as const) {
              ids.push(`${kind}-${q}-${v}`);
              socket.start(`${kind}-${q}-${v}`, query.replaceAll('_thing', `${kind}_thing`), { variables });
            }
          }
        }
        while (heard.size < ids.length) {
          const { id, payload } = await socket.next();
          if (id !== undefined) heard.set(String(id), payload as Json);
        }
        const text = (id: string): string => comparable(JSON.stringify(heard.get(id)));
        for (const id of ids.filter((each) => each.startsWith(other))) expect(text(id), id).toBe(text(id.replace(other, 'pg')));
      } finally {
        socket.close();
      }
    });

    it.each([
      ['id', '0', 'asc', [1, 2, 3, 4, 5]],
      ['id', '9', 'desc', [5, 4, 3, 2, 1]],
      ['big', '"0"', 'asc', [5, 2, 4, 1]],
      ['exact', '"-1"', 'asc', [4, 2, 5, 1]],
      ['name', '""', 'asc', [2, 1, 3, 4]],
      ['name', '"zzz"', 'desc', [3, 1, 2]],
      ['seen', '"1990-01-01T00:00:00Z"', 'asc', [5, 2, 1, 4]],
      ['at', '"2024-01-02T03:04:05.5"', 'asc', [4]],
      ['day', '"2030-01-01"', 'desc', [1, 4, 2]],
      ['ratio', '-1e30', 'asc', [2, 1, 4, 5]],
      ['uid', '"00000000-0000-0000-0000-000000000000"', 'asc', [3, 1]],
    ] as const)('streams the same by %s from %s on, %s', async (column, start, ordering, expected) => {
      const stream = async (kind: Kind): Promise<readonly number[]> => {
        const socket = await new TestSocket(twins.service.url, { protocol: MODERN, headers: AS_ADMIN }).init(AS_ADMIN);
        const ids: number[] = [];
        try {
          socket.start(
            's',
            `subscription { rows: ${kind}_thing_stream(batch_size: 1, cursor: {initial_value: {${column}: ${start}}, ordering: ${ordering.toUpperCase()}}) { id name parts { place } } }`,
          );
          while (ids.length < expected.length) {
            const { payload } = await socket.next();
            const { data } = payload as { data?: { rows: readonly { id: number }[] } };
            if (data === undefined) throw new Error(JSON.stringify(payload));
            ids.push(...data.rows.map(({ id }) => id));
          }
        } finally {
          socket.close();
        }
        return ids;
      };
      const [theirs, ours] = await Promise.all([stream('pg'), stream(other)]);
      // Rows with equal values arrive in any order.
      const inOrder = (ids: readonly number[]): readonly number[] => (column === 'big' || column === 'seen' ? [...ids].sort() : ids);
      expect(inOrder(ours)).toEqual(inOrder(theirs));
      expect(inOrder(ours)).toEqual(inOrder(expected));
    });

    it('returns the same under custom names, through REST endpoints, as a subgraph and in explain', async () => {
      await twins.both('set_table_customization', {
        table: 'part',
        configuration: {
          custom_name: 'piece',
          column_config: { thing_id: { custom_name: 'of' } },
          custom_root_fields: { select: 'all_pieces' },
        },
      });
      const { service } = twins;
      const renamed = await twins.answer(
        'pg',
        '{ __typename all: __type(name: "_piece") { name fields { name } } }'.replace('_piece', 'pg_piece'),
      );
      expect(renamed).toContain('"of"');
      for (const [kind, source] of [
        ['pg', 'default'],
        [other, SOURCES[other]],
      ] as const) {
        await service.metadata(`${kind}_set_ext_federation_config`, { source, table: 'thing', ext_federation_config: { enable: 'v1' } });
        const list = `query($of: Int!) { rows: ${kind}_all_pieces(where: {of: {_eq: $of}}, order_by: {place: asc}) { of place label } }`;
        await service.metadata('create_query_collection', { name: kind, definition: { queries: [{ name: 'pieces', query: list }] } });
        await service.metadata('create_rest_endpoint', {
          name: kind,
          url: `pieces/${kind}/:of`,
          methods: ['GET'],
          definition: { query: { collection_name: kind, query_name: 'pieces' } },
        });
        expect((await service.send(`/api/rest/pieces/${kind}/4`, { headers: AS_ADMIN })).json).toEqual({
          rows: [
            { of: 4, place: 9, label: 'n' },
            { of: 4, place: 10, label: null },
            { of: 4, place: 11, label: 'o' },
          ],
        });
        const explained = await service.send('/v1/graphql/explain', {
          method: 'POST',
          headers: AS_ADMIN,
          body: JSON.stringify({ query: { query: `{ ${kind}_heavy { id } }` }, user: { 'x-svc-role': 'admin' } }),
        });
        expect(explained.json).toMatchObject([{ field: `${kind}_heavy`, sql: expect.stringContaining('select'), plan: expect.any(Array) }]);
      }
      expect((await service.send('/healthz/sources', { headers: AS_ADMIN })).status).toBe(200);
    });

    it.skipIf(other === 'dbc')('returns the same with the other naming convention', async () => {
      for (const name of ['pg', other]) {
        await twins.service.metadata('drop_rest_endpoint', { name });
        await twins.service.metadata('drop_query_collection', { collection: name, cascade: true });
      }
      for (const [kind, source] of [
        ['pg', 'default'],
        [other, SOURCES[other]],
      ] as const) {
        await twins.service.metadata(`${kind}_update_source`, {
          name: source,
          customization: { root_fields: { prefix: `${kind}_` }, type_names: { prefix: `${kind}_` }, naming_convention: 'graphql-default' },
        });
      }
      const fields = async (kind: Kind): Promise<string> => {
        const schema = JSON.stringify(await twins.service.graphql(`{ __type(name: "query_root") { fields { name args { name } } } }`));
        return JSON.stringify([...schema.matchAll(new RegExp(`"${kind}([A-Z_]\\w*)"`, 'g'))].map(([, name]) => name));
      };
      const theirs = await fields('pg');
      expect(theirs).toContain('ThingByPk');
      expect(await fields(other)).toBe(theirs);
    });
  });
}
