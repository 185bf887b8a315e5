/** Sessions of a source: opened, set up, lent to one user at a time. */
import { createPool, type Pool as DriverPool, type PoolConnection as DriverConnection } from 'mysql2';
import { type Connection, createConnection, type PoolConnection, type RowDataPacket } from 'mysql2/promise';
import { identifier, join, print, type Sql, sql, string } from '../../sql/fragment.ts';
import { ConnectionCounts, type ServerMeasures } from '../../backend/connection-counts.ts';
import { type Lateness, latenessOf } from '../../util/unless-late.ts';
import { dialect } from './compile/dialect.ts';
import { NoConnectionError, StatementCancelledError } from './errors.ts';
import type { ConnectionTarget } from './target.ts';
import { Watch } from './watch.ts';
import type { RunOptions, SessionSettings } from '../../backend/connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** That a server has for what takes it no time: to end a statement or a transaction, to set up a session. One that says nothing is given up. */
const ORDER_BOUND_MS = 3_000;
/** Later ones would run at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/**
 * That a transaction in a session of the pool may be idle before the server ends it: its statements follow one another at once, and the locks
 * of an instance that stands still in one keep others from events and rows. s
 */
const IDLE_TRANSACTION_S = 20;
/** The server keeps no more than some 16,000 for all sessions together. */
const PREPARED_STATEMENTS = 256;
const SQL_MODE =
  'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO,SIMULTANEOUS_ASSIGNMENT';

/** Statements give all of their rows. */
export const ALL_ROWS = 'sql_select_limit = 18446744073709551615, max_join_size = 18446744073709551615, sql_big_selects = 1';

/** What the server's own settings may say otherwise. */
const SESSION = [
  "time_zone = '+00:00'",
  'character_set_client = utf8mb4, character_set_results = utf8mb4, collation_connection = utf8mb4_general_ci',
  'autocommit = 1, foreign_key_checks = 1, unique_checks = 1, check_constraint_checks = 1, sql_safe_updates = 0',
  ALL_ROWS,
  'group_concat_max_len = 1073741824, max_error_count = 1024, div_precision_increment = 4',
].join(', ');

/** Of whoever had the server's thread before: only a statement that reads a table counts anew. */
const FORGET_WARNINGS = 'select 1 from information_schema.character_sets limit 0';

export interface PoolSettings {
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
  /** Infinity is for ever. */
  readonly lifetimeMs: number;
  /** Infinity is for ever. */
  readonly waitTimeoutMs: number;
  /** ms that a statement may take; null: as the server says. */
  readonly statementTimeoutMs: number | null;
}

export interface Lent {
  readonly connection: Connection;
  /** Lets go of a session that is as it was. */
  readonly release: () => void;
  /** True: the session is not as it was, and is not used again. */
  tainted: boolean;
}

interface Session {
  readonly openedAt: number;
  /** The settings of the service in it. */
  told: ReadonlyMap<string, string>;
  /** Ends it when nobody takes it for long. */
  idle?: NodeJS.Timeout;
}

const NOTHING_TOLD: ReadonlyMap<string, string> = new Map();

export class Pool {
  private readonly pool: DriverPool;
  private readonly target: ConnectionTarget;
  private readonly settings: PoolSettings;
  private readonly sessions = new WeakMap<object, Session>();
  private readonly watch = new Watch(LOOK_EVERY_MS);
  private readonly promising = new WeakMap<DriverConnection, PoolConnection>();
  readonly counts = new ConnectionCounts();
  private readonly ends = new Set<object>();
  private waiting = 0;
  private lent = 0;
  private closing = false;

  constructor(target: ConnectionTarget, settings: PoolSettings) {
    this.target = target;
    this.settings = settings;
    this.pool = createPool({
      ...optionsOf(target),
      connectionLimit: settings.maxConnections,
      maxIdle: settings.maxConnections,
    });
  }

  /** What the service has there now. */
  measures(): ServerMeasures {
    const { size } = this.ends;
    const used = Math.min(this.lent, size);
    const { maxConnections: most } = this.settings;
    return { ...{ family: 'mariadb', role: 'primary', used, idle: size - used, most }, pending: this.waiting, counts: this.counts };
  }

  /** A session was opened; it counts until it ends. @param began when, by `performance.now()` */
  private opened(session: object, began: number): void {
    this.counts.initTime.observe((performance.now() - began) / 1000);
    this.ends.add(session);
    (session as { readonly stream: { once(event: 'close', listener: () => void): void } }).stream.once('close', () =>
      this.ends.delete(session),
    );
  }

