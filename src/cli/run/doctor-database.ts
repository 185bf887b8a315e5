/** What `svc doctor` looks for in a PostgreSQL source: one statement that reads its catalog. */
import { captureName } from '../../backend/capture-names.ts';
import { CAPTURED_OPERATIONS } from '../../metadata/event-trigger.ts';
import { scanSql } from '../../project/migrations/scan-sql.ts';
import type { Migration } from '../../project/migrations/migration-files.ts';
import { eachObject } from '../../project/lint.ts';
import type { ServerClient, SqlSource } from '../../project/server-client.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../util/json.ts';
import { pgText } from '../../project/migrations/book.ts';

export interface Finding {
  readonly id: string;
  readonly severity: 'error' | 'warning';
  readonly cause: string;
  readonly remedy: string;
}

export type Add = (id: string, severity: Finding['severity'], cause: string, remedy: string) => void;

/** Of each list at most so many are told. */
const MOST = 20;
/** s between the clock of the database and that of this machine. */
const CLOCKS_APART = 60;
/** Connections that an instance opens where the source does not say. */
const DEFAULT_POOL = 50;

const PRIVILEGES = [
  ['select_permissions', 'select'],
  ['insert_permissions', 'insert'],
  ['update_permissions', 'update'],
  ['delete_permissions', 'delete'],
] as const;

interface Needed {
  readonly schema: string;
  readonly name: string;
  readonly privilege: string;
}

/**
 * @param entry of the source in the metadata of the service
 * @param migrations of the project
 * @throws ProjectFailure when the database cannot be asked
 */
export async function checkDatabase(
  server: ServerClient,
  source: SqlSource & { readonly entry: JsonObject },
  migrations: readonly Migration[],
  add: Add,
): Promise<void> {
  const found = await read(server, source, neededPrivileges(source.entry), extensionsOf(migrations));
  const list = (key: string): readonly string[] => (isJsonArray(found[key]) ? found[key].map(String) : []);
  const at = source.name;
  for (const name of list('old_triggers'))
    add(
      'old-trigger',
      'warning',
      `${at} still has the trigger ${name} of another service: changes are captured twice`,
      'svc import --cutover tells when to drop it',
    );
  for (const name of list('old_session'))
    add(
      'old-session-names',
      'warning',
      `${at}: the function ${name} reads session variables of another service`,
      'set SVC_GRAPHQL_SESSION_PREFIX_ALIASES=x-hasura- of the service, or write it anew',
    );
  for (const name of list('no_key'))
    add(
      'no-primary-key',
      'warning',
      `${at}: the table ${name} has no primary key`,
      'give it one: fields by key, streams and upserts need it',
    );
  for (const each of list('missing_privileges'))
    add('privilege', 'error', `${at}: the role ${String(found['role'])} may not ${each}`, `grant it to ${String(found['role'])}`);
  for (const name of list('missing_extensions'))
    add(
      'extension',
      'error',
      `${at}: migrations create the extension ${name}, which the server does not have`,
      'install it on the server of the database',
    );
  const own = new Set(triggersOf(source.entry));
  for (const name of list('captures').filter((each) => !own.has(each)))
    add(
      'left-trigger',
      'warning',
      `${at} has the trigger ${name} of an event trigger that is gone`,
      'svc metadata reload --recreate-event-triggers',
    );
  if (found['may_create'] === false && (migrations.length > 0 || own.size > 0))
    add(
      'privilege',
      'error',
      `${at}: the role ${String(found['role'])} may not create a schema: migrations and event triggers need svc_catalog`,
      `grant create on the database to ${String(found['role'])}, or create the schema svc_catalog and grant all on it`,
    );
  const [pool, most] = [poolOf(source.entry), Number(found['max_connections'])];
  if (pool > most)
    add(
      'connections',
      'warning',
      `${at}: an instance of the service may open ${pool} connections, the database allows ${most} in all`,
      'lower max_connections of pool_settings, or raise it in the database; each instance counts',
    );
  const apart = Math.abs(Number(found['clock']) - Date.now() / 1000);
  if (apart > CLOCKS_APART)
    add(
      'clock',
      'warning',
      `${at}: its clock and that of this machine are ${Math.round(apart)} s apart`,
      'set the clocks: tokens expire by them',
    );
}

