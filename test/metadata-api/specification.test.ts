import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { printJson } from '../../src/util/json.ts';
import { runSql, testDatabase } from '../support/postgres.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

describe('the specification', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService();
    await service.sql(
      'create table author (id int primary key, name text); create table article (id int primary key, author_id int references author)',
    );
    await service.metadata('bulk', [
      { type: 'pg_track_table', args: 'author' },
      { type: 'pg_track_table', args: 'article' },
      {
        type: 'pg_create_object_relationship',
        args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
      },
    ]);
    return () => service.stop();
  });

  const send = (path: string, type: string, args: Json, more: JsonObject = {}): Promise<Answer> =>
    service.send(path, { method: 'POST', body: printJson({ type, args, ...more }) });

  describe('run_sql', () => {
    it.each([
      ['begin', 'begin; alter table article drop column author_id; commit'],
      ['commit', 'select 1; commit; alter table article drop column author_id'],
      ['start', '/* a */ start transaction; alter table article drop column author_id; commit'],
      ['end', 'alter table article drop column author_id;end'],
      ['rollback', 'rollback and chain; alter table article drop column author_id'],
      ['abort', 'abort; alter table article drop column author_id'],
      ['prepare', "alter table article drop column author_id; prepare transaction 'a'"],
    ])('rejects checked SQL with "%s" before any of it runs', async (word, sql) => {
      expect(await send('/v2/query', 'run_sql', { sql })).toMatchObject({
        status: 400,
        json: { path: '$.args', code: 'bad-request', error: expect.stringContaining(`so the statement "${word}" is not allowed`) },
      });
      expect(await service.sql('select author_id from article')).toMatchObject({ result: [['author_id']] });
    });

    it('writes nothing after a string that continues across a line break', async () => {
      const hidden = "select E'a'\n'\\''; commit; create table hidden (); select '1'";
      expect(await send('/v2/query', 'run_sql', { sql: hidden, read_only: true })).toMatchObject({ status: 400 });
      expect(await send('/v2/query', 'run_sql', { sql: `alter table article drop column author_id; ${hidden}` })).toMatchObject({
        status: 400,
      });
      expect(await service.sql("select to_regclass('hidden')")).toMatchObject({ result: [['to_regclass'], ['NULL']] });
    });

    it('runs transactions in unchecked SQL, and savepoints in checked SQL', async () => {
      expect(await service.sql('begin; alter table author add column a int; commit', { check_metadata_consistency: false })).toBeDefined();
      expect(await service.sql('begin; alter table author drop column a; commit', { no_transaction: true })).toBeDefined();
      expect(await service.sql('savepoint a; alter table author add column a int; rollback to a; release a')).toBeDefined();
      expect(await service.sql("prepare a as select 1; alter table author add column b text default 'commit'")).toBeDefined();
    });
  });

  it('accepts names of experimental features that are always on', async () => {
    const named = await startTestService({
      EXPERIMENTAL_FEATURES: 'inherited_roles,streaming_subscriptions,naming_convention',
      LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '1500',
    });
    try {
      expect((await named.send('/v1alpha1/config')).json).toMatchObject({
        experimental_features: ['inherited_roles', 'streaming_subscriptions', 'naming_convention'],
        live_queries: { refetch_delay: 2 },
        streaming_queries: { refetch_delay: 1 },
      });
    } finally {
      await named.stop();
    }
  });

  it('reaches a source of any kind through run_sql', async () => {
    await service.metadata('dbc_add_source', { name: 'spread', configuration: { connection_info: { database_url: service.databaseUrl } } });
    for (const type of ['run_sql', 'dbc_run_sql'])
      expect(await send('/v2/query', type, { source: 'spread', sql: 'select 1 as a' })).toMatchObject({
        status: 200,
        json: { result: [['a'], ['1']] },
      });
    expect(await send('/v2/query', 'pg_run_sql', { source: 'spread', sql: 'select 1 as a' })).toMatchObject({
      status: 400,
      json: { code: 'not-exists' },
    });
    expect(await send('/v2/query', 'run_sql', { source: 'nothing', sql: 'select 1 as a' })).toMatchObject({
      status: 400,
      json: { code: 'not-exists' },
    });
  });

  it('requires the trigger of cron events', async () => {
    for (const type of ['get_scheduled_events', 'get_scheduled_event_invocations']) {
      expect(await send('/v1/metadata', type, { type: 'cron' })).toMatchObject({
        status: 400,
        json: { code: 'parse-failed', path: '$.args', error: expect.stringContaining('trigger_name') },
      });
      expect(await send('/v1/metadata', type, { type: 'one_off', trigger_name: 'a' })).toMatchObject({
        status: 400,
        json: { path: '$.args.trigger_name' },
      });
    }
  });

  it('drops a TLS entry by its host if that names one entry', async () => {
    const add = (suffix?: string): Promise<Json> =>
      service.metadata('add_host_to_tls_allowlist', { host: 'a.example', ...(suffix === undefined ? {} : { suffix }) });
    await add('8443');
    await add('9443');
    expect(await send('/v1/metadata', 'drop_host_from_tls_allowlist', { host: 'a.example' })).toMatchObject({
      status: 400,
      json: {
        code: 'bad-request',
        error: 'the host "a.example" has several entries in the allowlist: set "suffix" to one of "8443", "9443"',
      },
    });
    await service.metadata('drop_host_from_tls_allowlist', { host: 'a.example', suffix: '9443' });
    await service.metadata('drop_host_from_tls_allowlist', { host: 'a.example' });
    expect(await send('/v1/metadata', 'drop_host_from_tls_allowlist', { host: 'a.example' })).toMatchObject({
      status: 400,
      json: { code: 'not-exists' },
    });
    await add();
    await add('8443');
    await service.metadata('drop_host_from_tls_allowlist', 'a.example');
    expect(JSON.stringify(await service.metadata('export_metadata', {}))).toContain('8443');
    await service.metadata('drop_host_from_tls_allowlist', { host: 'a.example', suffix: '8443' });
  });

  it.each([
    ['2100-05-01T10:00:00+02:00', '2100-05-01T08:00:00Z'],
    ['2100-05-01T10:00:00.5', '2100-05-01T10:00:00.5Z'],
    ['2100-05-01', '2100-05-01T00:00:00Z'],
    ['21000501T100000Z', '2100-05-01T10:00:00Z'],
  ])('schedules an event at %s', async (schedule_at, expected) => {
    const { event_id } = (await service.metadata('create_scheduled_event', { webhook: 'http://127.0.0.1/a', schedule_at })) as JsonObject;
    expect(await service.metadata('get_scheduled_events', { type: 'one_off' })).toMatchObject({
      events: [{ id: event_id, scheduled_time: expected }],
    });
    await service.metadata('delete_scheduled_event', { type: 'one_off', event_id: event_id as string });
  });

  it.each<[string, string, Json]>([
    ['/v1/metadata', 'export_metadata', {}],
    ['/v1/metadata', 'get_inconsistent_metadata', {}],
    ['/v1/metadata', 'create_scheduled_event', { webhook: 'http://127.0.0.1/a', schedule_at: '2100-01-01' }],
    ['/v1/metadata', 'pg_track_table', 'stale'],
    [
      '/v1/metadata',
      'bulk',
      [
        { type: 'create_scheduled_event', args: { webhook: 'http://127.0.0.1/a', schedule_at: '2100-01-01' } },
        { type: 'reload_metadata', args: {} },
      ],
    ],
    ['/v1/metadata', 'bulk_keep_going', [{ type: 'export_metadata', args: {} }]],
    ['/v2/query', 'run_sql', { sql: 'create table stale (id int primary key)' }],
    ['/v1/query', 'run_sql', { sql: 'alter table author add column stale int' }],
  ])('refuses a stale resource_version on %s, %s', async (path, type, args) => {
    const version = Number(((await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject)['resource_version']);
    expect(await send(path, type, args, { resource_version: version - 1 })).toMatchObject({
      status: 409,
      json: { code: 'conflict', path: '$', error: `metadata resource version referenced (${version - 1}) did not match current version` },
    });
    expect(
      await service.sql("select to_regclass('stale'), (select count(*) from information_schema.columns where column_name = 'stale')"),
    ).toMatchObject({ result: [expect.anything(), ['NULL', '0']] });
    expect(await service.metadata('get_scheduled_events', { type: 'one_off' })).toEqual({ events: [] });
    expect((await send('/v1/metadata', 'export_metadata', {}, { resource_version: version })).status).toBe(200);
  });

  it('tracks a table without a valid GraphQL name, with a warning', async () => {
    await service.sql('create table "two words" (id int primary key); create table "other-one" (id int primary key)');
    const warning = (name: string): JsonObject => ({
      code: 'illegal-table-name',
      type: 'table',
      name: `table ${name} in source default`,
      message: expect.stringContaining(`"${name}" is not a valid GraphQL name: set "custom_name"`) as string,
    });
    expect(await service.metadata('pg_track_table', { table: 'two words' })).toEqual({
      message: 'success',
      warnings: [warning('two words')],
    });
    expect(await service.metadata('pg_track_tables', { tables: [{ table: 'other-one' }] })).toEqual({
      message: 'success',
      warnings: [warning('other-one')],
    });
    expect(await service.metadata('get_inconsistent_metadata', {})).toEqual({
      is_consistent: true,
      inconsistent_objects: [],
      warnings: [warning('two words'), warning('other-one')],
    });
    const metadata = (await service.metadata('export_metadata', {})) as JsonObject;
    expect(await service.metadata('replace_metadata', metadata)).toEqual({
      message: 'success',
      warnings: [warning('two words'), warning('other-one')],
    });
    for (const [name, custom_name] of [
      ['two words', 'twoWords'],
      ['other-one', 'other'],
    ] as const)
      expect(await service.metadata('pg_set_table_customization', { table: name, configuration: { custom_name } })).toEqual({
        message: 'success',
      });
    expect(await service.metadata('get_inconsistent_metadata', {})).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect(await service.graphql('{ twoWords { id } other { id } }')).toEqual({ data: { twoWords: [], other: [] } });
  });

  it('redelivers an event without its source', async () => {
    const database = await testDatabase();
    try {
      await runSql(database.url, 'create table note (id int primary key)');
      await service.metadata('bulk', [
        { type: 'pg_add_source', args: { name: 'second', configuration: { connection_info: { database_url: database.url } } } },
        { type: 'pg_track_table', args: { source: 'second', table: 'note' } },
        {
          type: 'pg_create_event_trigger',
          args: { source: 'second', table: 'note', name: 'noted', webhook: 'http://127.0.0.1:1', insert: { columns: '*' } },
        },
      ]);
      await service.sql('insert into note values (1)', { source: 'second' });
      const logs = (): Promise<Json> => service.metadata('pg_get_event_logs', { source: 'second', name: 'noted' });
      await expect.poll(logs).toMatchObject([{ error: true }]);
      const [{ id }] = (await logs()) as [{ id: string }];
      expect(await send('/v1/metadata', 'pg_redeliver_event', { event_id: id })).toMatchObject({
        status: 200,
        json: { message: 'success' },
      });
      expect(await send('/v1/metadata', 'pg_redeliver_event', { event_id: id, source: 'default' })).toMatchObject({
        status: 400,
        json: { code: 'not-exists' },
      });
      const nothing = { event_id: 'c9d5c4fc-1a3c-4fb1-9a0a-2e6bd8a3a1a7' };
      for (const [path, type] of [
        ['/v1/metadata', 'pg_redeliver_event'],
        ['/v1/query', 'redeliver_event'],
      ] as const)
        expect(await send(path, type, nothing)).toMatchObject({ status: 400, json: { code: 'not-exists', error: 'event not found' } });
    } finally {
      await service.metadata('pg_drop_source', { name: 'second', cascade: true });
      await database.drop();
    }
  });

  it.each<[string, Json, JsonObject]>([
    ['bulk_atomic', [{ type: 'pg_track_table', args: 'x' }], { code: 'not-supported', path: '$.args[0].args' }],
    ['pg_set_table_customization', { table: 'author', configuration: { custom_name: 'article' } }, { code: 'unexpected' }],
    [
      'bulk',
      [
        { type: 'set_custom_types', args: { scalars: [{ name: 'author_bool_exp' }] } },
        { type: 'create_action', args: { name: 'a', definition: { handler: 'http://127.0.0.1/', output_type: 'author_bool_exp' } } },
      ],
      { code: 'unexpected', path: '$.args[0].args' },
    ],
    ['pg_create_event_trigger', { table: 'author', name: 'a', webhook: '{{NOT_SET}}', insert: { columns: '*' } }, { code: 'not-found' }],
    [
      'pg_create_event_trigger',
      { table: 'author', name: 'a', webhook_from_env: 'NOT_SET', insert: { columns: '*' } },
      { code: 'not-found' },
    ],
    [
      'create_cron_trigger',
      { name: 'a', webhook: '{{NOT_SET}}', schedule: '0 0 * * *', include_in_metadata: true },
      { code: 'invalid-configuration' },
    ],
    ['add_remote_schema', { name: 'a', definition: { url: '{{NOT_SET}}/graphql' } }, {}],
  ])('answers a mistake in %s with 400', async (type, args, json) => {
    expect(await send('/v1/metadata', type, args)).toMatchObject({ status: 400, json: { path: '$.args', ...json } });
  });

  it('answers the removal of a source that inherited roles need with 400', async () => {
    const database = await testDatabase();
    try {
      await runSql(database.url, 'create table note (id int primary key)');
      const permission = { columns: ['id'], filter: {} };
      await service.metadata('bulk', [
        { type: 'pg_add_source', args: { name: 'second', configuration: { connection_info: { database_url: database.url } } } },
        { type: 'pg_track_table', args: { source: 'second', table: 'note' } },
        { type: 'pg_create_select_permission', args: { source: 'second', table: 'note', role: 'noter', permission } },
        { type: 'pg_create_select_permission', args: { table: 'author', role: 'reader', permission } },
        { type: 'add_inherited_role', args: { role_name: 'both', role_set: ['noter', 'reader'] } },
      ]);
      expect(await send('/v1/metadata', 'pg_drop_source', { name: 'second', cascade: true })).toMatchObject({
        status: 400,
        json: { path: '$.args', internal: [{ type: 'inherited_role', reason: expect.stringContaining('not found: noter') }] },
      });
    } finally {
      await service.metadata('drop_inherited_role', { role_name: 'both' });
      await service.metadata('pg_drop_source', { name: 'second', cascade: true });
      await service.metadata('pg_drop_select_permission', { table: 'author', role: 'reader' });
      await database.drop();
    }
  });

  describe('stored queries', () => {
    const inconsistent = async (): Promise<Json> =>
      ((await service.metadata('get_inconsistent_metadata', {})) as JsonObject)['inconsistent_objects'] as Json;

    it('are dropped with their REST endpoints only by cascade', async () => {
      const endpoint = { name: 'list', url: 'list', methods: ['GET'], definition: { query: { collection_name: 'c', query_name: 'q' } } };
      await service.metadata('create_query_collection', {
        name: 'c',
        definition: { queries: [{ name: 'q', query: '{ author { id } }' }] },
      });
      await service.metadata('create_rest_endpoint', endpoint);
      for (const [type, args] of [
        ['drop_query_collection', { collection: 'c', cascade: false }],
        ['drop_query_from_collection', { collection_name: 'c', query_name: 'q' }],
      ] as const)
        expect(await send('/v1/metadata', type, args)).toMatchObject({
          status: 400,
          json: {
            path: '$.args',
            code: 'dependency-error',
            error: 'cannot drop due to the following dependent objects: REST endpoint list',
          },
        });
      await service.metadata('drop_query_collection', { collection: 'c', cascade: true });
      const { metadata } = (await service.metadata('export_metadata', {}, { version: 2 })) as { metadata: JsonObject };
      expect(metadata).not.toHaveProperty('rest_endpoints');
      expect(metadata).not.toHaveProperty('query_collections');
    });

    it('that become invalid are listed and block no other request', async () => {
      const table = { table: 'author', cascade: true };
      await service.metadata('create_query_collection', {
        name: 'c',
        definition: { queries: [{ name: 'q', query: '{ author { name } }' }] },
      });
      expect(await inconsistent()).toEqual([]);
      await service.sql('alter table author rename name to full_name');
      expect(await inconsistent()).toMatchObject([{ type: 'query_collections', name: 'query_collections q in c' }]);
      await service.sql('alter table author rename full_name to name');
      expect(await inconsistent()).toEqual([]);
      expect((await send('/v1/metadata', 'pg_untrack_table', table)).status).toBe(200);
      expect(await inconsistent()).toMatchObject([{ type: 'query_collections', name: 'query_collections q in c' }]);
      await service.metadata('drop_inconsistent_metadata', {});
      expect(await inconsistent()).toEqual([]);
      await service.metadata('pg_track_table', 'author');
      await service.metadata('drop_query_collection', { collection: 'c', cascade: true });
    });
  });
});
