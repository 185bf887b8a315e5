/** Reads the applied migrations of another engine from a running service, or from its metadata database. */
import { EXIT, failure, reasonOf } from '../project/failure.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, parseJson } from '../util/json.ts';

const CONNECT_MS = 15_000;
const ANSWER_MS = 30_000;

/** Migration history of projects before version 3, in the database itself. */
const TABLE = 'hdb_catalog.schema_migrations';

/** Returns whether an address is that of a database, not of a service. */
export function isDatabaseUrl(address: string): boolean {
  return /^postgres(?:ql)?:/i.test(address);
}

/** Per source, a map from version to whether it is dirty. */
export type OtherState = Readonly<Record<string, JsonObject>>;

/**
 * @param ask sends an operation to a path of the other service
 * @throws ProjectFailure
 */
export async function stateOfService(ask: (path: string, body: JsonObject) => Promise<Json>): Promise<OtherState> {
  const answer = await ask('v1/metadata', { type: 'get_catalog_state', args: {} });
  const state = stateIn(isJsonObject(answer) ? answer['cli_state'] : null);
  if (Object.keys(state).length > 0) return state;
  try {
    const sql = `select version::text, dirty from ${TABLE}`;
    const old = await ask('v2/query', { type: 'run_sql', args: { source: 'default', sql, read_only: true } });
    const rows = isJsonObject(old) && isJsonArray(old['result']) ? old['result'].slice(1) : [];
    return stateOfRows(rows.flatMap((row) => (isJsonArray(row) ? [[String(row[0]), row[1] === 't'] as const] : [])));
  } catch {
    // No such table: no migration was ever applied.
    return {};
  }
}

/** @throws ProjectFailure without the URL, which may contain a password */
export async function stateOfDatabase(url: string): Promise<OtherState> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, query_timeout: ANSWER_MS });
  // The waiting query reports a connection that breaks later.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin read only');
    const has = async (table: string): Promise<boolean> =>
      (await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table])).rows[0]?.there === true;
    const inCatalog = await has('hdb_catalog.hdb_version');
    if (inCatalog) {
      // Older catalogs lack the column.
      const { rows } = await client.query<{ state: string | null }>(
        `select to_jsonb(v) -> 'cli_state' #>> '{}' as state from hdb_catalog.hdb_version v`,
      );
      const text = rows[0]?.state ?? null;
      const state = stateIn(text === null ? null : parseJson(text));
      if (Object.keys(state).length > 0) return state;
    }
    if (await has(TABLE)) {
      const { rows } = await client.query<{ version: string; dirty: boolean }>(`select version::text, dirty from ${TABLE}`);
      return stateOfRows(rows.map(({ version, dirty }) => [version, dirty]));
    }
    if (inCatalog) return {};
  } catch (thrown) {
    throw failure('unreachable', `the database of --state-from cannot be read: ${reasonOf(thrown)}`, {}, EXIT.unreachable);
  } finally {
    await client.end().catch(() => undefined);
  }
  throw failure(
    'state',
    'the database of --state-from has no schema hdb_catalog: pass the URL of the metadata database of the other service',
  );
}

function stateIn(cliState: Json | undefined): OtherState {
  const migrations = objectOf(objectOf(cliState)['migrations']);
  return Object.fromEntries(Object.entries(migrations).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])));
}

function stateOfRows(rows: readonly (readonly [version: string, dirty: boolean])[]): OtherState {
  return rows.length === 0 ? {} : { default: Object.fromEntries(rows) };
}
