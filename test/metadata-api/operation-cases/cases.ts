/** For every operation: arguments that it takes, and two ways in which it refuses. */
import type { Json, JsonObject } from '../../../src/util/json.ts';
import { BASE, EVENT_ID, WITH_INCONSISTENT } from './base.ts';

const toSource = (type: 'object' | 'array', table: string, mapping: JsonObject): JsonObject => ({
  to_source: { relationship_type: type, source: 'default', table, field_mapping: mapping },
});

export interface Failure {
  readonly args: Json;
  readonly code: string;
  readonly path: string;
  /** Beside `type` and `args`. */
  readonly extra?: JsonObject;
  /** Who asks, where it is not an administrator. */
  readonly role?: string;
  /** The arguments are found to be wrong only when the operation runs; matters for paths on `/v1/query`. */
  readonly late?: true;
}

export interface Case {
  readonly args: Json;
  /** The metadata that it starts from, where that is not the base. */
  readonly from?: JsonObject;
  /** 2: the second argument structure. */
  readonly version?: 2;
  /** It makes a version, but the document is the same. */
  readonly keepsMetadata?: true;
  readonly fails: readonly [Failure, Failure, ...Failure[]];
}

export const failure = (args: Json, code: string, path: string): Failure => ({ args, code, path });
const stale = (args: Json): Failure => ({ args, code: 'conflict', path: '$', extra: { resource_version: 1 } });
const NO_VERSION: Failure = { args: {}, code: 'parse-failed', path: '$.resource_version', extra: { resource_version: 'x' } };
const WITH_REMOTE_SCHEMA: JsonObject = {
  ...BASE,
  remote_schemas: [{ name: 'countries', definition: { url_from_env: 'COUNTRIES_URL' } }],
};
const PEOPLE = toSource('array', 'author', { code: 'name' });
const WITH_TYPE_RELATIONSHIP: JsonObject = {
  ...BASE,
  remote_schemas: [
    {
      name: 'countries',
      definition: { url_from_env: 'COUNTRIES_URL' },
      remote_relationships: [{ type_name: 'Country', relationships: [{ name: 'people', definition: PEOPLE }] }],
    },
  ],
};
const HANDLED: JsonObject = { handler: 'http://handlers.example.org', output_type: 'Login' };
const WITH_TYPES: JsonObject = { ...BASE, custom_types: { objects: [{ name: 'Login', fields: [{ name: 'token', type: 'String!' }] }] } };
const WITH_ACTION: JsonObject = { ...WITH_TYPES, actions: [{ name: 'login', definition: HANDLED, permissions: [{ role: 'user' }] }] };
const HOOK = 'http://127.0.0.1:9/';
const TRIGGER: JsonObject = {
  name: 'tagged',
  definition: { enable_manual: true, insert: { columns: '*' } },
  webhook: HOOK,
  cleanup_config: { schedule: '0 0 * * *', clear_older_than: 1 },
};
/** @param paused of its clean-up */
const withTrigger = (paused = false): JsonObject => {
  const [source] = BASE['sources'] as [JsonObject];
  const trigger = { ...TRIGGER, cleanup_config: { ...(TRIGGER['cleanup_config'] as JsonObject), paused } };
  const tables = [...(source['tables'] as Json[]), { table: { schema: 'public', name: 'tag' }, event_triggers: [trigger] }];
  return { ...BASE, sources: [{ ...source, tables }] };
};
const COUNTRY_SCHEMA = 'type Query { country(code: ID!): String }';
const WITH_REMOTE_PERMISSION: JsonObject = {
  ...BASE,
  remote_schemas: [
    {
      name: 'countries',
      definition: { url_from_env: 'COUNTRIES_URL' },
      permissions: [{ role: 'user', definition: { schema: COUNTRY_SCHEMA } }],
    },
  ],
};
const anyColumns = { columns: ['id'], filter: {} };

