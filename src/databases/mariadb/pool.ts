/** Sessions of a source, borrowed by one caller at a time. */
import { createPool, type Pool as DriverPool, type PoolConnection as DriverConnection } from 'mysql2';
import { type Connection, createConnection, type PoolConnection, type RowDataPacket } from 'mysql2/promise';
import { identifier, join, print, type Sql, sql, string } from '../../sql/fragment.ts';
import { ConnectionCounts, type ServerMeasures } from '../../backend/connection-counts.ts';
import { type StopReason, stopReasonOf } from '../../util/deadline.ts';
import { dialect } from './compile/dialect.ts';
import { NoConnectionError, StatementCancelledError } from './errors.ts';
import type { ConnectionTarget } from './target.ts';
import { SharedInterval } from './shared-interval.ts';
import type { RunOptions, SessionSettings } from '../../backend/connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 50;
/** Timeout for control statements (kill, rollback, session setup), which are always fast. Unresponsive sessions are disconnected. */
const CONTROL_TIMEOUT_MS = 3_000;
/** Longer timers would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/**
 * Idle time after which the server ends a transaction in a pooled session, in s. Statements of a transaction follow each other at once,
 * and the locks of a frozen instance would block events and rows for the others.
 */
const IDLE_TRANSACTION_S = 20;
/** Prepared statements per session. The server allows some 16,000 for all sessions together. */
const PREPARED_STATEMENTS = 256;
const SQL_MODE =
  'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO,SIMULTANEOUS_ASSIGNMENT';

/** Settings with which statements return all of their rows. */
export const ALL_ROWS = 'sql_select_limit = 18446744073709551615, max_join_size = 18446744073709551615, sql_big_selects = 1';

/** Settings that the server's configuration may set differently. */
const SESSION = [
  "time_zone = '+00:00'",
  'character_set_client = utf8mb4, character_set_results = utf8mb4, collation_connection = utf8mb4_general_ci',
  'autocommit = 1, foreign_key_checks = 1, unique_checks = 1, check_constraint_checks = 1, sql_safe_updates = 0',
  ALL_ROWS,
  'group_concat_max_len = 1073741824, max_error_count = 1024, div_precision_increment = 4',
].join(', ');

/** Clears the warnings of an earlier session of the same server thread: only a statement that reads a table resets the count. */
const RESET_WARNINGS = 'select 1 from information_schema.character_sets limit 0';

export interface PoolSettings {
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
  /** Infinity for no limit. */
  readonly lifetimeMs: number;
  readonly waitTimeoutMs: number;
  /** Maximum duration of a statement, in ms. `null` leaves it to the server. */
  readonly statementTimeoutMs: number | null;
}

export interface BorrowedSession {
  readonly connection: Connection;
  /** Returns an unchanged session. */
  readonly end: () => void;
  /** Set if the session has been changed; it is then closed instead of reused. */
  tainted: boolean;
}

interface Session {
  readonly openedAt: number;
  /** User variables that the service has set. */
  variables: ReadonlyMap<string, string>;
  /** Closes the session after the idle timeout. */
  idle?: NodeJS.Timeout;
}

const NO_VARIABLES: ReadonlyMap<string, string> = new Map();

export class Pool {
  readonly #pool: DriverPool;
  readonly #target: ConnectionTarget;
  readonly #settings: PoolSettings;
  readonly #sessions = new WeakMap<object, Session>();
  readonly #checks = new SharedInterval(CHECK_INTERVAL_MS);
  readonly #promiseConnections = new WeakMap<DriverConnection, PoolConnection>();
  readonly counts = new ConnectionCounts();
  readonly #openSessions = new Set<object>();
  #waiting = 0;
  #borrowed = 0;
  #closing = false;

