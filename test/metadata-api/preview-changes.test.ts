import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(`
    create table album (id int primary key, title text, cost numeric, owner int);
    insert into album values (1, 'a', 9007199254740993.5, 7), (2, 'b', 1, 8);
    create table track (id int primary key, album_id int references album)`);
  await service.metadata('bulk', [
    { type: 'pg_track_table', args: 'album' },
    { type: 'pg_create_select_permission', args: select('customer', ['id', 'title'], { owner: { _eq: 'X-Svc-User-Id' } }) },
    { type: 'pg_create_select_permission', args: select('guest', ['id'], {}) },
  ]);
});
afterAll(() => service.stop());

const select = (role: string, columns: Json, filter: JsonObject): JsonObject => ({ table: 'album', role, permission: { columns, filter } });
const replaced = (role: string, columns: Json, filter: JsonObject): Json[] => [
  { type: 'pg_drop_select_permission', args: { table: 'album', role } },
  { type: 'pg_create_select_permission', args: select(role, columns, filter) },
];
const preview = async (args: JsonObject): Promise<JsonObject> => (await service.metadata('preview_changes', args)) as JsonObject;
const exported = async (): Promise<string> => printJson(await service.metadata('export_metadata', {}, { version: 2 }));

it('lists the roles whose schemas would change, with the changes', async () => {
  const before = await exported();
  const answer = await preview({ changes: replaced('customer', ['id', 'cost'], {}) });
  expect(answer).toMatchObject({ is_consistent: true, inconsistent_objects: [], answers: [], roles_not_compared: [] });
  expect((answer['schema_diff'] as JsonObject[]).map(({ role }) => role)).toEqual(['customer']);
  const [{ added, removed, changed, counts }] = answer['schema_diff'] as [
    { added: string[]; removed: string[]; changed: Json; counts: Json },
  ];
  expect(added).toContain('album.cost: numeric');
  expect(added).toContain('input numeric_comparison_exp');
  expect(removed).toContain('album.title: String');
  expect(removed).toContain('album_bool_exp.title: String_comparison_exp');
  expect(added.some((line) => line.startsWith('numeric_comparison_exp.'))).toBe(false);
  expect(counts).toEqual({ added: added.length, removed: removed.length, changed: (changed as Json[]).length });
  expect(await exported()).toBe(before);
});

it('reports changed signatures', async () => {
  const { schema_diff: diff } = await preview({
    changes: [
      { type: 'pg_set_table_customization', args: { table: 'album', configuration: { column_config: { id: { custom_name: 'key' } } } } },
    ],
    roles: ['admin'],
  });
  const [{ role, changed }] = diff as [{ role: string; changed: { before: string; after: string }[] }];
  expect(role).toBe('admin');
  expect(changed).toContainEqual({ before: 'query_root.album_by_pk(id: Int!): album', after: 'query_root.album_by_pk(key: Int!): album' });
});

it('answers queries exactly as the changed metadata would, and only queries', async () => {
  const { answers } = parseJson(
    (
      await service.send('/v1/metadata', {
        method: 'POST',
        body: printJson({
          type: 'preview_changes',
          args: {
            changes: replaced('customer', ['id', 'cost'], { owner: { _lt: 'X-Svc-User-Id' } }),
            queries: [
              { query: '{ album { id cost } }', user: { 'x-svc-role': 'customer', 'X-Svc-User-Id': '8' } },
              { query: 'query q($id: Int!) { album_by_pk(id: $id) { title } }', variables: { id: 2 } },
              { query: '{ album { title } }', user: { 'x-svc-role': 'customer', 'x-svc-user-id': '8' } },
              { query: 'mutation { delete_album(where: {}) { affected_rows } }' },
            ],
          },
        }),
      })
    ).text,
  ) as { answers: Json[] };
  expect(printJson(answers[0] ?? null)).toBe('{"data":{"album":[{"id":1,"cost":9007199254740993.5}]}}');
  expect(answers.slice(1)).toMatchObject([
    { data: { album_by_pk: { title: 'b' } } },
    { errors: [{ extensions: { code: 'validation-failed' } }] },
    { errors: [{ extensions: { code: 'method-not-allowed' } }] },
  ]);
  expect(await service.graphql('{ album_aggregate { aggregate { count } } }')).toEqual({
    data: { album_aggregate: { aggregate: { count: 2 } } },
  });
});

