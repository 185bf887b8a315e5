/** From a source's configuration to an open source. */
import type { ConnectContext } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type Lateness, unlessLate } from '../../util/unless-late.ts';
import type { ConnectionConfiguration, PostgresqlConfiguration } from './configuration.ts';
import { CancelledError } from './driver/database-error.ts';
import { createClientOpener, createOpener, type ConnectionTarget } from './driver/open-session.ts';
import { Pool } from './driver/pool.ts';
import { statementError } from './errors.ts';
import { listen } from './listen.ts';
import { Replicas, type Server } from './replicas.ts';
import { FOUND_SETTINGS, missingSettings, type SessionSettings, settingsStep } from './session-settings.ts';
import { type IsolationLevel, PostgresqlSource } from './source.ts';
import { targetOf } from './target.ts';
import { watchSnapshots } from './watch-snapshots.ts';
import type { RunOptions } from '../../backend/connection.ts';

const DEFAULTS = { idleTimeoutMs: 180_000, retries: 1, lifetimeMs: 600_000, preparedMemory: 33_554_432 };
const DEFAULT_PORT = 5432;
const AFTER_REQUEST_MS = 10_000;
const LEAST_TIMEOUT_MS = 60_000;
const FIRST_ANSWER_MS = 60_000;

/**
 * Throws `SvcError`: `not-found` for missing environment variables, `postgres-error` when the database cannot be reached,
 * `not-exists` for a schema of extensions that is not there, `timeout` when the database does not answer in time.
 * @param spread see `SourceOptions`
 */
export async function connect(
  configuration: PostgresqlConfiguration,
  context: ConnectContext,
  { signal, deadline = Number.POSITIVE_INFINITY }: RunOptions = {},
  spread = false,
): Promise<PostgresqlSource> {
  const how = { signal, deadline: Math.min(deadline, Date.now() + FIRST_ANSWER_MS) };
  const late = (reason: Lateness): Error => statementError(new CancelledError(reason), { text: '', values: [], prepared: false });
  return unlessLate(how, opened(configuration, context, how, spread), late, (source) => void source.close());
}

async function opened(
  configuration: PostgresqlConfiguration,
  context: ConnectContext,
  how: RunOptions,
  spread: boolean,
): Promise<PostgresqlSource> {
  const onEvent = (kind: string, message: string): void => context.onEvent?.({ kind, message });
  const { extensionsSchema } = configuration;
  const { target, settings, ...primary } = serverOf(configuration, extensionsSchema, context, onEvent);
  const replicas = new Replicas(
    configuration.readReplicas.map((replica, i) =>
      serverOf(replica, extensionsSchema, context, (kind, message) => onEvent(kind, `read replica ${i + 1}: ${message}`)),
    ),
  );
  try {
    await primary.pool.start();
  } catch (failure) {
    throw statementError(failure, { text: '', values: [], prepared: false });
  }
  const { host = null, port = null, database = null } = target().client;
  const options = {
    address: { system: 'postgresql', database: database ?? null, host, port: Number(port ?? DEFAULT_PORT) },
    primary,
    replicas,
    retries: configuration.pool?.retries ?? DEFAULTS.retries,
    spread,
    isolation: configuration.isolationLevel ?? context.isolation ?? 'read-committed',
    captures: {
      extensionsSchema,
      stringifyNumericTypes: context.stringifyNumericTypes ?? false,
      notify: configuration.eventNotifications !== false,
    },
    listenOn: (channel: string, onMessage: (payload: string | null) => void) =>
      listen({ open: createClientOpener(target), channel, onMessage, onEvent }),
    watchSnapshots: (intervalMs: number, onSnapshot: (snapshot: string | null) => void) =>
      watchSnapshots({ open: createOpener(target), intervalMs, onSnapshot, onEvent }),
  };
  // It is asked what its sessions have without us.
  const source = new PostgresqlSource({ ...options, primary: { ...primary, prelude: null }, serverIsolation: 'read-committed' });
  try {
    const found = await source.query(
      `select current_setting('default_transaction_isolation'), to_regnamespace(quote_ident($1)), ${FOUND_SETTINGS}`,
      [extensionsSchema],
      how,
    );
    const [isolation, schema, ...set] = found.rows[0] ?? [];
    // Nobody asked for the default one; a database may do without it.
    if (schema === null && extensionsSchema !== 'public') {
      throw new SvcError('not-exists', `the schema "${extensionsSchema}" of extensions_schema does not exist in the database`);
    }
    await replicas.start();
    const serverIsolation = isolation?.replace(' ', '-') as IsolationLevel;
    if (primary.prepare) return new PostgresqlSource({ ...options, serverIsolation });
    // What the role brings along need not be sent with each statement.
    const prelude = settingsStep(missingSettings(settings, set), 'transaction');
    return new PostgresqlSource({ ...options, primary: { ...primary, prelude }, serverIsolation });
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** A server's pool, without any connection yet. @throws SvcError for missing environment variables and wrong URLs */
function serverOf(
  configuration: ConnectionConfiguration,
  extensionsSchema: string,
  context: ConnectContext,
  onEvent: (kind: string, message: string) => void,
): Server & { readonly target: () => ConnectionTarget; readonly settings: SessionSettings } {
  const prepare = configuration.usePreparedStatements ?? context.usePreparedStatements;
  const settings: SessionSettings = {
    extensionsSchema: extensionsSchema === 'public' ? null : extensionsSchema,
    jitOff: configuration.jit !== true,
    statementTimeoutMs: statementTimeout(configuration, context),
  };
  const target = targetOf(configuration, context, {
    prepare,
    preparedMemory: context.preparedStatementMemory ?? DEFAULTS.preparedMemory,
    setup: prepare ? settingsStep(settings, 'session') : null,
  });
  // What is wrong now is said now.
  target();
  const own = configuration.pool;
  const lifetimeMs = milliseconds(own?.connection_lifetime) ?? context.lifetimeMs ?? DEFAULTS.lifetimeMs;
  const pool = new Pool(
    createOpener(target),
    {
      maxConnections: own?.max_connections ?? context.maxConnections,
      idleTimeoutMs: milliseconds(own?.idle_timeout) ?? context.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
      lifetimeMs: lifetimeMs === 0 ? Number.POSITIVE_INFINITY : lifetimeMs,
      waitTimeoutMs: milliseconds(own?.pool_timeout) ?? context.waitTimeoutMs ?? Number.POSITIVE_INFINITY,
      retries: own?.retries ?? DEFAULTS.retries,
    },
    onEvent,
  );
  return { pool, prepare, prelude: prepare ? null : settingsStep(settings, 'transaction'), target, settings };
}

/** ms; the request's own time ends first, and what the service does for itself has a while in any case. */
function statementTimeout({ statementTimeout: own }: ConnectionConfiguration, { requestTimeoutMs = 0 }: ConnectContext): number | null {
  if (own !== undefined) return own === 0 ? null : own * 1_000;
  return requestTimeoutMs === 0 ? null : Math.max(requestTimeoutMs + AFTER_REQUEST_MS, LEAST_TIMEOUT_MS);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
