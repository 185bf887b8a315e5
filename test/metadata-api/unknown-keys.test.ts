import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json } from '../../src/util/json.ts';
import { CONFIGURATION, refusal, type TestAdministration, testAdministration } from './support.ts';

const SCHEMA = `
  create table author (id serial primary key, name text, secret text);
  create table article (id serial primary key, author_id int references author(id));
  create function authors_named(session json) returns setof author language sql stable as 'select * from author';
`;

const DOCUMENT: Json = {
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'pg',
      tables: [
        {
          table: { schema: 'public', name: 'author' },
          configuration: { column_config: {}, custom_column_names: {}, custom_root_fields: {}, custom_nam: 'writer' },
          insert_permissions: [{ role: 'user', permission: { check: {}, column: ['name'] } }],
          select_permissions: [
            { role: 'other', permission: { columns: ['id'], filter: {} } },
            { role: 'user', permission: { columns: ['id'], filter: {}, limmit: 1 } },
          ],
          event_triggers: [{ name: 'changed', definition: { enable_manual: true }, webhook: 'http://a.example', retry_cnf: {} }],
        },
      ],
      functions: [{ function: { schema: 'public', name: 'authors_named' }, configuration: { session_arg: 'session' } }],
      configuration: CONFIGURATION,
      native_queries: [{ root_field_name: 'q', code: 'select 1', returns: 'm' }],
      logical_models: [{ name: 'm', fields: [] }],
    },
  ],
  inherited_roles: [
    { role_name: 'alias', role_set: ['other'] },
    { role_name: 'nobody', role_set: [] },
  ],
  api_limits: { disabled: false, depth_limt: { global: 3, per_role: {} } },
  metrics_config: { analyze_query_variables: true, analyze_response_body: false },
  odd: { a: [1.5] },
};

const load = (api: TestAdministration): Promise<Json> =>
  api.metadata('replace_metadata', { metadata: DOCUMENT, allow_inconsistent_metadata: true }, { version: 2 });

interface Record {
  readonly name: string;
  readonly reason: string;
}

async function inconsistencies(api: TestAdministration): Promise<readonly Record[]> {
  const answer = await api.metadata('get_inconsistent_metadata', {});
  const list = isJsonObject(answer) ? answer['inconsistent_objects'] : undefined;
  return isJsonArray(list) ? (list as unknown as readonly Record[]) : [];
}

