import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { CONFIGURATION, refusal, type TestAdministration, testAdministration } from './support.ts';

const SCHEMA = `
  create table author (id serial primary key, name text);
  create table article (id serial primary key, title text, author_id int references author(id));
`;
const success = { message: 'success' };
const source = (tables: Json): Json => ({ name: 'default', kind: 'pg', tables, configuration: CONFIGURATION });

describe('operations on the whole metadata', () => {
  let api: TestAdministration;

  beforeAll(async () => {
    api = await testAdministration(SCHEMA);
  });
  afterAll(() => api.close());
  beforeEach(() => api.reset());

  it('exports the imported document', async () => {
    await api.metadata('bulk', [
      { type: 'pg_track_table', args: 'author' },
      {
        type: 'pg_create_select_permission',
        args: { table: 'author', role: 'user', permission: { columns: ['id'], filter: {} }, comment: 'c' },
      },
      { type: 'set_graphql_introspection_options', args: { disabled_for_roles: ['user'] } },
    ]);
    const document = await api.metadata('export_metadata', {});
    await api.reset();
    expect(await api.metadata('replace_metadata', document)).toEqual(success);
    expect(await api.metadata('export_metadata', {})).toEqual(document);
    expect(await api.metadata('export_metadata', {}, { version: 2 })).toEqual({
      resource_version: api.state.current().resourceVersion,
      metadata: document,
    });
  });

  it('rejects an inconsistent document, or records the inconsistencies', async () => {
    const metadata: Json = { version: 3, sources: [source([{ table: 'author' }, { table: 'nothing' }])] };
    expect(await refusal(api.metadata('replace_metadata', metadata))).toMatchObject({
      status: 400,
      path: '$.args',
      error: 'cannot continue due to inconsistent metadata',
      code: 'unexpected',
      internal: [{ name: 'table nothing in source default' }],
    });
    expect(await api.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 })).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [{ name: 'table nothing in source default', type: 'table', definition: { name: 'nothing', schema: 'public' } }],
    });
    expect(await api.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: false });
    // A whole document is responsible for all of its content, unchanged parts included.
    expect(await refusal(api.metadata('replace_metadata', metadata))).toMatchObject({
      status: 400,
      error: 'cannot continue due to inconsistent metadata',
      internal: [{ name: 'table nothing in source default' }],
    });
    expect(await api.metadata('reload_metadata', {})).toMatchObject({
      message: 'success',
      is_consistent: false,
      inconsistent_objects: [{ type: 'table' }],
    });
    expect(await api.metadata('drop_inconsistent_metadata', {})).toEqual(success);
    expect(await api.metadata('reload_metadata', {})).toEqual({ message: 'success', is_consistent: true });
  });

  it.runIf(DEEP)('drops all inconsistent objects or none', async () => {
    const hidden = { role: 'a', permission: { columns: ['nothing'], filter: {} } };
    const metadata: Json = {
      version: 3,
      sources: [
        source([{ table: 'author', select_permissions: [hidden, { ...hidden, role: 'b', permission: { columns: ['id'], filter: {} } }] }]),
      ],
      inherited_roles: [{ role_name: 'both', role_set: ['a', 'b'] }],
    };
    await api.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: true });
    const before = await api.metadata('export_metadata', {}, { version: 2 });
    // Without its permission the role `a` does not exist, so that another object becomes inconsistent.
    expect(await refusal(api.metadata('drop_inconsistent_metadata', {}))).toMatchObject({
      status: 400,
      code: 'unexpected',
      internal: [{ name: 'inherited_role inherited role both', type: 'inherited_role' }],
    });
    expect(await api.metadata('export_metadata', {}, { version: 2 })).toEqual(before);
    const kept = await api.metadata('bulk_keep_going', [{ type: 'drop_inconsistent_metadata', args: {} }]);
    expect(kept).toMatchObject([{ code: 'unexpected' }]);
    expect(await api.metadata('export_metadata', {})).toEqual((before as { metadata: Json }).metadata);
  });

  it('reports the path of errors inside the document', async () => {
    expect(
      await refusal(api.metadata('replace_metadata', { metadata: { version: 3, sources: [{ name: 'default', kind: 'pg', tables: {} }] } })),
    ).toMatchObject({
      path: '$.args.metadata.sources[0].tables',
      code: 'parse-failed',
    });
  });

  it('accepts documents of versions before sources existed', async () => {
    const document: Json = {
      tables: [
        { table: 'author' },
        { table: 'article', object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }] },
      ],
    };
    expect(await api.metadata('replace_metadata', document)).toEqual(success);
    expect(api.state.current().cache.sources.get('default')?.tables.size).toBe(2);
    expect(await api.queryV1({ type: 'replace_metadata', args: { tables: [] } })).toEqual(success);
    expect(api.state.current().cache.sources.get('default')?.tables.size).toBe(0);
  });

  it('checks the resource version in the request and beside the document', async () => {
    const metadata = await api.metadata('export_metadata', {});
    expect(await refusal(api.metadata('replace_metadata', { metadata, resource_version: 0 }, { version: 2 }))).toMatchObject({
      status: 409,
      code: 'conflict',
      path: '$',
    });
    expect(await refusal(api.metadata('replace_metadata', { metadata }, { version: 2, resource_version: 0 }))).toMatchObject({
      status: 409,
      path: '$',
    });
  });

  it('reloads only existing objects by name', async () => {
    const before = api.state.current().resourceVersion;
    expect(await api.metadata('reload_metadata', { reload_sources: ['default'] })).toMatchObject(success);
    expect(api.state.current().resourceVersion).toBe(before + 1);
    expect(await refusal(api.metadata('reload_metadata', { reload_sources: ['other'] }))).toMatchObject({
      path: '$.args',
      error: 'Source with name "other" not found in metadata',
      code: 'not-exists',
    });
    expect(await refusal(api.metadata('reload_metadata', { reload_remote_schemas: ['r'] }))).toMatchObject({
      error: 'Remote schema with name "r" not found in metadata',
    });
  });

  it('creates and drops inherited roles', async () => {
    const permission = (role: string): Json => ({
      type: 'pg_create_select_permission',
      args: { table: 'author', role, permission: { columns: '*', filter: {} } },
    });
    await api.metadata('bulk', [{ type: 'pg_track_table', args: 'author' }, permission('a'), permission('b')]);
    expect(await api.metadata('add_inherited_role', { role_name: 'both', role_set: ['a', 'b'] })).toEqual(success);
    expect(await refusal(api.metadata('add_inherited_role', { role_name: 'lost', role_set: ['a', 'x'] }))).toMatchObject({
      path: '$.args',
      code: 'invalid-configuration',
      error: expect.stringContaining('the following parent role(s) are not found: x which are required'),
    });
    expect(await refusal(api.metadata('add_inherited_role', { role_name: 'own', role_set: ['own', 'a'] }))).toMatchObject({
      code: 'invalid-params',
    });
    expect(await api.metadata('drop_inherited_role', { role_name: 'both' })).toEqual(success);
    expect(await refusal(api.metadata('drop_inherited_role', { role_name: 'both' }))).toMatchObject({
      error: `"both" inherited role doesn't exist`,
      code: 'not-exists',
    });
  });
});

