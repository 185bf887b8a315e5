import { captureName } from '../../backend/capture-names.ts';
import type { DiagnosedSource, Diagnostics, Finding, InspectedSource } from '../../backend/diagnostics.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';
import { CAPTURED_OPERATIONS } from '../../metadata/event-trigger.ts';
import { qualifiedName } from '../../metadata/table-name.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, objectsIn, parseJson } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { withoutComments } from '../../model/split-statements.ts';
import { dialect } from './compile/dialect.ts';
import { migrations as migrationDialect } from './migrations/index.ts';

/** Maximum number of findings of one list. */
const MOST = 20;
/** Difference between the clocks of the database and of this machine, in seconds, from which on it is a finding. */
const MAX_CLOCK_DIFFERENCE = 60;
/** Connections that an instance opens by default. */
const DEFAULT_POOL = 50;

interface Needed extends QualifiedName {
  readonly privilege: string;
}

/** Returns findings of one statement that reads the catalog. */
async function inspect(source: InspectedSource): Promise<readonly Finding[]> {
  const { name: at, entry, query, migrations } = source;
  const found = await read(query, neededPrivileges(entry), extensionsOf(migrations));
  const own = new Set(triggersOf(entry));
  const left = await withoutOtherSources(
    source,
    listed(found, 'captures').filter((each) => !own.has(each)),
  );
  return [
    ...inspectObjects(at, found),
    ...left.map((name) =>
      finding(
        'left-trigger',
        'warning',
        `${at} has the trigger ${name} of an event trigger that no longer exists`,
        'run svc metadata reload --recreate-event-triggers',
      ),
    ),
    ...inspectPrivileges(at, found, migrations.length > 0 || own.size > 0),
    ...inspectServer(at, found, poolOf(entry)),
  ];
}

function finding(id: string, severity: Finding['severity'], cause: string, remedy: string): Finding {
  return { id, severity, cause, remedy };
}

function listed(found: JsonObject, key: string): readonly string[] {
  const list = found[key];
  return isJsonArray(list) ? list.map(String) : [];
}

/** Objects that are left from another service, or lack something. */
function inspectObjects(at: string, found: JsonObject): readonly Finding[] {
  return [
    ...listed(found, 'old_triggers').map((name) =>
      finding(
        'old-trigger',
        'warning',
        `${at} still has the trigger ${name} of another service: changes are captured twice`,
        'run svc import --cutover, which reports when you can drop it',
      ),
    ),
    ...listed(found, 'old_session').map((name) =>
      finding(
        'old-session-names',
        'warning',
        `${at}: the function ${name} reads session variables of another service`,
        'set SVC_GRAPHQL_SESSION_PREFIX_ALIASES=x-hasura- for the service, or rewrite the function',
      ),
    ),
    ...listed(found, 'no_key').map((name) =>
      finding(
        'no-primary-key',
        'warning',
        `${at}: the table ${name} has no primary key`,
        'add a primary key: fields by key, streams and upserts need it',
      ),
    ),
    ...listed(found, 'missing_privileges').map((each) =>
      finding('privilege', 'error', `${at}: the role ${String(found['role'])} may not ${each}`, `grant it to ${String(found['role'])}`),
    ),
    ...listed(found, 'missing_extensions').map((name) =>
      finding(
        'extension',
        'error',
        `${at}: migrations create the extension ${name}, which the server does not have`,
        'install it on the server of the database',
      ),
    ),
  ];
}

/** @param needsSchema true if migrations or event triggers need svc_catalog */
function inspectPrivileges(at: string, found: JsonObject, needsSchema: boolean): readonly Finding[] {
  if (found['may_create'] !== false || !needsSchema) return [];
  const role = String(found['role']);
  return [
    finding(
      'privilege',
      'error',
      `${at}: the role ${role} may not create a schema: migrations and event triggers need svc_catalog`,
      `grant create on the database to ${role}, or create the schema svc_catalog and grant all on it`,
    ),
  ];
}

/** @param pool number of connections that an instance opens */
function inspectServer(at: string, found: JsonObject, pool: number): readonly Finding[] {
  const findings: Finding[] = [];
  const max = Number(found['max_connections']);
  if (pool > max)
    findings.push(
      finding(
        'connections',
        'warning',
        `${at}: each instance of the service may open ${pool} connections, but the database allows ${max} in total`,
        'lower max_connections in pool_settings, or raise it in the database',
      ),
    );
  const difference = Math.abs(Number(found['clock']) - Date.now() / 1000);
  if (difference > MAX_CLOCK_DIFFERENCE)
    findings.push(
      finding(
        'clock',
        'warning',
        `${at}: the clocks of the database and of this machine differ by ${Math.round(difference)} s`,
        'synchronize the clocks: tokens expire by them',
      ),
    );
  return findings;
}