describe('unknown keys of a document', () => {
  let api: TestAdministration;

  beforeAll(async () => {
    api = await testAdministration(SCHEMA);
  });
  afterAll(() => api.close());
  beforeEach(() => api.reset());

  it('are preserved, listed with their paths and exported', async () => {
    await load(api);
    expect(await api.metadata('export_metadata', {})).toMatchObject(DOCUMENT);
    const listed = await inconsistencies(api);
    for (const [name, reason] of [
      ['metrics_config metrics_config', 'the key "metrics_config" is not supported (at metrics_config)'],
      ['odd odd', /unknown key "odd": .* \(at odd\)/],
      ['depth_limt depth_limt', 'unknown key "depth_limt": did you mean "depth_limit"? (at api_limits.depth_limt)'],
      ['native_queries native_queries in source default', '(at sources.default.native_queries)'],
      ['logical_model m in source default', '(at sources.default.logical_models)'],
      [
        'custom_nam custom_nam in table author in source default',
        'did you mean "custom_name"? (at sources.default.tables.author.configuration.custom_nam)',
      ],
      ['event_trigger changed in table author in source default', 'unknown key "retry_cnf": did you mean "retry_conf"? (at retry_cnf)'],
      ['insert_permission user in table author in source default', 'unknown key "column": did you mean "columns"? (at permission.column)'],
      ['select_permission user in table author in source default', 'unknown key "limmit": did you mean "limit"? (at permission.limmit)'],
      ['function authors_named in source default', 'unknown key "session_arg": did you mean "session_argument"? (at session_arg)'],
    ] as const) {
      const found = listed.find((each) => each.name === name);
      expect(found?.reason ?? `none of ${listed.map((each) => each.name).join('; ')}`).toMatch(
        reason instanceof RegExp ? reason : new RegExp(reason.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')),
      );
    }
    expect(listed).toHaveLength(10);
  });

  it('disable a permission, because they may restrict it', async () => {
    await load(api);
    const { tables } = api.state.current().cache.sources.get('default') ?? { tables: new Map() };
    const [author] = [...tables.values()];
    expect([...author.permissions.keys()].sort()).toEqual(['alias', 'other']);
  });

  it('do not block other changes, and are removed with the object or separately', async () => {
    await load(api);
    await api.metadata('pg_track_table', 'article');
    await api.metadata('pg_drop_insert_permission', { table: 'author', role: 'user' });
    await api.metadata('pg_set_table_customization', { table: 'author', configuration: {} });
    const names = (await inconsistencies(api)).map(({ name }) => name);
    expect(names).toHaveLength(8);
    expect(names.join()).not.toMatch(/insert_permission|custom_nam/);
    await api.metadata('drop_inconsistent_metadata', {});
    expect(await inconsistencies(api)).toEqual([]);
    const left = JSON.stringify(await api.metadata('export_metadata', {}));
    expect(left).not.toMatch(/odd|native|logical|metrics|limmit|depth_limt|event_triggers|session_arg/);
    expect(left).toMatch(/"other"/);
  });

  it('are preserved with sources of unknown kinds', async () => {
    const other = (name: string, kind: string): Json => ({
      name,
      kind,
      tables: [{ table: ['A', 'B'], odd: 1 }],
      configuration: { template: '{{x}}', value: { warehouse: 1.5 } },
    });
    const metadata: Json = {
      version: 3,
      sources: [
        other('a', 'snowflake'),
        { name: 'default', kind: 'pg', tables: [{ table: { name: 'author', schema: 'public' } }], configuration: CONFIGURATION },
        other('z', 'mssql'),
      ],
    };
    expect(await refusal(api.metadata('replace_metadata', metadata))).toMatchObject({
      status: 400,
      code: 'parse-failed',
      path: '$.args.sources[0].kind',
      error: 'unknown source kind "snowflake"; expecting one of pg, dbb, dbc, dwh',
    });
    await api.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 });
    expect(await api.metadata('export_metadata', {})).toMatchObject(metadata);
    expect((await inconsistencies(api)).map(({ name, reason }) => [name, reason])).toEqual([
      ['source a', 'Inconsistent object: unknown source kind "snowflake"; expecting one of pg, dbb, dbc, dwh (at sources.a.kind)'],
      ['source z', 'Inconsistent object: unknown source kind "mssql"; expecting one of pg, dbb, dbc, dwh (at sources.z.kind)'],
    ]);
    expect([...api.state.current().cache.sources.keys()]).toEqual(['default']);
    await api.metadata('pg_track_table', 'article');
    for (const [type, args] of [
      ['pg_add_source', { name: 'a', configuration: CONFIGURATION }],
      ['pg_add_source', { name: 'a', configuration: CONFIGURATION, replace_configuration: true }],
      ['rename_source', { name: 'default', new_name: 'z' }],
    ] as const)
      expect(await refusal(api.metadata(type, args)), type).toMatchObject({ code: 'already-exists' });
    await api.metadata('pg_drop_source', { name: 'z' });
    expect((await inconsistencies(api)).map(({ name }) => name)).toEqual(['source a']);
    await api.metadata('drop_inconsistent_metadata', {});
    expect(await inconsistencies(api)).toEqual([]);
    expect([...api.state.current().metadata.sources.values()].map(({ name, tables }) => [name, tables.size])).toEqual([['default', 2]]);
    expect(api.state.current().metadata.unknownSources.size).toBe(0);
  });

  it('fail a command that does not allow inconsistencies, each with its path', async () => {
    const replace = (change: (document: { [key: string]: Json }) => void) => {
      const metadata = structuredClone({ version: 3, sources: [] }) as { [key: string]: Json };
      change(metadata);
      return refusal(api.metadata('replace_metadata', { metadata }, { version: 2 }));
    };
    const source = (more: { [key: string]: Json }): Json => [
      { name: 'default', kind: 'pg', tables: [], configuration: CONFIGURATION, ...more },
    ];
    expect(await replace((d) => (d['actionss'] = []))).toMatchObject({
      status: 400,
      code: 'parse-failed',
      path: '$.args.metadata.actionss',
      error: expect.stringContaining('unknown key "actionss": did you mean "'),
    });
    expect(await replace((d) => (d['metrics_config'] = [{ name: 'a' }]))).toMatchObject({
      code: 'not-supported',
      path: '$.args.metadata.metrics_config',
    });
    expect(await replace((d) => (d['sources'] = source({ native_queries: [{ code: '' }] })))).toMatchObject({
      code: 'not-supported',
      path: '$.args.metadata.sources[0].native_queries',
    });
    const tables: Json = [{ table: 'author', select_permissions: [{ role: 'user', permission: { columns: [], filter: {}, limmit: 1 } }] }];
    expect(await replace((d) => (d['sources'] = source({ tables })))).toMatchObject({
      code: 'parse-failed',
      path: '$.args.metadata.sources[0].tables[0].select_permissions[0].permission.limmit',
    });
    expect(await api.metadata('export_metadata', {})).toMatchObject({ sources: [{ tables: [] }] });
  });
});

describe('inherited roles of a document', () => {
  it('may have one parent or none; the operation requires two', async () => {
    const api = await testAdministration(SCHEMA);
    try {
      const permissions = [{ role: 'user', permission: { columns: ['id'], filter: { id: { _gt: 1 } } } }];
      const tables = [{ table: 'author', select_permissions: permissions }];
      const roles = [
        { role_name: 'alias', role_set: ['user'] },
        { role_name: 'nobody', role_set: [] },
      ];
      const metadata = {
        version: 3,
        sources: [{ name: 'default', kind: 'pg', tables, configuration: CONFIGURATION }],
        inherited_roles: roles,
      };
      await api.metadata('replace_metadata', metadata as unknown as Json);
      const cache = api.state.current().cache;
      const [author] = [...(cache.sources.get('default')?.tables.values() ?? [])];
      expect(author?.permissions.get('alias')).toEqual(author?.permissions.get('user'));
      expect(author?.permissions.has('nobody')).toBe(false);
      expect([...cache.roles].sort()).toEqual(['alias', 'nobody', 'user']);
      expect(await api.metadata('export_metadata', {})).toMatchObject({ inherited_roles: roles });
      for (const role of roles) {
        expect(await refusal(api.metadata('add_inherited_role', role))).toMatchObject({ code: 'parse-failed', path: '$.args.role_set' });
      }
    } finally {
      await api.close();
    }
  });
});