  /** @throws Error of the driver, `NoConnectionError`, `StatementCancelledError` */
  async lend(how: RunOptions): Promise<Lent> {
    for (;;) {
      const asked = performance.now();
      const connection = await this.wait(how);
      try {
        const session = this.sessions.get(sessionOf(connection));
        clearTimeout(session?.idle);
        if (session === undefined) {
          await this.prepare(connection, `, idle_transaction_timeout = ${IDLE_TRANSACTION_S}`);
          this.opened(sessionOf(connection), asked);
          this.sessions.set(sessionOf(connection), { openedAt: Date.now(), told: NOTHING_TOLD });
        } else if (Date.now() - session.openedAt > this.settings.lifetimeMs) {
          connection.destroy();
          continue;
        }
      } catch (error) {
        this.counts.errors += 1;
        connection.destroy();
        throw error;
      }
      this.lent++;
      return { connection, release: () => this.release(connection), tainted: false };
    }
  }

  /** The driver's pool would keep fewer sessions than it may have, if it ended idle ones. */
  private release(connection: PoolConnection): void {
    const session = this.sessions.get(sessionOf(connection));
    if (session !== undefined)
      session.idle = setTimeout(() => connection.destroy(), Math.min(this.settings.idleTimeoutMs, LONGEST_TIMER_MS)).unref();
    connection.release();
  }

  /** A session that nobody else gets, which takes several statements in one text. @throws Error of the driver */
  async open(): Promise<Lent> {
    if (this.closing) throw new NoConnectionError('the source is closed');
    const began = performance.now();
    const connection = await createConnection({ ...optionsOf(this.target), multipleStatements: true }).catch((error: unknown) => {
      this.counts.errors += 1;
      throw error;
    });
    try {
      await this.prepare(connection);
    } catch (error) {
      this.counts.errors += 1;
      connection.destroy();
      throw error;
    }
    this.opened(sessionOf(connection), began);
    this.lent++;
    this.sessions.set(sessionOf(connection), { openedAt: Date.now(), told: NOTHING_TOLD });
    return { connection, release: () => connection.destroy(), tainted: false };
  }

  /**
   * Sets the user variables of the session that have these names (`@\`svc.user\``), and takes away others that it was told before. To be called
   * before every write for a request; costs nothing where the session has heard the same before.
   */
  async tell({ connection }: Lent, settings: SessionSettings): Promise<void> {
    const session = this.sessions.get(sessionOf(connection));
    const before = session?.told ?? NOTHING_TOLD;
    if (before.size === settings.length && settings.every(([name, text]) => before.get(name) === text)) return;
    const after = new Map(settings);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
    if (changed.length === 0) return;
    const variables = changed.map((name) => sql`@${identifier(name)} = ${value(after.get(name))}`);
    await connection.query(print(sql`set ${join(variables, sql`, `)}`, dialect).text);
    if (session !== undefined) session.told = after;
  }

  /** Whether `tell` has set anything in the session that is still there. */
  isTold({ connection }: Lent): boolean {
    return (this.sessions.get(sessionOf(connection))?.told ?? NOTHING_TOLD).size > 0;
  }

  /** What the server says of itself. @throws Error of the driver */
  async version(): Promise<string> {
    const connection = await createConnection(optionsOf(this.target));
    try {
      const ask = () => connection.query<RowDataPacket[]>('select version() as `version`');
      const [rows] = await bounded(connection, ask, CONNECT_TIMEOUT_MS);
      return String(rows[0]?.['version']);
    } finally {
      connection.destroy();
    }
  }

  giveBack({ connection, release, tainted }: Lent): void {
    this.lent--;
    if (tainted) connection.destroy();
    else release();
  }