describe('sources', () => {
  let api: TestAdministration;

  beforeAll(async () => {
    api = await testAdministration(
      `${SCHEMA} comment on column author.name is 'their name'; create view titles as select title from article;`,
    );
  });
  afterAll(() => api.close());
  beforeEach(() => api.reset());

  it('can be added, updated, renamed and dropped', async () => {
    const add = { name: 'default', configuration: CONFIGURATION };
    expect(await refusal(api.metadata('pg_add_source', add))).toEqual({
      status: 400,
      path: '$.args',
      error: 'source with name "default" already exists',
      code: 'already-exists',
    });
    await api.metadata('pg_track_table', 'author');
    expect(
      await api.metadata('pg_add_source', { ...add, replace_configuration: true, customization: { root_fields: { prefix: 'p_' } } }),
    ).toEqual(success);
    expect(await api.metadata('pg_update_source', { name: 'default', customization: { type_names: { prefix: 'T_' } } })).toEqual(success);
    expect(await refusal(api.metadata('pg_update_source', { name: 'other' }))).toMatchObject({
      error: 'source with name "other" does not exist',
      code: 'not-exists',
    });
    expect(await api.metadata('rename_source', { name: 'default', new_name: 'shop' })).toEqual(success);
    expect(await api.metadata('export_metadata', {})).toMatchObject({
      sources: [{ name: 'shop', kind: 'pg', tables: [{ table: { name: 'author' } }], customization: { type_names: { prefix: 'T_' } } }],
    });
    expect(await refusal(api.metadata('rename_source', { name: 'default', new_name: 'shop' }))).toMatchObject({
      error: 'Could not find source with name "default"',
    });
    expect(await api.metadata('pg_drop_source', { name: 'shop' })).toEqual(success);
    expect(await refusal(api.metadata('pg_drop_source', { name: 'shop' }))).toMatchObject({
      error: 'source with name "shop" does not exist',
      code: 'not-exists',
    });
  });

  it.runIf(DEEP)('are rejected if they cannot be reached', async () => {
    const configuration: Json = { connection_info: { database_url: 'postgres://nobody@127.0.0.1:1/none' } };
    expect(await refusal(api.metadata('pg_add_source', { name: 'far', configuration }))).toMatchObject({
      path: '$.args',
      code: 'invalid-configuration',
      error: 'Inconsistent object: connection error',
      internal: [{ name: 'source far', type: 'source', definition: 'far' }],
    });
    expect(api.state.current().metadata.sources.has('far')).toBe(false);
  });

  it.runIf(DEEP)('can be renamed while they or their objects are inconsistent, and nothing breaks', async () => {
    const far: Json = { connection_info: { database_url: 'postgres://nobody@127.0.0.1:1/none' } };
    const hidden = { role: 'a', permission: { columns: ['nothing'], filter: {} } };
    const article = {
      table: 'article',
      object_relationships: [{ name: 'lost', using: { foreign_key_constraint_on: 'nothing' } }],
      select_permissions: [hidden],
    };
    const metadata = {
      version: 3,
      sources: [
        { name: 'default', kind: 'pg', configuration: CONFIGURATION, tables: [{ table: 'nothing' }, article] },
        { name: 'far', kind: 'pg', configuration: far, tables: [{ table: 'author' }] },
      ],
      inherited_roles: [{ role_name: 'both', role_set: ['a', 'b'] }],
    };
    await api.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: true });
    const names = async () =>
      ((await api.metadata('get_inconsistent_metadata', {})) as { inconsistent_objects: { name: string }[] }).inconsistent_objects.map(
        ({ name }) => name,
      );
    const before = await names();
    expect(before.length).toBeGreaterThanOrEqual(4);
    expect(await api.metadata('rename_source', { name: 'default', new_name: 'near' })).toEqual(success);
    expect(await api.metadata('rename_source', { name: 'far', new_name: 'away' })).toEqual(success);
    expect(await names()).toEqual(before.map((name) => name.replace('source default', 'source near').replace('source far', 'source away')));
    // A rename does not hide what another edit of the same request breaks.
    const broken = { type: 'pg_track_table', args: { source: 'default', table: 'no_more' } };
    expect(
      await refusal(api.metadata('bulk', [{ type: 'rename_source', args: { name: 'near', new_name: 'default' } }, broken])),
    ).toMatchObject({
      path: '$.args[1].args',
      error: 'Inconsistent object: no such table/view exists in source: "no_more"',
    });
    expect((await api.metadata('export_metadata', {})) as object).toMatchObject({ sources: [{ name: 'away' }, { name: 'near' }] });
  });

  it('list the tables in the database', async () => {
    expect(await api.metadata('pg_get_source_tables', {})).toEqual(
      ['article', 'author', 'titles'].map((name) => ({ name, schema: 'public' })),
    );
    expect(await api.metadata('pg_get_table_info', { table: 'author' })).toEqual({
      name: { name: 'author', schema: 'public' },
      type: 'table',
      columns: [
        { name: 'id', type: 'int4', nullable: false, insertable: true, updatable: true },
        { name: 'name', type: 'text', nullable: true, insertable: true, updatable: true, description: 'their name' },
      ],
      primary_key: ['id'],
      foreign_keys: {},
      insertable: true,
      updatable: true,
      deletable: true,
    });
    expect(await api.metadata('pg_get_table_info', { table: 'article' })).toMatchObject({
      foreign_keys: {
        article_author_id_fkey: { foreign_table: { name: 'author', schema: 'public' }, column_mapping: { author_id: 'id' } },
      },
    });
    expect(await api.metadata('pg_get_table_info', { table: 'nothing' })).toBe(null);
    expect(await api.metadata('list_source_kinds', {})).toEqual({
      sources: ['pg', 'dbb', 'dbc', 'dwh'].map((kind) => ({ kind, display_name: kind, builtin: true, available: true })),
    });
  });

  it('suggest relationships in both directions, without existing ones', async () => {
    await api.metadata('bulk', [
      { type: 'pg_track_table', args: 'author' },
      { type: 'pg_track_table', args: 'article' },
    ]);
    const article = { table: { name: 'article', schema: 'public' }, columns: ['author_id'], constraint_name: 'article_author_id_fkey' };
    const author = { table: { name: 'author', schema: 'public' }, columns: ['id'] };
    expect(await api.metadata('pg_suggest_relationships', {})).toEqual({
      relationships: [
        { type: 'object', from: article, to: author },
        { type: 'array', from: author, to: article },
      ],
    });
    // Either end is enough, and a table without foreign keys has none.
    for (const [tables, expected] of [
      [['author'], 2],
      [['article'], 2],
      [['nothing'], 0],
      [[], 0],
    ] as const) {
      const { relationships } = (await api.metadata('pg_suggest_relationships', { tables })) as { relationships: unknown[] };
      expect(relationships).toHaveLength(expected);
    }
    await api.metadata('pg_create_object_relationship', {
      table: 'article',
      name: 'author',
      using: { foreign_key_constraint_on: 'author_id' },
    });
    expect(await api.metadata('pg_suggest_relationships', { omit_tracked: true })).toEqual({
      relationships: [{ type: 'array', from: author, to: article }],
    });
  });

  it.runIf(DEEP)('suggest relationships of named untracked tables, to these and to tracked ones', async () => {
    await api.metadata('pg_track_table', 'author');
    const suggested = async (tables: readonly string[]): Promise<readonly string[]> => {
      const { relationships } = (await api.metadata('pg_suggest_relationships', { tables })) as {
        relationships: { from: { table: { name: string } }; to: { table: { name: string } } }[];
      };
      return relationships.map(({ from, to }) => `${from.table.name} to ${to.table.name}`);
    };
    expect(await suggested(['author'])).toEqual([]);
    expect(await suggested(['article'])).toEqual(['article to author', 'author to article']);
    expect(await suggested(['article', 'nothing'])).toEqual(['article to author', 'author to article']);
    expect(await api.metadata('pg_suggest_relationships', {})).toEqual({ relationships: [] });
  });
});