async function read(query: DiagnosedSource['query'], needed: readonly Needed[], extensions: readonly string[]): Promise<JsonObject> {
  const list = (sql: string): string => `(select coalesce(json_agg(x), '[]') from (${sql} order by 1 limit ${MOST}) as found (x))`;
  const values = needed.map(({ schema, name, privilege }) => `(${[schema, name, privilege].map(dialect.string).join(', ')})`).join(', ');
  const privileges =
    needed.length === 0
      ? `'[]'::json`
      : list(`select privilege || ' ' || c.oid::regclass::text from (values ${values}) as needed (schema, name, privilege)
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
    'missing_extensions', ${list(`select name from unnest(array[${extensions.map(dialect.string).join(', ')}]::text[]) as wanted (name) where not exists (select from pg_available_extensions a where a.name = wanted.name)`)},
    'captures', ${list(`select distinct t.tgname::text from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'svc_catalog' and not t.tgisinternal`)},
    'old_triggers', ${list(`select distinct tgname::text from pg_trigger where tgname like 'notify\\_hasura\\_%'`)},
    'old_session', ${list(`select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${ours} and (prosrc ilike '%x-hasura-%' or prosrc ilike '%hasura.user%')`)},
    'no_key', ${list(`select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and ${ours} and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`)}
  )`;
  const [row] = await query(sql);
  const cell = parseJson(row?.[0] ?? '{}');
  return objectOf(cell);
}

/** Returns the triggers that do not belong to another source in the same database. */
async function withoutOtherSources({ query, others }: InspectedSource, names: readonly string[]): Promise<readonly string[]> {
  let unowned = names;
  for (const other of others) {
    const own = new Set(triggersOf(other.entry));
    if (unowned.some((name) => own.has(name)) && (await databaseOf(other.query)) === (await databaseOf(query)))
      unowned = unowned.filter((name) => !own.has(name));
  }
  return unowned;
}

/** Returns the same text for sources in the same database. */
async function databaseOf(query: DiagnosedSource['query']): Promise<string | undefined> {
  const rows = await query(`select current_database() || ' ' || pg_postmaster_start_time() || ' ' || coalesce(inet_server_port(), 0)`);
  return rows[0]?.[0];
}

/** Returns the privileges that the service needs for tables of the metadata. */
function neededPrivileges(entry: JsonObject): readonly Needed[] {
  return objectsIn(entry['tables']).flatMap((table) => {
    const name = qualifiedName('public').decode(table['table'] ?? null, ROOT);
    const has = (key: string): boolean => objectsIn(table[key]).length > 0;
    const written = ['insert', 'update', 'delete'].filter((privilege) => has(`${privilege}_permissions`));
    return ['select', ...written, ...(has('event_triggers') ? ['trigger'] : [])].map((privilege) => ({ ...name, privilege }));
  });
}

/** Returns the names of the database's triggers for event triggers, truncated as in the database. */
function triggersOf(entry: JsonObject): readonly string[] {
  const triggers = objectsIn(entry['tables']).flatMap((table) => objectsIn(table['event_triggers']));
  return triggers.flatMap(({ name }) =>
    CAPTURED_OPERATIONS.map((operation) =>
      Buffer.from(captureName(String(name), operation))
        .subarray(0, 63)
        .toString('utf8'),
    ),
  );
}

function extensionsOf(migrations: readonly string[]): readonly string[] {
  const names = migrations.flatMap((up) =>
    migrationDialect.scan(up).statements.flatMap(({ text, words }) => {
      if (words[0] !== 'create' || words[1] !== 'extension') return [];
      const name = /\bextension\s+(?:if\s+not\s+exists\s+)?(?:"([^"]+)"|([\w-]+))/i.exec(withoutComments(text));
      return name === null ? [] : [name[1] ?? (name[2] as string).toLowerCase()];
    }),
  );
  return [...new Set(names)];
}

function poolOf(entry: JsonObject): number {
  const inside = (json: Json | undefined, key: string): Json | undefined => (isJsonObject(json) ? json[key] : undefined);
  const settings = inside(inside(entry['configuration'], 'connection_info'), 'pool_settings');
  const max = inside(settings, 'max_connections');
  return typeof max === 'number' ? max : DEFAULT_POOL;
}

/** Findings of `svc doctor` in PostgreSQL. */
export const diagnostics: Diagnostics = { inspect };
