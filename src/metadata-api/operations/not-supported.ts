/**
 * Operation types of kinds of databases that are not part of the service. They answer `not-supported`, which tells a client that
 * it asked for the right thing.
 */

/** Prefixes of the interface and the kinds they mean, whether the service has the kind or not. */
export const KNOWN_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['pg', 'pg'],
  ['postgres', 'pg'],
  ['dbb', 'dbb'],
  ['dwh', 'dwh'],
  ['dbc', 'dbc'],
]);

/** Operations of kinds that are not part of the service; for kinds that are, the table is complete. */
const OF_ABSENT_KINDS: ReadonlySet<string> = new Set([
  'add_source',
  'update_source',
  'drop_source',
  'get_source_tables',
  'get_table_info',
  'suggest_relationships',
  'create_remote_relationship',
  'update_remote_relationship',
  'delete_remote_relationship',
  'track_table',
  'untrack_table',
  'track_tables',
  'untrack_tables',
  'set_table_customization',
  'set_ext_federation_config',
  'track_function',
  'untrack_function',
  'set_function_customization',
  'create_function_permission',
  'drop_function_permission',
  'create_object_relationship',
  'create_array_relationship',
  'drop_relationship',
  'rename_relationship',
  'set_relationship_comment',
  'add_computed_field',
  'drop_computed_field',
  'create_insert_permission',
  'create_select_permission',
  'create_update_permission',
  'create_delete_permission',
  'drop_insert_permission',
  'drop_select_permission',
  'drop_update_permission',
  'drop_delete_permission',
  'set_permission_comment',
  'create_event_trigger',
  'delete_event_trigger',
  'redeliver_event',
  'redeliver_events',
  'invoke_event_trigger',
  'get_event_logs',
  'get_event_invocation_logs',
  'get_event_by_id',
  'get_dead_events',
]);

/** `run_sql` of a kind that is not part of the service. */
export function isAwaitedSql(type: string): boolean {
  const [prefix = '', ...name] = type.split('_');
  const kind = KNOWN_PREFIXES.get(prefix);
  return kind !== undefined && kind !== 'pg' && name.join('_') === 'run_sql';
}

export function isAwaited(type: string): boolean {
  const cut = type.indexOf('_');
  const kind = KNOWN_PREFIXES.get(type.slice(0, cut));
  if (kind === undefined) return false;
  const name = type.slice(cut + 1);
  return kind !== 'pg' && OF_ABSENT_KINDS.has(name);
}
