/** Every operation type of the interface, with prefixes expanded: of `/v1/metadata`, `/v1/query` and `/v2/query`. */

const RELATIONAL = ['pg', 'dbb'];
const TRACKING = ['pg', 'dbb', 'dwh'];

const EVENT_TRIGGERS = ['create_event_trigger', 'delete_event_trigger', 'redeliver_event', 'invoke_event_trigger'];

/** Kinds of operations with a prefix. */
const PREFIXED: readonly { readonly prefixes: readonly string[]; readonly names: readonly string[] }[] = [
  { prefixes: TRACKING, names: ['add_source', 'drop_source', 'update_source'] },
  { prefixes: TRACKING, names: ['track_table', 'untrack_table', 'set_table_customization', 'set_ext_federation_config'] },
  {
    prefixes: ['pg'],
    names: [
      'set_table_is_enum',
      'track_function',
      'untrack_function',
      'set_function_customization',
      'create_function_permission',
      'drop_function_permission',
    ],
  },
  {
    prefixes: RELATIONAL,
    names: [
      'create_object_relationship',
      'create_array_relationship',
      'drop_relationship',
      'rename_relationship',
      'set_relationship_comment',
      ...['insert', 'select', 'update', 'delete'].flatMap((kind) => [`create_${kind}_permission`, `drop_${kind}_permission`]),
      'set_permission_comment',
    ],
  },
  { prefixes: ['pg', 'dwh'], names: ['add_computed_field', 'drop_computed_field'] },
  { prefixes: RELATIONAL, names: EVENT_TRIGGERS },
  {
    prefixes: ['pg', 'dbb', 'dbc', 'dwh'],
    names: ['create_remote_relationship', 'update_remote_relationship', 'delete_remote_relationship'],
  },
];

const UNPREFIXED: readonly { readonly names: readonly string[] }[] = [
  {
    names: [
      'bulk',
      'rename_source',
      'export_metadata',
      'replace_metadata',
      'reload_metadata',
      'clear_metadata',
      'get_inconsistent_metadata',
      'drop_inconsistent_metadata',
    ],
  },
  {
    names: ['cleanup_event_trigger_logs', 'resume_event_trigger_cleanups', 'pause_event_trigger_cleanups'],
  },
  {
    names: [
      'create_cron_trigger',
      'delete_cron_trigger',
      'get_cron_triggers',
      'get_scheduled_events',
      'get_scheduled_event_invocations',
      'create_scheduled_event',
      'delete_scheduled_event',
    ],
  },
  {
    names: [
      'add_remote_schema',
      'update_remote_schema',
      'remove_remote_schema',
      'reload_remote_schema',
      'create_remote_schema_remote_relationship',
      'update_remote_schema_remote_relationship',
      'delete_remote_schema_remote_relationship',
      'add_remote_schema_permissions',
      'drop_remote_schema_permissions',
      'create_query_collection',
      'rename_query_collection',
      'drop_query_collection',
      'add_query_to_collection',
      'drop_query_from_collection',
      'add_collection_to_allowlist',
      'drop_collection_from_allowlist',
      'create_rest_endpoint',
      'drop_rest_endpoint',
      'add_inherited_role',
      'drop_inherited_role',
      'set_graphql_introspection_options',
      'add_host_to_tls_allowlist',
      'drop_host_from_tls_allowlist',
    ],
  },
  {
    names: ['set_custom_types', 'create_action', 'drop_action', 'update_action', 'create_action_permission', 'drop_action_permission'],
  },
];

export type Endpoint = '/v1/metadata' | '/v1/query' | '/v2/query';

const METADATA: readonly string[] = [
  ...PREFIXED.flatMap(({ prefixes, names }) => prefixes.flatMap((prefix) => names.map((name) => `${prefix}_${name}`))),
  ...UNPREFIXED.flatMap(({ names }) => names),
];

const DATA: readonly string[] = ['select', 'insert', 'update', 'delete', 'count'];

const LEGACY: readonly { readonly names: readonly string[] }[] = [
  {
    names: [
      ...['bulk', 'run_sql', ...DATA],
      ...['add_existing_table_or_view', 'track_table', 'untrack_table', 'set_table_is_enum'],
      ...['set_table_customization', 'set_table_custom_fields', 'track_function', 'untrack_function'],
      ...[
        'create_object_relationship',
        'create_array_relationship',
        'drop_relationship',
        'rename_relationship',
        'set_relationship_comment',
      ],
      ...['add_computed_field', 'drop_computed_field'],
      ...['insert', 'select', 'update', 'delete'].flatMap((kind) => [`create_${kind}_permission`, `drop_${kind}_permission`]),
      'set_permission_comment',
      ...['create_query_collection', 'rename_query_collection', 'drop_query_collection'],
      ...['add_query_to_collection', 'drop_query_from_collection'],
      ...['add_collection_to_allowlist', 'update_scope_of_collection_in_allowlist', 'drop_collection_from_allowlist'],
      ...['create_rest_endpoint', 'drop_rest_endpoint'],
      ...['add_remote_schema', 'update_remote_schema', 'remove_remote_schema', 'reload_remote_schema', 'introspect_remote_schema'],
      ...['replace_metadata', 'export_metadata', 'clear_metadata', 'reload_metadata'],
      ...['get_inconsistent_metadata', 'drop_inconsistent_metadata', 'dump_internal_state'],
      ...['create_remote_relationship', 'update_remote_relationship', 'delete_remote_relationship'],
    ],
  },
  { names: ['create_event_trigger', 'delete_event_trigger', 'redeliver_event', 'invoke_event_trigger'] },
  { names: ['create_cron_trigger', 'delete_cron_trigger', 'create_scheduled_event'] },
  {
    names: ['set_custom_types', 'create_action', 'drop_action', 'update_action', 'create_action_permission', 'drop_action_permission'],
  },
];

const SCHEMA: readonly { readonly names: readonly string[] }[] = [
  { names: ['run_sql', 'pg_run_sql', 'dbb_run_sql', 'dbc_run_sql', 'dwh_run_sql', 'bulk', 'concurrent_bulk', ...DATA] },
];

export const SPECIFIED: Readonly<Record<Endpoint, readonly string[]>> = {
  '/v1/metadata': METADATA,
  '/v1/query': LEGACY.flatMap(({ names }) => names),
  '/v2/query': SCHEMA.flatMap(({ names }) => names),
};