  constructor(target: ConnectionTarget, settings: PoolSettings) {
    this.#target = target;
    this.#settings = settings;
    this.#pool = createPool({
      ...optionsOf(target),
      connectionLimit: settings.maxConnections,
      maxIdle: settings.maxConnections,
    });
  }

  measures(): ServerMeasures {
    const { size } = this.#openSessions;
    const used = Math.min(this.#borrowed, size);
    const { maxConnections: most } = this.#settings;
    return {
      ...{ family: 'mariadb', role: 'primary', used, idle: size - used, maxConnections: most },
      pending: this.#waiting,
      counts: this.counts,
    };
  }

  /** Counts a session until it closes. @param startedAt `performance.now()` when it was requested */
  #trackSession(session: object, startedAt: number): void {
    this.counts.initTime.observe((performance.now() - startedAt) / 1000);
    this.#openSessions.add(session);
    (session as { readonly stream: { once(event: 'close', listener: () => void): void } }).stream.once('close', () =>
      this.#openSessions.delete(session),
    );
  }

  /** Borrows a pooled session. @throws Error of the driver, `NoConnectionError`, `StatementCancelledError` */
  async acquire(options: RunOptions): Promise<BorrowedSession> {
    for (;;) {
      const requestedAt = performance.now();
      const connection = await this.#waitForConnection(options);
      try {
        const session = this.#sessions.get(sessionOf(connection));
        clearTimeout(session?.idle);
        if (session === undefined) {
          await this.#prepare(connection, `, idle_transaction_timeout = ${IDLE_TRANSACTION_S}`);
          this.#trackSession(sessionOf(connection), requestedAt);
          this.#sessions.set(sessionOf(connection), { openedAt: Date.now(), variables: NO_VARIABLES });
        } else if (Date.now() - session.openedAt > this.#settings.lifetimeMs) {
          connection.destroy();
          continue;
        }
      } catch (error) {
        this.counts.errors += 1;
        connection.destroy();
        throw error;
      }
      this.#borrowed++;
      return { connection, end: () => this.#returnToPool(connection), tainted: false };
    }
  }

  /** Ends idle sessions here: if the driver's pool did it, it would keep fewer sessions than `maxConnections`. */
  #returnToPool(connection: PoolConnection): void {
    const session = this.#sessions.get(sessionOf(connection));
    if (session !== undefined)
      session.idle = setTimeout(() => connection.destroy(), Math.min(this.#settings.idleTimeoutMs, MAX_TIMER_MS)).unref();
    connection.release();
  }

  /** Opens a session outside the pool, for texts with several statements. @throws Error of the driver */
  async open(): Promise<BorrowedSession> {
    if (this.#closing) throw new NoConnectionError('the source is closed');
    const startedAt = performance.now();
    const connection = await createConnection({ ...optionsOf(this.#target), multipleStatements: true }).catch((error: unknown) => {
      this.counts.errors += 1;
      throw error;
    });
    try {
      await this.#prepare(connection);
    } catch (error) {
      this.counts.errors += 1;
      connection.destroy();
      throw error;
    }
    this.#trackSession(sessionOf(connection), startedAt);
    this.#borrowed++;
    this.#sessions.set(sessionOf(connection), { openedAt: Date.now(), variables: NO_VARIABLES });
    return { connection, end: () => connection.destroy(), tainted: false };
  }

  /** Sets user variables (`@\`svc.user\``) and clears those of the previous caller. No statement is sent if nothing changes. */
  async setVariables({ connection }: BorrowedSession, settings: SessionSettings): Promise<void> {
    const session = this.#sessions.get(sessionOf(connection));
    const before = session?.variables ?? NO_VARIABLES;
    if (before.size === settings.length && settings.every(([name, text]) => before.get(name) === text)) return;
    const after = new Map(settings);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
    if (changed.length === 0) return;
    const variables = changed.map((name) => sql`@${identifier(name)} = ${value(after.get(name))}`);
    await connection.query(print(sql`set ${join(variables, sql`, `)}`, dialect).text);
    if (session !== undefined) session.variables = after;
  }

  /** Returns whether variables of a previous caller are still set. */
  hasVariables({ connection }: BorrowedSession): boolean {
    return (this.#sessions.get(sessionOf(connection))?.variables ?? NO_VARIABLES).size > 0;
  }

  /** @throws Error of the driver */
  async version(): Promise<string> {
    const connection = await createConnection(optionsOf(this.#target));
    try {
      const query = () => connection.query<RowDataPacket[]>('select version() as `version`');
      const [rows] = await withTimeout(connection, query, CONNECT_TIMEOUT_MS);
      return String(rows[0]?.['version']);
    } finally {
      connection.destroy();
    }
  }

  release({ connection, end, tainted }: BorrowedSession): void {
    this.#borrowed--;
    if (tainted) connection.destroy();
    else end();
  }

  /** Runs a task in a session; kills its statement on cancellation and at the deadline. */
  async run<T>(session: BorrowedSession, options: RunOptions, task: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await this.#runCancellable(session, options, task);
    } catch (error) {
      if (error instanceof StatementCancelledError) this.#countCancellation(error);
      throw error;
    } finally {
      this.counts.queryTime.observe((performance.now() - startedAt) / 1000);
    }
  }

  #countCancellation({ reason }: StatementCancelledError): void {
    if (reason === 'deadline') this.counts.timedOut += 1;
    else this.counts.cancelled += 1;
  }

  async #runCancellable<T>(session: BorrowedSession, options: RunOptions, task: () => Promise<T>): Promise<T> {
    const { signal, deadline } = options;
    if (signal === undefined && deadline === undefined) return task();
    let killing: Promise<void> | undefined;
    let reason: StopReason | null = stopReasonOf(options);
    if (reason !== null) throw new StatementCancelledError(reason);
    let disconnectTimer: NodeJS.Timeout | undefined;
    const stopChecking = this.#checks.add(() => {
      reason ??= stopReasonOf(options);
      if (reason === null || killing !== undefined) return;
      // `kill query` may hit a later statement, so the session must not run any.
      session.tainted = true;
      killing = this.#kill(session.connection);
      disconnectTimer = setTimeout(() => disconnect(session.connection), CONTROL_TIMEOUT_MS);
    });
    try {
      return await task();
    } catch (error) {
      throw reason === null ? error : new StatementCancelledError(reason);
    } finally {
      stopChecking();
      clearTimeout(disconnectTimer);
      await killing;
    }
  }

  /** Rolls back. If the server does not confirm it, the session is not used again. Never throws. */
  async rollBack(session: BorrowedSession): Promise<void> {
    try {
      await withTimeout(session.connection, () => session.connection.query('rollback'));
    } catch {
      // The server rolls back the transaction when the session closes.
      session.tainted = true;
    }
  }

  async close(boundMs: number): Promise<void> {
    this.#closing = true;
    const end = Date.now() + boundMs;
    while (this.#borrowed > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#pool.promise().end();
  }

  #waitForConnection(options: RunOptions): Promise<PoolConnection> {
    if (this.#closing) return Promise.reject(new NoConnectionError('the source is closed'));
    const late = stopReasonOf(options);
    if (late !== null) return Promise.reject(new StatementCancelledError(late));
    const startedAt = performance.now();
    const isFree = this.#borrowed < this.#settings.maxConnections;
    this.#waiting += 1;
    return new Promise<PoolConnection>((resolve, reject) => {
      const start = Date.now();
      let hasFailed = false;
      const fail = (error: Error): void => {
        hasFailed = true;
        stopChecking();
        if (error instanceof StatementCancelledError) this.#countCancellation(error);
        reject(error);
      };
      const stopChecking = this.#checks.add(() => {
        const reason = stopReasonOf(options);
        if (reason !== null) fail(new StatementCancelledError(reason));
        else if (Date.now() - start > this.#settings.waitTimeoutMs) {
          this.counts.timeouts += 1;
          fail(new NoConnectionError('no connection became free in time'));
        }
      });
      this.#pool.getConnection((error, connection) => {
        if (error !== null) {
          this.counts.errors += 1;
          return fail(error);
        }
        stopChecking();
        if (hasFailed) connection.release();
        else {
          // Opening a connection does not count as waiting.
          this.counts.waitTime.observe(isFree ? 0 : (performance.now() - startedAt) / 1000);
          resolve(this.#withPromises(connection));
        }
      });
    }).finally(() => {
      this.#waiting -= 1;
    });
  }

  /** Caches the promise wrapper of a connection: creating it takes as long as a small statement. */
  #withPromises(connection: DriverConnection): PoolConnection {
    let wrapped = this.#promiseConnections.get(connection);
    if (wrapped === undefined) {
      wrapped = connection.promise();
      this.#promiseConnections.set(connection, wrapped);
    }
    return wrapped;
  }

  /** Kills the running statement from a new connection, because all pooled ones may be busy. */
  async #kill(connection: Connection): Promise<void> {
    try {
      const other = await createConnection({ ...optionsOf(this.#target), connectTimeout: CONTROL_TIMEOUT_MS });
      try {
        await withTimeout(other, () => other.query(`kill query ${Number(connection.threadId)}`));
      } finally {
        other.destroy();
      }
    } catch {
      // The server ends the statement itself after its timeout.
      disconnect(connection);
    }
  }

  #prepare(connection: Connection, more = ''): Promise<void> {
    return withTimeout(connection, async () => {
      for (const text of this.#setup(more)) await connection.query(text);
    });
  }

  #setup(more: string): readonly string[] {
    const { statementTimeoutMs } = this.#settings;
    const timeout = statementTimeoutMs === null ? '' : `, max_statement_time = ${statementTimeoutMs / 1_000}`;
    return [
      `set session ${SESSION}, sql_mode = '${SQL_MODE}'${timeout}${more}`,
      'set session transaction isolation level read committed',
      RESET_WARNINGS,
    ];
  }
}

