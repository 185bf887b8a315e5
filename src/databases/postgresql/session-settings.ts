/** What the service sets in its sessions, so that no request can keep the database busy. */
import type { WireStep } from './driver/exchange.ts';
import type { SessionSettings as NamedSettings } from '../../backend/connection.ts';

export interface SessionSettings {
  /** Of extensions; null where it is part of the search path anyhow. */
  readonly extensionsSchema: string | null;
  /** False: the server may compile queries to machine code. */
  readonly jitOff: boolean;
  /** ms; null: as the server says. */
  readonly statementTimeoutMs: number | null;
}

/** How often the server looks whether the client of a statement that runs has gone; where it can, which is since PostgreSQL 14. */
const CLIENT_CHECK = '5s';

/**
 * A statement that sets them. What a server does not know, such as `jit` before PostgreSQL 11, stays
 * out; a shorter time than ours is left as it is.
 * @param scope for the session, or for a transaction, which is all that a transaction pooler leaves to its clients
 * @returns null when there is nothing to set
 */
export function settingsStep(settings: SessionSettings, scope: 'session' | 'transaction'): WireStep | null {
  const local = scope === 'transaction';
  const { extensionsSchema, jitOff, statementTimeoutMs } = settings;
  const calls: string[] = [];
  // At the end of the search path; a second time changes nothing.
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
  // A pooler, which is what leaves transactions alone to its clients, is not gone when they are.
  if (!local) {
    const isThere = `current_setting('client_connection_check_interval', true) = '0' and version() like '%linux%'`;
    calls.push(`case when ${isThere} then set_config('client_connection_check_interval', '${CLIENT_CHECK}', false) end`);
  }
  return calls.length === 0 ? null : { text: `select ${calls.join(', ')}`, values: extensionsSchema === null ? [] : [extensionsSchema] };
}

/** Which of them a session has already, from its role or database. */
export const FOUND_SETTINGS = `coalesce(current_setting('jit', true), 'off'), extract(epoch from current_setting('statement_timeout')::interval) * 1000`;

/** Those that are left to be set. @param found the values of `FOUND_SETTINGS` */
export function missingSettings(settings: SessionSettings, [jit, timeout]: readonly (string | null | undefined)[]): SessionSettings {
  const ms = Number(timeout ?? 0);
  const isShort = settings.statementTimeoutMs !== null && ms > 0 && ms <= settings.statementTimeoutMs;
  return {
    ...settings,
    jitOff: settings.jitOff && jit !== 'off',
    statementTimeoutMs: isShort ? null : settings.statementTimeoutMs,
  };
}

/** For the rest of a transaction. */
export const STANDARD_STRINGS: WireStep = {
  text: "select set_config('standard_conforming_strings', 'on', true)",
  values: [],
};

/** Undoes it for an administrator's SQL: what the server, the database and the role say holds again. */
export const WITHOUT_SETTINGS: WireStep = {
  text: "select case when current_setting('jit', true) is not null then set_config('jit', null, false) end, set_config('statement_timeout', null, false)",
  values: [],
};

/** A setting is written as `0`, `500ms`, `30s`, `2min`: an interval each. */
function isLonger(ms: number): string {
  const now = "current_setting('statement_timeout')::interval";
  return `${now} = interval '0' or ${now} > interval '${Math.ceil(ms)} ms'`;
}

/** Without a row: nobody reads it. */
const SET_ONE = 'select where set_config($1, $2, true) is null';

/** A statement that sets values for the transaction. */
export function localSettings(settings: NamedSettings): WireStep {
  const [only] = settings;
  if (settings.length === 1 && only !== undefined) return { text: SET_ONE, values: only };
  const calls = settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`);
  return { text: `select ${calls.join(', ')}`, values: settings.flat() };
}
