/** A case for every operation of the metadata API. */
import { ACTIONS } from './action-cases.ts';
import { BASE, WITH_INCONSISTENT, withoutInheritedRoles } from './base.ts';
import { type Case, failure, NO_VERSION, stale } from './case.ts';
import { EVENT_TRIGGERS, SCHEDULES_AND_CLEANUPS } from './event-cases.ts';
import { REMOTE_SCHEMAS } from './remote-cases.ts';
import { TABLES } from './table-cases.ts';

/** Under every prefix of the kind. */
export const PREFIXED: Readonly<Record<string, Case>> = { ...TABLES, ...EVENT_TRIGGERS };

export const UNPREFIXED: Readonly<Record<string, Case>> = {
  ...REMOTE_SCHEMAS,
  ...ACTIONS,
  ...SCHEDULES_AND_CLEANUPS,
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
      failure([{ type: 'pg_track_table', args: { table: 'tag' } }], 'not-supported', '$.args[0].args'),
      failure([{ type: 'pg_drop_relationship', args: { table: 'author', relationship: 'nothing' } }], 'not-exists', '$.args[0].args'),
    ],
  },
  set_query_tags: {
    args: { source_name: 'default', format: 'sqlcommenter' },
    fails: [
      failure({ source_name: 'nothing' }, 'not-exists', '$.args'),
      failure({ source_name: 'default', format: 'x' }, 'parse-failed', '$.args.format'),
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
  'export_metadata:2': {
    args: { only: { tables: [{ table: 'author' }], sections: ['network'] } },
    version: 2,
    fails: [
      failure(1, 'parse-failed', '$.args'),
      NO_VERSION,
      failure({ only: { tables: [{ source: 'default', table: 'tag' }] } }, 'not-exists', '$.args.only.tables[0]'),
    ],
  },
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
  set_opentelemetry_config: {
    args: { status: 'disabled', data_types: ['traces'], exporter_otlp: { otlp_traces_endpoint: 'http://collector:4318/v1/traces' } },
    fails: [
      failure({ status: 'enabled', data_types: ['traces'] }, 'invalid-params', '$.args.exporter_otlp'),
      failure({ status: 'enabled', data_types: ['metrics', 'logs'] }, 'invalid-params', '$.args.exporter_otlp'),
      failure({ data_types: ['logs', 'profiles'] }, 'parse-failed', '$.args.data_types[1]'),
      failure({ status: 'on' }, 'parse-failed', '$.args.status'),
    ],
  },
  set_opentelemetry_status: { args: 'disabled', fails: [failure('on', 'parse-failed', '$.args'), failure({}, 'parse-failed', '$.args')] },
  create_query_collection: {
    args: { name: 'more', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } },
    fails: [
      failure({ name: 'shop', definition: { queries: [] } }, 'already-exists', '$.args.name'),
      failure({ name: 'more' }, 'parse-failed', '$.args'),
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
    ],
  },
  drop_query_from_collection: {
    args: { collection_name: 'spare', query_name: 'names' },
    fails: [
      failure({ collection_name: 'spare', query_name: 'nothing' }, 'not-found', '$.args'),
      failure({ collection_name: 'nothing', query_name: 'names' }, 'not-exists', '$.args.collection_name'),
    ],
  },
  push_documents: {
    args: { collection: 'web', scope: { global: true }, documents: [{ id: 'more', query: '{ article { id } }' }] },
    fails: [
      {
        ...failure(
          { collection: 'spare', documents: [{ id: 'names', query: '{ article { id } }' }] },
          'already-exists',
          '$.args.documents[0].id',
        ),
        late: true,
      },
      {
        ...failure({ collection: 'web', documents: [{ id: 'more', query: '{ nothing }' }] }, 'invalid-configuration', '$.args.documents'),
        late: true,
      },
      failure({ collection: 'web', documents: [{ id: 'more' }] }, 'parse-failed', '$.args.documents[0]'),
    ],
  },
  prune_documents: {
    args: { collection: 'spare', keep: [] },
    fails: [
      { ...failure({ collection: 'nothing', keep: [] }, 'not-exists', '$.args.collection'), late: true },
      failure({ collection: 'spare' }, 'parse-failed', '$.args'),
    ],
  },
  get_documents: {
    args: { collection: 'spare' },
    fails: [
      { ...failure({ collection: 'nothing' }, 'not-exists', '$.args.collection'), late: true },
      failure({}, 'parse-failed', '$.args'),
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
  plan_changes: {
    args: { migrations: [{ source: 'default', version: '1', sql: 'drop table article cascade' }] },
    fails: [
      failure({ migrations: [{ source: 'nowhere', version: '1', sql: 'select 1' }] }, 'not-exists', '$.args'),
      failure({ migrations: [{ source: 'default', version: 1, sql: 'select 1' }] }, 'parse-failed', '$.args.migrations[0].version'),
      failure({ metadata: { version: 3, sources: 'x' } }, 'parse-failed', '$.args.metadata.sources'),
      failure(
        { migrations: [{ source: 'default', version: '1', sql: 'drop table article; /* /* */ */ commit' }] },
        'bad-request',
        '$.args',
      ),
      failure({ migrations: [{ source: 'default', version: '1', sql: 'select 1' }], probe: 'commit; select 1' }, 'bad-request', '$.args'),
    ],
  },
  preview_changes: {
    args: { changes: [{ type: 'pg_track_table', args: { table: 'tag' } }], roles: ['user'] },
    fails: [
      failure({ changes: [{ type: 'export_metadata', args: {} }] }, 'not-supported', '$.args.changes[0].args'),
      failure({ changes: {} }, 'parse-failed', '$.args.changes'),
    ],
  },
  get_event_summary: {
    args: { since: '2024-05-01T00:00:00Z' },
    fails: [failure({ since: 'never' }, 'parse-failed', '$.args.since'), failure({ until: 'x' }, 'parse-failed', '$.args.until')],
  },
  get_overview: {
    args: { if_not: 'another' },
    fails: [failure({ if_not: 1 }, 'parse-failed', '$.args.if_not'), failure({ iff_not: 'x' }, 'parse-failed', '$.args.iff_not')],
  },
  get_role_schema: {
    args: { role: 'user', documents: ['{ article { id } }'], input_depth: 0 },
    fails: [
      failure({ documents: [] }, 'parse-failed', '$.args'),
      failure({ role: 'user', documents: Array.from({ length: 20_001 }, () => '{a}') }, 'validation-failed', '$.args.documents'),
      failure({ role: 'user', documents: ['{'] }, 'validation-failed', '$.args.documents[0]'),
      failure({ role: 'user', documents: [], input_depth: 101 }, 'parse-failed', '$.args.input_depth'),
    ],
  },
  get_schema_diagram: {
    args: { source: 'default', role: 'user' },
    fails: [failure({ source: 'nothing' }, 'not-exists', '$.args'), failure({ role: '' }, 'parse-failed', '$.args.role')],
  },
  get_subscriptions: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  get_metadata_history: {
    args: { limit: 2 },
    fails: [failure({ limit: 0 }, 'parse-failed', '$.args.limit'), failure({ before: -1 }, 'parse-failed', '$.args.before')],
  },
  get_metadata_change: {
    args: { resource_version: 2 },
    fails: [failure({ resource_version: 0 }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  get_metadata_version: {
    args: { resource_version: 2 },
    fails: [failure({ resource_version: 0 }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  clear_metadata_history: {
    args: { before: 2 },
    fails: [failure({ before: -1 }, 'parse-failed', '$.args.before'), failure({ since: 1 }, 'parse-failed', '$.args.since')],
  },
  get_connections: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  get_recent_operations: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
};