/** Under every prefix of the kind. */
export const PREFIXED: Readonly<Record<string, Case>> = {
  create_event_trigger: {
    args: { name: 'written', table: 'article', webhook: HOOK, insert: { columns: '*' }, update: { columns: ['title'], payload: ['id'] } },
    from: withTrigger(),
    fails: [
      failure({ name: 'written', table: 'article', webhook: HOOK }, 'parse-failed', '$.args'),
      failure({ name: '1st', table: 'article', webhook: HOOK, enable_manual: true }, 'parse-failed', '$.args.name'),
      failure({ name: 'written', table: 'color', webhook: HOOK, insert: { columns: ['nothing'] } }, 'not-exists', '$.args'),
      failure({ name: 'written', table: 'nothing', webhook: HOOK, enable_manual: true }, 'not-exists', '$.args'),
      failure({ name: 'written', table: 'article', webhook_from_env: 'NOT_SET', enable_manual: true }, 'not-found', '$.args'),
      failure({ name: 'written', table: 'article', webhook: '{{NOT_SET}}', enable_manual: true }, 'unexpected', '$.args'),
      failure({ name: 'tagged', table: 'article', webhook: HOOK, enable_manual: true }, 'already-exists', '$.args'),
      failure({ name: 'tagged', table: 'article', webhook: HOOK, enable_manual: true, replace: true }, 'not-supported', '$.args'),
      failure({ name: 'written', table: 'article', webhook: HOOK, enable_manual: true, replace: true }, 'not-exists', '$.args'),
    ],
  },
  delete_event_trigger: {
    args: { name: 'tagged' },
    from: withTrigger(),
    fails: [failure({ name: 'other' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  invoke_event_trigger: {
    args: { name: 'tagged', payload: { id: 1 } },
    from: withTrigger(),
    fails: [
      failure({ name: 'other', payload: 1 }, 'not-exists', '$.args'),
      failure({ name: 'tagged' }, 'parse-failed', '$.args'),
      failure({ name: 'tagged', payload: 1, source: 'nothing' }, 'not-exists', '$.args'),
    ],
  },
  redeliver_event: {
    args: { event_id: EVENT_ID },
    from: withTrigger(),
    fails: [failure({ event_id: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  redeliver_events: {
    args: { name: 'tagged', status: 'processed' },
    from: withTrigger(),
    fails: [
      failure({ status: 'pending' }, 'parse-failed', '$.args.status'),
      failure({ created_from: 'yesterday at noon or so' }, 'data-exception', '$.args'),
    ],
  },
  get_event_logs: {
    args: { name: 'tagged', status: 'processed' },
    from: withTrigger(),
    fails: [
      failure({ name: 'tagged', status: 'done' }, 'parse-failed', '$.args.status'),
      failure({ name: 'tagged', source: 'nothing' }, 'not-exists', '$.args'),
    ],
  },
  get_event_invocation_logs: {
    args: { name: 'tagged', limit: 1, offset: 1 },
    from: withTrigger(),
    fails: [failure({ name: 'tagged', limit: -1 }, 'parse-failed', '$.args.limit'), failure({}, 'parse-failed', '$.args')],
  },
  get_event_by_id: {
    args: { event_id: EVENT_ID },
    from: withTrigger(),
    fails: [failure({ event_id: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  get_dead_events: {
    args: { created_from: '2024-05-01T00:00:00Z' },
    from: withTrigger(),
    fails: [
      failure({ created_before: 'never' }, 'data-exception', '$.args'),
      failure({ limit: 1_000_000 }, 'parse-failed', '$.args.limit'),
    ],
  },
  add_source: {
    args: { name: 'third', configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } } },
    fails: [
      failure(
        { name: 'default', configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } } },
        'already-exists',
        '$.args',
      ),
      failure(
        { name: 'third', configuration: { connection_info: { database_url: { from_env: 'NOT_SET' } } } },
        'invalid-configuration',
        '$.args',
      ),
      failure({ name: 'third' }, 'parse-failed', '$.args'),
    ],
  },
  update_source: {
    args: { name: 'second', customization: { root_fields: { prefix: 'other_' }, type_names: { prefix: 'other_' } } },
    fails: [
      failure({ name: 'nothing', customization: {} }, 'not-exists', '$.args'),
      failure({ name: 'second', customization: { root_fields: 1 } }, 'parse-failed', '$.args.customization.root_fields'),
    ],
  },
  drop_source: {
    args: { name: 'second' },
    fails: [failure({ name: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  track_table: {
    args: { table: 'tag' },
    fails: [
      failure({ table: 'author' }, 'already-tracked', '$.args'),
      failure({ table: 'nothing' }, 'invalid-configuration', '$.args'),
      failure({ table: 'tag', source: 'nothing' }, 'not-exists', '$.args'),
    ],
  },
  untrack_table: {
    args: { table: 'color' },
    fails: [failure({ table: 'tag' }, 'already-untracked', '$.args'), failure({ table: 'article' }, 'dependency-error', '$.args')],
  },
  track_tables: {
    args: { tables: [{ table: 'tag' }] },
    fails: [
      failure({ tables: [{ table: 'nothing' }] }, 'invalid-configuration', '$.args'),
      failure({ tables: [{ table: 'tag' }, { table: 'tag' }] }, 'bad-request', '$.args.tables'),
    ],
  },
  untrack_tables: {
    args: { tables: [{ table: 'color' }] },
    fails: [
      failure({ tables: [{ table: 'tag' }] }, 'invalid-configuration', '$.args'),
      failure({ tables: 'color' }, 'parse-failed', '$.args.tables'),
    ],
  },
  set_table_customization: {
    args: { table: 'color', configuration: { custom_name: 'colour', comment: 'what it is painted in' } },
    fails: [
      failure({ table: 'tag', configuration: {} }, 'not-exists', '$.args'),
      failure({ table: 'author', configuration: { custom_name: 'article' } }, 'unexpected', '$.args'),
    ],
  },
  set_table_is_enum: {
    args: { table: 'color', is_enum: true },
    fails: [
      failure({ table: 'author', is_enum: true }, 'invalid-configuration', '$.args'),
      failure({ table: 'color', is_enum: 'yes' }, 'parse-failed', '$.args.is_enum'),
    ],
  },
  set_ext_federation_config: {
    args: { table: 'author', ext_federation_config: { enable: 'v1' } },
    fails: [
      failure({ table: 'author', ext_federation_config: { enable: 'v9' } }, 'parse-failed', '$.args.ext_federation_config.enable'),
      failure({ table: 'tag', ext_federation_config: null }, 'not-exists', '$.args'),
    ],
  },
  track_function: {
    args: { function: 'late_articles' },
    fails: [
      failure({ function: 'search_articles' }, 'already-tracked', '$.args'),
      failure({ function: 'strip' }, 'invalid-configuration', '$.args'),
      failure({ function: 'nothing' }, 'invalid-configuration', '$.args'),
    ],
  },
  untrack_function: {
    args: { function: 'search_articles' },
    fails: [failure({ function: 'late_articles' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  set_function_customization: {
    args: { function: 'search_articles', configuration: { custom_name: 'find_articles' } },
    fails: [
      failure({ function: 'late_articles', configuration: {} }, 'not-exists', '$.args'),
      failure({ function: 'search_articles', configuration: { custom_name: 'author' } }, 'unexpected', '$.args'),
    ],
  },
  create_function_permission: {
    args: { function: 'search_articles', role: 'manager' },
    fails: [
      failure({ function: 'search_articles', role: 'user' }, 'already-exists', '$.args'),
      failure({ function: 'search_articles', role: 'editor' }, 'not-supported', '$.args'),
      failure({ function: 'late_articles', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  drop_function_permission: {
    args: { function: 'search_articles', role: 'user' },
    fails: [
      failure({ function: 'search_articles', role: 'editor' }, 'not-exists', '$.args'),
      failure({ function: 'late_articles', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  create_object_relationship: {
    args: {
      table: 'article',
      name: 'writer',
      using: { manual_configuration: { remote_table: 'author', column_mapping: { author_id: 'id' } } },
    },
    fails: [
      failure({ table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } }, 'already-exists', '$.args'),
      failure({ table: 'article', name: 'other', using: { foreign_key_constraint_on: 'title' } }, 'invalid-configuration', '$.args'),
      failure({ table: 'article', name: 'title', using: { foreign_key_constraint_on: 'author_id' } }, 'already-exists', '$.args'),
    ],
  },
  create_remote_relationship: {
    args: { table: 'author', name: 'namesakes', definition: toSource('array', 'article', { id: 'author_id' }) },
    fails: [
      failure(
        { table: 'author', name: 'articles', definition: toSource('array', 'article', { id: 'author_id' }) },
        'already-exists',
        '$.args',
      ),
      failure(
        { table: 'author', name: 'x', definition: toSource('array', 'article', { nothing: 'id' }) },
        'invalid-configuration',
        '$.args',
      ),
      failure({ table: 'author', name: 'x', definition: {} }, 'parse-failed', '$.args.definition'),
    ],
  },
  update_remote_relationship: {
    args: { table: 'color', name: 'same', definition: toSource('array', 'color', { value: 'comment' }) },
    fails: [
      failure({ table: 'color', name: 'none', definition: toSource('array', 'color', { value: 'value' }) }, 'not-exists', '$.args'),
      failure(
        { table: 'color', name: 'same', definition: toSource('array', 'none', { value: 'value' }) },
        'invalid-configuration',
        '$.args',
      ),
    ],
  },
  delete_remote_relationship: {
    args: { table: 'color', name: 'same' },
    fails: [
      failure({ table: 'color', name: 'none' }, 'not-exists', '$.args'),
      failure({ table: 'none', name: 'same' }, 'not-exists', '$.args'),
    ],
  },
  create_array_relationship: {
    args: {
      table: 'author',
      name: 'works',
      using: { manual_configuration: { remote_table: 'article', column_mapping: { id: 'author_id' } } },
    },
    fails: [
      failure(
        { table: 'author', name: 'tags', using: { foreign_key_constraint_on: { table: 'tag', column: 'article_id' } } },
        'invalid-configuration',
        '$.args',
      ),
      failure(
        { table: 'tag', name: 'x', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } },
        'not-exists',
        '$.args',
      ),
    ],
  },
  drop_relationship: {
    args: { table: 'author', relationship: 'articles' },
    fails: [
      failure({ table: 'author', relationship: 'nothing' }, 'not-exists', '$.args'),
      failure({ table: 'article', relationship: 'author' }, 'dependency-error', '$.args'),
    ],
  },
  rename_relationship: {
    args: { table: 'article', name: 'author', new_name: 'writer' },
    fails: [
      failure({ table: 'article', name: 'nothing', new_name: 'x' }, 'not-exists', '$.args'),
      failure({ table: 'article', name: 'author', new_name: 'title' }, 'already-exists', '$.args'),
    ],
  },
  set_relationship_comment: {
    args: { table: 'article', relationship: 'author', comment: 'who wrote it' },
    fails: [
      failure({ table: 'article', relationship: 'nothing', comment: null }, 'not-exists', '$.args'),
      failure({ table: 'article', relationship: 'author', comment: 1 }, 'parse-failed', '$.args.comment'),
    ],
  },
  add_computed_field: {
    args: { table: 'author', name: 'twice', definition: { function: 'author_twice' } },
    fails: [
      failure({ table: 'author', name: 'label', definition: { function: 'author_label' } }, 'already-exists', '$.args.name'),
      failure({ table: 'author', name: 'other', definition: { function: 'strip' } }, 'invalid-configuration', '$.args'),
      failure({ table: 'tag', name: 'other', definition: { function: 'author_label' } }, 'not-exists', '$.args.table'),
    ],
  },
  drop_computed_field: {
    args: { table: 'author', name: 'label', cascade: true },
    fails: [
      failure({ table: 'author', name: 'nothing' }, 'not-exists', '$.args.name'),
      failure({ table: 'author', name: 'label' }, 'dependency-error', '$.args'),
    ],
  },
  create_select_permission: {
    args: { table: 'article', role: 'editor', permission: anyColumns },
    fails: [
      failure({ table: 'article', role: 'user', permission: anyColumns }, 'already-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { columns: ['nothing'], filter: {} } }, 'invalid-configuration', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { columns: ['id'] } }, 'parse-failed', '$.args.permission'),
    ],
  },
  create_insert_permission: {
    args: { table: 'article', role: 'editor', permission: { check: { author: { id: { _eq: 'X-Svc-User-Id' } } }, columns: '*' } },
    fails: [
      failure({ table: 'article', role: 'user', permission: { check: {} } }, 'already-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { check: { nothing: { _eq: 1 } } } }, 'invalid-configuration', '$.args'),
    ],
  },
  create_update_permission: {
    args: { table: 'article', role: 'editor', permission: { columns: ['title'], filter: {}, set: { author_id: 'X-Svc-User-Id' } } },
    fails: [
      failure({ table: 'tag', role: 'editor', permission: anyColumns }, 'not-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { columns: ['nothing'], filter: {} } }, 'invalid-configuration', '$.args'),
    ],
  },
  create_delete_permission: {
    args: { table: 'article', role: 'editor', permission: { filter: { id: { _gt: 1 } } } },
    fails: [
      failure({ table: 'article', role: 'admin', permission: { filter: {} } }, 'already-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { filter: { id: { _nothing: 1 } } } }, 'invalid-configuration', '$.args'),
    ],
  },
  drop_select_permission: {
    args: { table: 'author', role: 'editor' },
    from: withoutInheritedRoles(BASE),
    fails: [
      failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'),
      failure({ table: 'nothing', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  drop_insert_permission: {
    args: { table: 'article', role: 'user' },
    fails: [
      failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'),
      failure({ table: 'article' }, 'parse-failed', '$.args'),
    ],
  },
  drop_update_permission: {
    args: { table: 'article', role: 'user' },
    fails: [
      failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'),
      failure({ role: 'user' }, 'parse-failed', '$.args'),
    ],
  },
  drop_delete_permission: {
    args: { table: 'article', role: 'user' },
    fails: [failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'), failure('article', 'parse-failed', '$.args')],
  },
  set_permission_comment: {
    args: { table: 'article', role: 'user', permission: 'select', comment: 'own articles only' },
    fails: [
      failure({ table: 'article', role: 'editor', permission: 'select', comment: null }, 'permission-denied', '$.args'),
      failure({ table: 'article', role: 'user', permission: 'drop', comment: null }, 'parse-failed', '$.args.permission'),
    ],
  },
  get_source_tables: {
    args: { source: 'default' },
    fails: [failure({ source: 'nothing' }, 'not-exists', '$.args'), failure({ source: 1 }, 'parse-failed', '$.args.source')],
  },
  get_table_info: {
    args: { source: 'default', table: 'tag' },
    fails: [failure({ source: 'nothing', table: 'tag' }, 'not-exists', '$.args'), failure({ source: 'default' }, 'parse-failed', '$.args')],
  },
  suggest_relationships: {
    args: { source: 'default', omit_tracked: false },
    fails: [failure({ source: 'nothing' }, 'not-exists', '$.args'), failure({ omit_tracked: 1 }, 'parse-failed', '$.args.omit_tracked')],
  },
};

function withoutInheritedRoles(document: JsonObject): JsonObject {
  return { ...document, inherited_roles: [] };
}

export const UNPREFIXED: Readonly<Record<string, Case>> = {
  bulk: {
    args: [
      { type: 'pg_track_table', args: { table: 'tag' } },
      { type: 'pg_track_function', args: { function: 'late_articles' } },
    ],
    fails: [
      failure(
        [
          { type: 'pg_track_table', args: { table: 'tag' } },
          { type: 'pg_track_table', args: { table: 'author' } },
        ],
        'already-tracked',
        '$.args[1].args',
      ),
      failure([{ type: 'nothing', args: {} }], 'parse-failed', '$.args[0]'),
      failure({}, 'parse-failed', '$.args'),
    ],
  },
  bulk_keep_going: {
    args: [
      { type: 'pg_track_table', args: { table: 'author' } },
      { type: 'pg_track_table', args: { table: 'tag' } },
    ],
    fails: [failure([{ args: {} }], 'parse-failed', '$.args[0]'), failure('x', 'parse-failed', '$.args')],
  },
  bulk_atomic: {
    args: [
      { type: 'pg_drop_relationship', args: { table: 'author', relationship: 'articles' } },
      {
        type: 'pg_create_array_relationship',
        args: { table: 'author', name: 'works', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } },
      },
    ],
    fails: [
      failure([{ type: 'pg_track_table', args: { table: 'tag' } }], 'unexpected', '$.args[0].args'),
      failure([{ type: 'pg_drop_relationship', args: { table: 'author', relationship: 'nothing' } }], 'not-exists', '$.args[0].args'),
    ],
  },
  rename_source: {
    args: { name: 'second', new_name: 'third' },
    fails: [
      failure({ name: 'nothing', new_name: 'third' }, 'not-exists', '$.args'),
      failure({ name: 'second', new_name: 'default' }, 'already-exists', '$.args'),
    ],
  },
  list_source_kinds: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), failure([], 'parse-failed', '$.args')] },
  export_metadata: {
    args: {},
    fails: [failure('x', 'parse-failed', '$.args'), { args: {}, extra: { version: 3 }, code: 'parse-failed', path: '$.version' }],
  },
  'export_metadata:2': { args: {}, version: 2, fails: [failure(1, 'parse-failed', '$.args'), NO_VERSION] },
  replace_metadata: {
    args: withoutInheritedRoles(BASE),
    fails: [
      { ...failure({ version: 3, sources: 1 }, 'parse-failed', '$.args.sources'), late: true },
      { ...failure({ version: 3, sources: [{ name: 'third' }] }, 'parse-failed', '$.args.sources[0]'), late: true },
      stale(BASE),
    ],
  },
  'replace_metadata:2': {
    args: { metadata: withoutInheritedRoles(BASE), allow_inconsistent_metadata: false },
    version: 2,
    fails: [
      failure({ metadata: BASE, resource_version: 1 }, 'conflict', '$'),
      failure({ metadata: WITH_INCONSISTENT }, 'unexpected', '$.args'),
    ],
  },
  reload_metadata: {
    args: { reload_sources: ['default'] },
    keepsMetadata: true,
    fails: [
      failure({ reload_sources: ['nothing'] }, 'not-exists', '$.args'),
      failure({ reload_sources: 'default' }, 'parse-failed', '$.args.reload_sources'),
    ],
  },
  clear_metadata: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), stale({})] },
  get_inconsistent_metadata: { args: {}, from: WITH_INCONSISTENT, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  drop_inconsistent_metadata: { args: {}, from: WITH_INCONSISTENT, fails: [failure('x', 'parse-failed', '$.args'), stale({})] },
  add_inherited_role: {
    args: { role_name: 'chief', role_set: ['user', 'editor'] },
    fails: [
      failure({ role_name: 'chief', role_set: ['user'] }, 'parse-failed', '$.args.role_set'),
      failure({ role_name: 'chief', role_set: ['user', 'nobody'] }, 'invalid-configuration', '$.args'),
      failure({ role_name: 'user', role_set: ['editor', 'manager'] }, 'cyclic-dependency', '$.args'),
    ],
  },
  drop_inherited_role: {
    args: { role_name: 'manager' },
    fails: [failure({ role_name: 'user' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  cleanup_event_trigger_logs: {
    args: { event_trigger_name: 'tagged', clear_older_than: 1 },
    from: withTrigger(),
    fails: [
      failure({ event_trigger_name: 'other', clear_older_than: 1 }, 'not-exists', '$.args'),
      failure({ event_trigger_name: 'tagged' }, 'parse-failed', '$.args'),
    ],
  },
  pause_event_trigger_cleanups: {
    args: { event_triggers: [{ source_name: 'default', event_triggers: ['tagged'] }] },
    from: withTrigger(),
    fails: [
      failure({ event_triggers: [{ source_name: 'nothing', event_triggers: [] }] }, 'not-exists', '$.args'),
      failure({ event_triggers: 'tagged' }, 'parse-failed', '$.args.event_triggers'),
    ],
  },
  resume_event_trigger_cleanups: {
    args: { event_triggers: { sources: '*' } },
    from: withTrigger(true),
    fails: [
      failure({ event_triggers: [{ source_name: 'default', event_triggers: ['other'] }] }, 'not-exists', '$.args'),
      failure({ event_triggers: { sources: ['nothing'] } }, 'not-exists', '$.args'),
    ],
  },
  add_remote_schema: {
    args: { name: 'countries', definition: { url_from_env: 'COUNTRIES_URL' } },
    fails: [
      failure({ name: 'countries' }, 'parse-failed', '$.args'),
      failure({ name: 'countries', definition: { url_from_env: 'NOT_SET' } }, 'not-found', '$.args'),
      failure({ name: 'countries', definition: { url: 'http://127.0.0.1:1/' } }, 'remote-schema-error', '$.args'),
      failure({ name: 'countries', definition: { url: 'nowhere' } }, 'invalid-params', '$.args'),
    ],
  },
  update_remote_schema: {
    args: { name: 'countries', definition: { url_from_env: 'COUNTRIES_URL', timeout_seconds: 5 } },
    from: WITH_REMOTE_SCHEMA,
    fails: [
      failure({ name: 'others', definition: { url_from_env: 'COUNTRIES_URL' } }, 'not-exists', '$.args'),
      failure({ name: 'countries', definition: { url: 'nowhere' } }, 'invalid-params', '$.args'),
    ],
  },
  remove_remote_schema: {
    args: { name: 'countries' },
    from: WITH_REMOTE_SCHEMA,
    fails: [failure({ name: 'others' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  reload_remote_schema: {
    args: { name: 'countries' },
    from: WITH_REMOTE_SCHEMA,
    keepsMetadata: true,
    fails: [failure({ name: 'others' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  introspect_remote_schema: {
    args: { name: 'countries' },
    from: WITH_REMOTE_SCHEMA,
    fails: [failure({ name: 'others' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  create_remote_schema_remote_relationship: {
    args: { remote_schema: 'countries', type_name: 'Country', name: 'people', definition: PEOPLE },
    from: WITH_REMOTE_SCHEMA,
    fails: [
      failure({ remote_schema: 'none', type_name: 'Country', name: 'people', definition: PEOPLE }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', type_name: 'None', name: 'people', definition: PEOPLE }, 'invalid-configuration', '$.args'),
    ],
  },
  update_remote_schema_remote_relationship: {
    args: { remote_schema: 'countries', type_name: 'Country', name: 'people', definition: toSource('object', 'author', { code: 'name' }) },
    from: WITH_TYPE_RELATIONSHIP,
    fails: [
      failure({ remote_schema: 'countries', type_name: 'Country', name: 'none', definition: PEOPLE }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', type_name: 'Country', name: 'people' }, 'parse-failed', '$.args'),
    ],
  },
  delete_remote_schema_remote_relationship: {
    args: { remote_schema: 'countries', type_name: 'Country', name: 'people' },
    from: WITH_TYPE_RELATIONSHIP,
    fails: [
      failure({ remote_schema: 'countries', type_name: 'Country', name: 'none' }, 'not-exists', '$.args'),
      failure({ remote_schema: 'none', type_name: 'Country', name: 'people' }, 'not-exists', '$.args'),
    ],
  },
  add_remote_schema_permissions: {
    args: { remote_schema: 'countries', role: 'editor', definition: { schema: COUNTRY_SCHEMA }, comment: 'all of it' },
    from: WITH_REMOTE_PERMISSION,
    fails: [
      failure({ remote_schema: 'others', role: 'editor', definition: { schema: COUNTRY_SCHEMA } }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', role: 'user', definition: { schema: COUNTRY_SCHEMA } }, 'already-exists', '$.args'),
      failure({ remote_schema: 'countries', role: 'admin', definition: { schema: COUNTRY_SCHEMA } }, 'constraint-violation', '$.args'),
      failure({ remote_schema: 'countries', role: 'editor', definition: { schema: 'type' } }, 'parse-failed', '$.args.definition.schema'),
      failure({ remote_schema: 'countries', role: 'editor', definition: { schema: 'type A' } }, 'validation-failed', '$.args'),
      failure({ remote_schema: 'countries', role: 'editor', definition: {} }, 'parse-failed', '$.args.definition'),
    ],
  },
  drop_remote_schema_permissions: {
    args: { remote_schema: 'countries', role: 'user' },
    from: WITH_REMOTE_PERMISSION,
    fails: [
      failure({ remote_schema: 'others', role: 'user' }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', role: 'editor' }, 'not-exists', '$.args'),
    ],
  },
  set_graphql_introspection_options: {
    args: { disabled_for_roles: ['user'] },
    fails: [failure({ disabled_for_roles: 'user' }, 'parse-failed', '$.args.disabled_for_roles'), failure({}, 'parse-failed', '$.args')],
  },
  set_graphql_schema_introspection_options: {
    args: { disabled_for_roles: ['editor'] },
    fails: [failure({ disabled_for_roles: [1] }, 'parse-failed', '$.args.disabled_for_roles[0]'), failure([], 'parse-failed', '$.args')],
  },
  set_api_limits: {
    args: { disabled: false, node_limit: { global: 10, per_role: {} } },
    fails: [
      failure({ node_limit: { global: 'many' } }, 'parse-failed', '$.args.node_limit.global'),
      failure({ disabled: 1 }, 'parse-failed', '$.args.disabled'),
    ],
  },
  remove_api_limits: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), stale({})] },
  create_query_collection: {
    args: { name: 'more', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } },
    fails: [
      failure({ name: 'shop', definition: { queries: [] } }, 'already-exists', '$.args.name'),
      failure({ name: 'more', definition: { queries: [{ name: 'q', query: '{ nothing }' }] } }, 'invalid-configuration', '$.args'),
      failure({ name: 'more', definition: { queries: [{ name: 'q', query: '{' }] } }, 'invalid-configuration', '$.args'),
    ],
  },
  rename_query_collection: {
    args: { name: 'spare', new_name: 'other' },
    fails: [
      failure({ name: 'nothing', new_name: 'other' }, 'not-exists', '$.args.name'),
      failure({ name: 'spare', new_name: 'shop' }, 'already-exists', '$.args.new_name'),
    ],
  },
  drop_query_collection: {
    args: { collection: 'spare', cascade: false },
    fails: [
      failure({ collection: 'nothing', cascade: true }, 'not-exists', '$.args.collection'),
      failure({ collection: 'shop', cascade: false }, 'dependency-error', '$.args'),
    ],
  },
  add_query_to_collection: {
    args: { collection_name: 'spare', query_name: 'more', query: '{ article { id } }' },
    fails: [
      failure({ collection_name: 'nothing', query_name: 'more', query: '{ article { id } }' }, 'not-exists', '$.args.collection_name'),
      failure({ collection_name: 'spare', query_name: 'names', query: '{ article { id } }' }, 'already-exists', '$.args'),
      failure({ collection_name: 'spare', query_name: 'more', query: '{ nothing { id } }' }, 'invalid-configuration', '$.args'),
    ],
  },
  drop_query_from_collection: {
    args: { collection_name: 'spare', query_name: 'names' },
    fails: [
      failure({ collection_name: 'spare', query_name: 'nothing' }, 'not-found', '$.args'),
      failure({ collection_name: 'nothing', query_name: 'names' }, 'not-exists', '$.args.collection_name'),
    ],
  },
  add_collection_to_allowlist: {
    args: { collection: 'spare' },
    fails: [
      failure({ collection: 'nothing' }, 'not-exists', '$.args.collection'),
      failure({ collection: 'spare', scope: { global: false, roles: [] } }, 'parse-failed', '$.args.scope.roles'),
    ],
  },
  update_scope_of_collection_in_allowlist: {
    args: { collection: 'shop', scope: { global: false, roles: ['user'] } },
    fails: [
      failure({ collection: 'spare', scope: { global: true } }, 'not-found', '$.args'),
      failure({ collection: 'shop' }, 'parse-failed', '$.args'),
    ],
  },
  drop_collection_from_allowlist: {
    args: { collection: 'shop' },
    fails: [failure({ collection: 'spare' }, 'not-found', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  set_custom_types: {
    args: { scalars: [{ name: 'Moment', description: 'a point in time' }] },
    fails: [
      failure({ objects: [{ name: 'A', fields: [{ name: 'a', type: 'B' }] }] }, 'invalid-configuration', '$.args'),
      failure({ scalars: [{ name: 'author' }] }, 'unexpected', '$.args'),
      failure({ scalars: {} }, 'parse-failed', '$.args.scalars'),
    ],
  },
  create_action: {
    args: { name: 'login', definition: HANDLED, comment: 'in' },
    from: WITH_TYPES,
    fails: [
      failure({ name: 'login', definition: { ...HANDLED, output_type: 'No' } }, 'invalid-configuration', '$.args'),
      failure({ name: 'insert_author', definition: HANDLED }, 'unexpected', '$.args'),
      failure({ name: 'login', definition: { output_type: 'Login' } }, 'parse-failed', '$.args.definition'),
    ],
  },
  update_action: {
    args: { name: 'login', definition: { ...HANDLED, timeout: 3 } },
    from: WITH_ACTION,
    fails: [
      failure({ name: 'logout', definition: HANDLED }, 'not-exists', '$.args'),
      failure({ name: 'login', definition: { ...HANDLED, output_type: 'No' } }, 'invalid-configuration', '$.args'),
    ],
  },
  drop_action: {
    args: { name: 'login', clear_data: false },
    from: WITH_ACTION,
    fails: [failure({ name: 'logout' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  create_action_permission: {
    args: { action: 'login', role: 'editor', comment: 'may' },
    from: WITH_ACTION,
    fails: [
      failure({ action: 'login', role: 'user' }, 'already-exists', '$.args'),
      failure({ action: 'logout', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  drop_action_permission: {
    args: { action: 'login', role: 'user' },
    from: WITH_ACTION,
    fails: [
      failure({ action: 'login', role: 'editor' }, 'not-exists', '$.args'),
      failure({ action: 'logout', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  create_rest_endpoint: {
    args: { name: 'names', url: 'names', methods: ['GET'], definition: { query: { collection_name: 'spare', query_name: 'names' } } },
    fails: [
      failure(
        { name: 'titles', url: 'x', methods: ['GET'], definition: { query: { collection_name: 'shop', query_name: 'titles' } } },
        'already-exists',
        '$.args',
      ),
      failure(
        { name: 'x', url: 'titles', methods: ['GET'], definition: { query: { collection_name: 'shop', query_name: 'titles' } } },
        'invalid-configuration',
        '$.args',
      ),
      failure(
        { name: 'x', url: 'x', methods: ['GET'], definition: { query: { collection_name: 'shop', query_name: 'nothing' } } },
        'invalid-configuration',
        '$.args',
      ),
      failure(
        { name: 'x', url: 'x', methods: [], definition: { query: { collection_name: 'shop', query_name: 'titles' } } },
        'parse-failed',
        '$.args.methods',
      ),
    ],
  },
  drop_rest_endpoint: {
    args: { name: 'titles' },
    fails: [failure({ name: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  create_cron_trigger: {
    args: { name: 'nightly', webhook: 'http://localhost/x', schedule: '0 3 * * *', include_in_metadata: true },
    fails: [
      failure(
        { name: 'hourly', webhook: 'http://localhost/x', schedule: '0 3 * * *', include_in_metadata: true },
        'already-exists',
        '$.args',
      ),
      failure(
        { name: 'x', webhook: 'http://localhost/x', schedule: '0 3 * *', include_in_metadata: true },
        'parse-failed',
        '$.args.schedule',
      ),
      failure({ name: 'x', webhook: '{{NOT_SET}}', schedule: '0 3 * * *', include_in_metadata: true }, 'invalid-configuration', '$.args'),
    ],
  },
  delete_cron_trigger: {
    args: { name: 'hourly' },
    fails: [failure({ name: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  get_cron_triggers: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  create_scheduled_event: {
    args: { webhook: 'http://localhost/x', schedule_at: '2100-01-01T00:00:00Z' },
    fails: [
      failure({ webhook: 'http://localhost/x', schedule_at: 'tomorrow' }, 'parse-failed', '$.args.schedule_at'),
      failure({ webhook: 'http://localhost/x' }, 'parse-failed', '$.args'),
    ],
  },
  delete_scheduled_event: {
    args: { type: 'one_off', event_id: 'nothing' },
    fails: [failure({ type: 'x', event_id: 'y' }, 'parse-failed', '$.args.type'), failure({ type: 'cron' }, 'parse-failed', '$.args')],
  },
  get_scheduled_events: {
    args: { type: 'cron', trigger_name: 'hourly' },
    fails: [
      failure({ type: 'cron', trigger_name: 'nothing' }, 'not-exists', '$.args'),
      failure({ type: 'cron' }, 'parse-failed', '$.args'),
      failure({ type: 'one_off', status: ['x'] }, 'parse-failed', '$.args.status[0]'),
    ],
  },
  get_scheduled_event_invocations: {
    args: { type: 'one_off' },
    fails: [
      failure({ type: 'cron', trigger_name: 'nothing' }, 'not-exists', '$.args'),
      failure({ type: 'one_off', limit: -1 }, 'parse-failed', '$.args.limit'),
    ],
  },
  add_host_to_tls_allowlist: {
    args: { host: 'new.example.org', suffix: '8443' },
    fails: [
      failure({ host: 'known.example.org' }, 'already-exists', '$.args'),
      failure({ host: 'new.example.org', permissions: ['all'] }, 'parse-failed', '$.args.permissions[0]'),
    ],
  },
  drop_host_from_tls_allowlist: {
    args: { host: 'known.example.org' },
    fails: [failure({ host: 'new.example.org' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  test_webhook_transform: {
    args: { webhook_url: 'http://localhost:1234', body: { a: 1 }, request_transform: { body: '{{ $body.a }}' } },
    fails: [
      failure({ webhook_url: '{{HOME}}', body: {}, request_transform: {} }, 'not-found', '$.args'),
      failure({ webhook_url: 'http://localhost', body: {}, request_transform: { body: '{{ $body.a }}' } }, 'validation-failed', '$.args'),
      failure(
        { webhook_url: 'http://localhost', body: {}, request_transform: { version: 3 } },
        'parse-failed',
        '$.args.request_transform.version',
      ),
    ],
  },
  get_catalog_state: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  set_catalog_state: {
    args: { type: 'console', state: { onboardingShown: true } },
    fails: [failure({ type: 'other', state: {} }, 'parse-failed', '$.args.type'), failure({ type: 'cli' }, 'parse-failed', '$.args')],
  },
  dump_internal_state: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  get_subscriptions: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
};