async function read(
  server: ServerClient,
  source: SqlSource,
  needed: readonly Needed[],
  extensions: readonly string[],
): Promise<JsonObject> {
  const listed = (sql: string): string => `(select coalesce(json_agg(x), '[]') from (${sql} order by 1 limit ${MOST}) as found (x))`;
  const values = needed.map(({ schema, name, privilege }) => `(${[schema, name, privilege].map(pgText).join(', ')})`).join(', ');
  const privileges =
    needed.length === 0
      ? `'[]'::json`
      : listed(`select privilege || ' ' || c.oid::regclass::text from (values ${values}) as needed (schema, name, privilege)
          join pg_namespace n on n.nspname = needed.schema join pg_class c on c.relnamespace = n.oid and c.relname = needed.name
          where c.relkind in ('r', 'p', 'v', 'm', 'f') and not has_table_privilege(current_user, c.oid, privilege)
            and case when privilege in ('select', 'insert', 'update') then not has_any_column_privilege(current_user, c.oid, privilege) else true end`);
  const ours = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc_catalog', 'hdb_catalog')`;
  const sql = `select json_build_object(
    'role', current_user,
    'max_connections', current_setting('max_connections'),
    'clock', extract(epoch from clock_timestamp()),
    'may_create', has_database_privilege(current_database(), 'create') or to_regnamespace('svc_catalog') is not null,
    'missing_privileges', ${privileges},
    'missing_extensions', ${listed(`select name from unnest(array[${extensions.map(pgText).join(', ')}]::text[]) as wanted (name) where not exists (select from pg_available_extensions a where a.name = wanted.name)`)},
    'captures', ${listed(`select distinct t.tgname::text from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'svc_catalog' and not t.tgisinternal`)},
    'old_triggers', ${listed(`select distinct tgname::text from pg_trigger where tgname like 'notify\\_hasura\\_%'`)},
    'old_session', ${listed(`select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${ours} and (prosrc ilike '%x-hasura-%' or prosrc ilike '%hasura.user%')`)},
    'no_key', ${listed(`select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and ${ours} and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`)}
  )`;
  const answer = await server.sql(source, sql, { read_only: true });
  const cell = parseJson(answer.rows[1]?.[0] ?? '{}');
  return isJsonObject(cell) ? cell : {};
}

/** What the service does with tables of the metadata, and needs privileges for. */
function neededPrivileges(entry: JsonObject): readonly Needed[] {
  const needed: Needed[] = [];
  eachObject(entry['tables'], [], (table) => {
    const { schema, name } = qualified(table['table']);
    if (name === '') return;
    needed.push({ schema, name, privilege: 'select' });
    for (const [key, privilege] of PRIVILEGES)
      if (privilege !== 'select' && isJsonArray(table[key]) && table[key].length > 0) needed.push({ schema, name, privilege });
    if (isJsonArray(table['event_triggers']) && table['event_triggers'].length > 0) needed.push({ schema, name, privilege: 'trigger' });
  });
  return needed;
}

function qualified(table: Json | undefined): { readonly schema: string; readonly name: string } {
  if (typeof table === 'string') return { schema: 'public', name: table };
  if (!isJsonObject(table)) return { schema: '', name: '' };
  return { schema: typeof table['schema'] === 'string' ? table['schema'] : 'public', name: String(table['name'] ?? '') };
}

/** Names of the triggers of the database that event triggers have, as long as it keeps them. */
function triggersOf(entry: JsonObject): readonly string[] {
  const names: string[] = [];
  eachObject(entry['tables'], [], (table) =>
    eachObject(table['event_triggers'], [], ({ name }) => {
      for (const operation of CAPTURED_OPERATIONS)
        names.push(
          Buffer.from(captureName(String(name), operation))
            .subarray(0, 63)
            .toString('utf8'),
        );
    }),
  );
  return names;
}

function extensionsOf(migrations: readonly Migration[]): readonly string[] {
  const names = migrations.flatMap(({ up }) =>
    scanSql(up ?? '').statements.flatMap(({ text, words }) => {
      if (words[0] !== 'create' || words[1] !== 'extension') return [];
      const name = /\bextension\s+(?:if\s+not\s+exists\s+)?(?:"([^"]+)"|([\w-]+))/i.exec(text);
      return name === null ? [] : [name[1] ?? (name[2] as string).toLowerCase()];
    }),
  );
  return [...new Set(names)];
}

function poolOf(entry: JsonObject): number {
  const inside = (json: Json | undefined, key: string): Json | undefined => (isJsonObject(json) ? json[key] : undefined);
  const settings = inside(inside(entry['configuration'], 'connection_info'), 'pool_settings');
  const most = inside(settings, 'max_connections');
  return typeof most === 'number' ? most : DEFAULT_POOL;
}
