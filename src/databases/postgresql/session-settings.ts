/** Settings of the service's sessions, which prevent requests from keeping the database busy. */
import type { WireStep } from './driver/exchange.ts';
import type { SessionSettings as NamedSettings } from '../../backend/connection.ts';

export interface SessionDefaults {
  /** Schema of extensions to add to the search path; `null` for none. */
  readonly extensionsSchema: string | null;
  /** True if just-in-time compilation is switched off. */
  readonly jitOff: boolean;
  /** In milliseconds; `null` for the server's setting. */
  readonly statementTimeoutMs: number | null;
}

/** Interval at which the server checks during a statement whether the client is still connected, since PostgreSQL 14. */
const CLIENT_CHECK = '5s';

/**
 * Returns a statement with the settings, without those that the server lacks, such as `jit` before PostgreSQL 11. It does not raise a
 * shorter timeout.
 * @param scope session, or transaction for transaction poolers
 * @returns `null` if there is nothing to set
 */
export function settingsStep(settings: SessionDefaults, scope: 'session' | 'transaction'): WireStep | null {
  const local = scope === 'transaction';
  const { extensionsSchema, jitOff, statementTimeoutMs } = settings;
  const calls: string[] = [];
  // Appended to the search path, once.
  if (extensionsSchema !== null) {
    calls.push(`set_config('search_path', case when $1::text = any (current_schemas(true)::text[]) then current_setting('search_path')
      else concat_ws(', ', nullif(current_setting('search_path'), ''), quote_ident($1)) end, ${local})`);
  }
  if (jitOff) calls.push(`case when current_setting('jit', true) = 'on' then set_config('jit', 'off', ${local}) end`);
  if (statementTimeoutMs !== null) {
    calls.push(
      `case when ${isLonger(statementTimeoutMs)} then set_config('statement_timeout', '${Math.ceil(statementTimeoutMs)}', ${local}) end`,
    );
  }
  // A transaction pooler stays connected when its client is gone.
  if (!local) {
    const isThere = `current_setting('client_connection_check_interval', true) = '0' and version() like '%linux%'`;
    calls.push(`case when ${isThere} then set_config('client_connection_check_interval', '${CLIENT_CHECK}', false) end`);
  }
  return calls.length === 0 ? null : { text: `select ${calls.join(', ')}`, values: extensionsSchema === null ? [] : [extensionsSchema] };
}

/** Select list for the settings that a session has from its role or database. */
export const FOUND_SETTINGS = `coalesce(current_setting('jit', true), 'off'), extract(epoch from current_setting('statement_timeout')::interval) * 1000`;

/** Returns the settings that a session lacks. @param found values of `FOUND_SETTINGS` */
export function missingSettings(settings: SessionDefaults, [jit, timeout]: readonly (string | null | undefined)[]): SessionDefaults {
  const ms = Number(timeout ?? 0);
  const isShort = settings.statementTimeoutMs !== null && ms > 0 && ms <= settings.statementTimeoutMs;
  return {
    ...settings,
    jitOff: settings.jitOff && jit !== 'off',
    statementTimeoutMs: isShort ? null : settings.statementTimeoutMs,
  };
}

/** Sets `standard_conforming_strings` for the rest of a transaction. */
export const STANDARD_STRINGS: WireStep = {
  text: "select set_config('standard_conforming_strings', 'on', true)",
  values: [],
};

/** Resets the settings for SQL of administrators to those of the server, database and role. */
export const WITHOUT_SETTINGS: WireStep = {
  text: "select case when current_setting('jit', true) is not null then set_config('jit', null, false) end, set_config('statement_timeout', null, false)",
  values: [],
};

/** Condition that the timeout is longer: settings are `0`, `500ms`, `30s`, `2min`, all of which are intervals. */
function isLonger(ms: number): string {
  const now = "current_setting('statement_timeout')::interval";
  return `${now} = interval '0' or ${now} > interval '${Math.ceil(ms)} ms'`;
}

/** Returns no row, because none is read. */
const SET_ONE = 'select where set_config($1, $2, true) is null';

/** Returns a statement that sets values for the transaction. */
export function localSettings(settings: NamedSettings): WireStep {
  const [only] = settings;
  if (settings.length === 1 && only !== undefined) return { text: SET_ONE, values: only };
  const calls = settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`);
  return { text: `select ${calls.join(', ')}`, values: settings.flat() };
}