  /** Runs a task in a session that is stopped when nobody waits for it any more, or its time is over. */
  async run<T>(lent: Lent, how: RunOptions, task: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await this.watched(lent, how, task);
    } catch (error) {
      if (error instanceof StatementCancelledError) this.cancelled(error);
      throw error;
    } finally {
      this.counts.queryTime.observe((performance.now() - began) / 1000);
    }
  }

  private cancelled({ reason }: StatementCancelledError): void {
    if (reason === 'deadline') this.counts.late += 1;
    else this.counts.abandoned += 1;
  }

  private async watched<T>(lent: Lent, how: RunOptions, task: () => Promise<T>): Promise<T> {
    const { signal, deadline } = how;
    if (signal === undefined && deadline === undefined) return task();
    let killed: Promise<void> | undefined;
    let reason: Lateness | null = latenessOf(how);
    if (reason !== null) throw new StatementCancelledError(reason);
    let cut: NodeJS.Timeout | undefined;
    const unwatch = this.watch.add(() => {
      reason ??= latenessOf(how);
      if (reason === null || killed !== undefined) return;
      // The order may hit what comes next in the session: nothing does.
      lent.tainted = true;
      killed = this.kill(lent.connection);
      cut = setTimeout(() => cutOff(lent.connection), ORDER_BOUND_MS);
    });
    try {
      return await task();
    } catch (error) {
      throw reason === null ? error : new StatementCancelledError(reason);
    } finally {
      unwatch();
      clearTimeout(cut);
      await killed;
    }
  }

  /** Ends a transaction with nothing written. A session that does not say that it has is not used again. Never throws. */
  async rollBack(lent: Lent): Promise<void> {
    try {
      await bounded(lent.connection, () => lent.connection.query('rollback'));
    } catch {
      // The server rolls back what a session leaves behind.
      lent.tainted = true;
    }
  }

  async close(boundMs: number): Promise<void> {
    this.closing = true;
    const end = Date.now() + boundMs;
    while (this.lent > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.pool.promise().end();
  }

  private wait(how: RunOptions): Promise<PoolConnection> {
    if (this.closing) return Promise.reject(new NoConnectionError('the source is closed'));
    const late = latenessOf(how);
    if (late !== null) return Promise.reject(new StatementCancelledError(late));
    const began = performance.now();
    const isFree = this.lent < this.settings.maxConnections;
    this.waiting += 1;
    return new Promise<PoolConnection>((resolve, reject) => {
      const start = Date.now();
      let isOver = false;
      const giveUp = (error: Error): void => {
        isOver = true;
        unwatch();
        if (error instanceof StatementCancelledError) this.cancelled(error);
        reject(error);
      };
      const unwatch = this.watch.add(() => {
        const reason = latenessOf(how);
        if (reason !== null) giveUp(new StatementCancelledError(reason));
        else if (Date.now() - start > this.settings.waitTimeoutMs) {
          this.counts.timeouts += 1;
          giveUp(new NoConnectionError('no connection became free in time'));
        }
      });
      this.pool.getConnection((error, connection) => {
        if (error !== null) {
          this.counts.errors += 1;
          return giveUp(error);
        }
        unwatch();
        if (isOver) connection.release();
        else {
          // Where one is opened for it, that is no wait.
          this.counts.waitTime.observe(isFree ? 0 : (performance.now() - began) / 1000);
          resolve(this.withPromises(connection));
        }
      });
    }).finally(() => {
      this.waiting -= 1;
    });
  }

  /** The same one for the same session: to make it takes as long as a small statement. */
  private withPromises(connection: DriverConnection): PoolConnection {
    let made = this.promising.get(connection);
    if (made === undefined) {
      made = connection.promise();
      this.promising.set(connection, made);
    }
    return made;
  }

  /** On a connection of its own: those of the pool may all be busy. */
  private async kill(connection: Connection): Promise<void> {
    try {
      const other = await createConnection({ ...optionsOf(this.target), connectTimeout: ORDER_BOUND_MS });
      try {
        await bounded(other, () => other.query(`kill query ${Number(connection.threadId)}`));
      } finally {
        other.destroy();
      }
    } catch {
      // The server ends the statement by itself when its time is over.
      cutOff(connection);
    }
  }

  private prepare(connection: Connection, more = ''): Promise<void> {
    return bounded(connection, async () => {
      for (const text of this.setup(more)) await connection.query(text);
    });
  }

  private setup(more: string): readonly string[] {
    const { statementTimeoutMs } = this.settings;
    const timeout = statementTimeoutMs === null ? '' : `, max_statement_time = ${statementTimeoutMs / 1_000}`;
    return [
      `set session ${SESSION}, sql_mode = '${SQL_MODE}'${timeout}${more}`,
      'set session transaction isolation level read committed',
      FORGET_WARNINGS,
    ];
  }
}

function optionsOf(target: ConnectionTarget) {
  return {
    ...target,
    charset: 'utf8mb4',
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    // Where an error comes from is known without the stack of every statement.
    trace: false,
    jsonStrings: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    maxPreparedStatements: PREPARED_STATEMENTS,
    // A file of this machine is never read because the server asks for it.
    flags: ['-LOCAL_FILES'],
  };
}

/** Whoever waits for an answer in the session gets an error: of one that is only destroyed, the driver would let them wait for ever. */
function cutOff(connection: Connection): void {
  const { stream } = sessionOf(connection) as { readonly stream: { destroy(): void } };
  stream.destroy();
}

/** A small task in a session, which is cut off when the server does not answer. @throws Error of the driver */
async function bounded<T>(connection: Connection, task: () => Promise<T>, boundMs = ORDER_BOUND_MS): Promise<T> {
  const timer = setTimeout(() => cutOff(connection), boundMs);
  try {
    return await task();
  } finally {
    clearTimeout(timer);
  }
}

/** What stays the same when the pool lends a session again. */
function sessionOf(connection: Connection | PoolConnection): object {
  return 'connection' in connection ? connection.connection : connection;
}

function value(text: string | undefined): Sql {
  return text === undefined ? sql`null` : string(text);
}

/** @throws StatementCancelledError where nobody waits any more */
export function refuseLate(how: RunOptions): void {
  const reason = latenessOf(how);
  if (reason !== null) throw new StatementCancelledError(reason);
}
