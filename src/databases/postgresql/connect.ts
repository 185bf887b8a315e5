/** Opens a source from its configuration. */
import type { ConnectContext } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type StopReason, withDeadline } from '../../util/deadline.ts';
import type { ConnectionConfiguration, PostgresqlConfiguration } from './configuration.ts';
import { CancelledError } from './driver/database-error.ts';
import { createClientOpener, createOpener, type ConnectionTarget } from './driver/open-session.ts';
import { Pool } from './driver/pool.ts';
import { statementError } from './errors.ts';
import { listen } from './listen.ts';
import { Replicas, type Server } from './replicas.ts';
import { FOUND_SETTINGS, missingSettings, type SessionDefaults, settingsStep } from './session-settings.ts';
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
 * @param spread see `SourceOptions`
 * @throws SvcError not-found for missing environment variables, postgres-error if the database cannot be reached, not-exists for a missing
 * schema of extensions, timeout if the database does not answer in time
 */
export async function connect(
  configuration: PostgresqlConfiguration,
  context: ConnectContext,
  { signal, deadline = Number.POSITIVE_INFINITY }: RunOptions = {},
  spread = false,
): Promise<PostgresqlSource> {
  const options = { signal, deadline: Math.min(deadline, Date.now() + FIRST_ANSWER_MS) };
  const late = (reason: StopReason): Error => statementError(new CancelledError(reason), { text: '', values: [], prepared: false });
  return withDeadline(options, opened(configuration, context, options, spread), late, (source) => void source.close());
}

async function opened(
  configuration: PostgresqlConfiguration,
  context: ConnectContext,
  runOptions: RunOptions,
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
  const options = {
    address: addressOf(target()),
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
  // Without the prelude, to read the settings that sessions have by themselves.
  const source = new PostgresqlSource({ ...options, primary: { ...primary, prelude: null }, serverIsolation: 'read-committed' });
  try {
    const found = await source.query(
      `select current_setting('default_transaction_isolation'), to_regnamespace(quote_ident($1)), ${FOUND_SETTINGS}`,
      [extensionsSchema],
      runOptions,
    );
    const [isolation, schema, ...set] = found.rows[0] ?? [];
    // The default schema may be missing.
    if (schema === null && extensionsSchema !== 'public') {
      throw new SvcError('not-exists', `the schema "${extensionsSchema}" of extensions_schema does not exist in the database`);
    }
    await replicas.start();
    const serverIsolation = isolation?.replace(' ', '-') as IsolationLevel;
    if (primary.prepare) return new PostgresqlSource({ ...options, serverIsolation });
    // Settings of the role need not be sent with each statement.
    const prelude = settingsStep(missingSettings(settings, set), 'transaction');
    return new PostgresqlSource({ ...options, primary: { ...primary, prelude }, serverIsolation });
  } catch (error) {
    await source.close();
    throw error;
  }
}

function addressOf({ client }: ConnectionTarget) {
  const { host = null, port = null, database = null } = client;
  return { system: 'postgresql', database: database ?? null, host, port: Number(port ?? DEFAULT_PORT) };
}

/** Returns the pool of a server, without a connection. @throws SvcError for missing environment variables and invalid URLs */
function serverOf(
  configuration: ConnectionConfiguration,
  extensionsSchema: string,
  context: ConnectContext,
  onEvent: (kind: string, message: string) => void,
): Server & { readonly target: () => ConnectionTarget; readonly settings: SessionDefaults } {
  const prepare = configuration.usePreparedStatements ?? context.usePreparedStatements;
  const settings: SessionDefaults = {
    extensionsSchema: extensionsSchema === 'public' ? null : extensionsSchema,
    jitOff: configuration.jit !== true,
    statementTimeoutMs: statementTimeout(configuration, context),
  };
  const target = targetOf(configuration, context, {
    prepare,
    preparedMemory: context.preparedStatementMemory ?? DEFAULTS.preparedMemory,
    setup: prepare ? settingsStep(settings, 'session') : null,
  });
  // Reports errors of the configuration at once.
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

/** Timeout of statements in milliseconds: longer than that of requests, with a minimum for statements of the service. */
function statementTimeout({ statementTimeout: own }: ConnectionConfiguration, { requestTimeoutMs = 0 }: ConnectContext): number | null {
  if (own !== undefined) return own === 0 ? null : own * 1_000;
  return requestTimeoutMs === 0 ? null : Math.max(requestTimeoutMs + AFTER_REQUEST_MS, LEAST_TIMEOUT_MS);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