function optionsOf(target: ConnectionTarget) {
  return {
    ...target,
    charset: 'utf8mb4',
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    // Errors name their statement, so a stack trace for each statement is not needed.
    trace: false,
    jsonStrings: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    maxPreparedStatements: PREPARED_STATEMENTS,
    // Local files are never read at the server's request.
    flags: ['-LOCAL_FILES'],
  };
}

/** Fails pending commands of the session. After `connection.destroy()` alone, the driver would leave them pending forever. */
function disconnect(connection: Connection): void {
  const { stream } = sessionOf(connection) as { readonly stream: { destroy(): void } };
  stream.destroy();
}

/** Runs a small task and disconnects the session if the server does not answer in time. @throws Error of the driver */
async function withTimeout<T>(connection: Connection, task: () => Promise<T>, timeoutMs = CONTROL_TIMEOUT_MS): Promise<T> {
  const timer = setTimeout(() => disconnect(connection), timeoutMs);
  try {
    return await task();
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the driver's session, which stays the same when the pool reuses it. */
function sessionOf(connection: Connection | PoolConnection): object {
  return 'connection' in connection ? connection.connection : connection;
}

function value(text: string | undefined): Sql {
  return text === undefined ? sql`null` : string(text);
}

/** @throws StatementCancelledError if the caller no longer waits */
export function refuseCancelled(options: RunOptions): void {
  const reason = stopReasonOf(options);
  if (reason !== null) throw new StatementCancelledError(reason);
}