it('reports queries of the allow-list and of endpoints that a role could no longer run', async () => {
  const queries = [
    { name: 'Titles', query: 'query Titles($id: Int!) { album_by_pk(id: $id) { id title } }' },
    { name: 'Ids', query: '{ album { id } }' },
  ];
  await service.metadata('create_query_collection', { name: 'shop', definition: { queries } });
  await service.metadata('create_query_collection', { name: 'unused', definition: { queries: queries.slice(0, 1) } });
  await service.metadata('add_collection_to_allowlist', { collection: 'shop', scope: { global: false, roles: ['customer'] } });
  const changes = [...replaced('customer', ['id'], {}), ...replaced('guest', [], {})];
  const broken = { collection: 'shop', name: 'Titles', role: 'customer', rest_endpoints: [], in_allowlist: true };
  const problems = ["$.album_by_pk.title: field 'title' not found in object 'album'"];
  expect(await preview({ changes })).toMatchObject({ broken_queries: [{ ...broken, problems }], broken_query_count: 1 });
  await service.metadata('create_rest_endpoint', {
    name: 'ids',
    url: 'ids',
    methods: ['GET'],
    definition: { query: { collection_name: 'shop', query_name: 'Ids' } },
  });
  const withEndpoint = await preview({ changes });
  expect((withEndpoint['broken_queries'] as JsonObject[]).map(({ name, role }) => [name, role])).toEqual([
    ['Titles', 'customer'],
    ['Ids', 'guest'],
  ]);
  expect(await preview({ changes: [], roles: ['customer'] })).toMatchObject({ broken_queries: [], broken_query_count: 0 });
});

it('reports objects that would be inconsistent if the change allows that', async () => {
  const answer = await preview({
    changes: [
      {
        type: 'replace_metadata',
        args: {
          allow_inconsistent_metadata: true,
          metadata: {
            version: 3,
            sources: [
              {
                name: 'default',
                kind: 'pg',
                configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
                tables: [{ table: 'missing' }],
              },
            ],
          },
        },
      },
    ],
    roles: [],
  });
  expect(answer).toMatchObject({ is_consistent: false, inconsistent_objects: [{ type: 'table' }], schema_diff: [] });
  expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
});

it('prevents writes of queries, whatever functions they call', async () => {
  await service.sql(`
    create function added() returns setof album language sql volatile as 'insert into album (id) values (99) returning *';
    create function hidden() returns setof album language plpgsql stable as 'begin return query select * from added(); end';
    create view seen as select id from added()`);
  const { answers } = await preview({
    changes: [
      { type: 'pg_track_function', args: { function: 'added', configuration: { exposed_as: 'query' } } },
      { type: 'pg_track_function', args: { function: 'hidden' } },
      { type: 'pg_track_table', args: 'seen' },
    ],
    queries: [{ query: '{ added { id } }' }, { query: '{ hidden { id } }' }, { query: '{ seen { id } }' }, { query: '{ album { id } }' }],
  });
  const told = (answers as Json[]).map((answer) => printJson(answer));
  for (const each of told.slice(0, 3)) expect(each).toContain('cannot execute INSERT in a read-only transaction');
  expect(told[3]).toBe('{"data":{"album":[{"id":1},{"id":2}]}}');
});

it('leaves databases unchanged', async () => {
  const definition = { table: 'album', name: 'tried', webhook: 'http://localhost:9', insert: { columns: '*' } };
  await preview({ changes: [{ type: 'pg_create_event_trigger', args: definition }] });
  const found = await service.sql("select count(*) from pg_trigger where tgname like '%tried%'", { read_only: true });
  expect(found).toMatchObject({ result: [['count'], ['0']] });
});

it('continues while others change the metadata, based on the version at its start', async () => {
  const track = { type: 'pg_track_table', args: 'track' };
  const [answer] = await Promise.all([preview({ changes: [track], roles: ['admin'] }), service.metadata('pg_track_table', 'track')]);
  expect(answer['is_consistent']).toBe(true);
  await service.metadata('pg_untrack_table', { table: 'track' });
  expect(await preview({ changes: [], roles: ['admin'] })).toMatchObject({ schema_diff: [] });
});

it.each<[string, JsonObject, string, string]>([
  ['a change that is refused', { changes: [{ type: 'pg_track_table', args: 'album' }] }, 'already-tracked', '$.args.changes[0].args'],
  [
    'a later one',
    { changes: [{ type: 'pg_track_table', args: 'track' }, ...replaced('customer', ['nothing'], {})] },
    'invalid-configuration',
    '$.args.changes[2].args',
  ],
  ['arguments of a wrong form', { changes: [{ type: 'pg_track_table', args: 1 }] }, 'parse-failed', '$.args.changes[0].args'],
  [
    'an operation that does more',
    { changes: [{ type: 'set_catalog_state', args: { type: 'console', state: {} } }] },
    'not-supported',
    '$.args.changes[0].args',
  ],
  [
    'one within a bulk',
    { changes: [{ type: 'bulk', args: [{ type: 'export_metadata', args: {} }] }] },
    'not-supported',
    '$.args.changes[0].args[0].args',
  ],
  ['an unknown operation', { changes: [{ type: 'pg_nothing', args: {} }] }, 'parse-failed', '$.args.changes[0]'],
  ['too many queries', { changes: [], queries: Array.from({ length: 21 }, () => ({ query: '{ __typename }' })) }, 'bad-request', '$.args'],
  [
    'a user of a wrong form',
    { changes: [], queries: [{ query: '{ __typename }', user: { 'x-svc-role': 1 } }] },
    'parse-failed',
    '$.args.queries[0].user.x-svc-role',
  ],
])('refuses %s', async (_what, args, code, path) => {
  const body = printJson({ type: 'preview_changes', args });
  const answer = await service.send('/v1/metadata', { method: 'POST', body });
  expect(answer.json, answer.text).toMatchObject({ code, path: expect.stringContaining(path) });
});
