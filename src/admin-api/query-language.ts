/** Operations of `/v1/query`: those that existed before there were several sources, under their old names. Each is a `pg_` operation. */
import type { Backend } from '../backend/backend.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at, type Path } from '../util/path.ts';
import { type Bulk, bulkModes, QUERY_BULK } from '../metadata-api/bulks.ts';
import type { OperationEntry } from '../metadata-api/operation.ts';
import { type OperationTable, operationKey } from './operation-table.ts';
import { DEFAULT_SOURCE_KIND } from '../metadata/source.ts';
import { setCustomFields } from '../metadata-api/operations/tables.ts';
import type { Language } from '../metadata-api/request.ts';
import { runSqlOperations } from '../sql-api/run-sql.ts';
import { dataOperations } from '../data-api/data-operations.ts';

/** Old names are those of the default kind. */
const PREFIX = `${DEFAULT_SOURCE_KIND}_`;

/** Old names that are the new ones without the prefix. */
const UNPREFIXED: readonly string[] = [
  'track_table',
  'untrack_table',
  'set_table_is_enum',
  'set_table_customization',
  'track_function',
  'untrack_function',
  'create_object_relationship',
  'create_array_relationship',
  'drop_relationship',
  'set_relationship_comment',
  'rename_relationship',
  'create_remote_relationship',
  'update_remote_relationship',
  'delete_remote_relationship',
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
  'invoke_event_trigger',
];

/** Operations that never had a prefix. */
const SAME_NAME: readonly string[] = [
  'create_query_collection',
  'drop_query_collection',
  'add_query_to_collection',
  'drop_query_from_collection',
  'add_collection_to_allowlist',
  'drop_collection_from_allowlist',
  'rename_query_collection',
  'update_scope_of_collection_in_allowlist',
  'create_action',
  'update_action',
  'drop_action',
  'create_action_permission',
  'drop_action_permission',
  'set_custom_types',
  'create_rest_endpoint',
  'drop_rest_endpoint',
  'create_cron_trigger',
  'delete_cron_trigger',
  'create_scheduled_event',
  'add_remote_schema',
  'update_remote_schema',
  'remove_remote_schema',
  'reload_remote_schema',
  'introspect_remote_schema',
  'replace_metadata',
  'export_metadata',
  'clear_metadata',
  'reload_metadata',
  'get_inconsistent_metadata',
  'drop_inconsistent_metadata',
  'dump_internal_state',
];

/** Types on `/v1/metadata` by their old names. */
export const legacyTypes: ReadonlyMap<string, string> = new Map([
  ...UNPREFIXED.map((name) => [name, PREFIX + name] as const),
  ['add_existing_table_or_view', `${PREFIX}track_table`],
  ...SAME_NAME.map((name) => [name, name] as const),
]);

export const LEGACY_BULKS: readonly Bulk[] = [QUERY_BULK];

/** Returns the operations that `/v1/metadata` does not have, by type. */
export function legacyEntries(backends: readonly Backend[]): ReadonlyMap<string, OperationEntry> {
  const own = new Map<string, OperationEntry>();
  for (const entry of dataOperations(backends)) own.set(entry.type, entry);
  for (const entry of [...runSqlOperations(backends), ...setCustomFields(backends)]) {
    if (entry.type.startsWith(PREFIX)) own.set(entry.type.slice(PREFIX.length), entry);
  }
  return own;
}

/** Keys without effect in stored requests of old clients. */
const IDLE_KEYS: readonly string[] = ['cascade', 'response', 'variables'];

/** Versions of an operation share an entry here, because the arguments show their version. */
export function legacyLanguage(table: OperationTable, backends: readonly Backend[]): Language {
  const own = legacyEntries(backends);
  return {
    bulks: bulkModes(LEGACY_BULKS),
    find: (type, version, path) => own.get(type) ?? find(table, type, version, path),
    argsInParsePath: false,
    namesOperationInErrors: false,
    idleKeys: IDLE_KEYS,
  };
}

/** @throws SvcError parse-failed */
function find(table: OperationTable, type: string, version: 1 | 2, path: Path): OperationEntry {
  const known = legacyTypes.get(type);
  const entry = known === undefined ? undefined : (table.get(operationKey(known, version)) ?? table.get(known));
  if (entry !== undefined) return entry;
  throw parseFailed(`unknown metadata command "${type}"`, at(path, 'type'));
}
