import type {
  CatalogFingerprint,
  HealthStatus,
  Listening,
  MutationOptions,
  MutationStatement,
  SnapshotWatch,
  Source,
  SourceAddress,
  TransactionOptions,
} from '../../backend/backend.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import type { Captures } from '../../backend/captures.ts';
import { taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, TableOverview } from '../../catalog/catalog.ts';
import { stopReasonOf } from '../../util/deadline.ts';
import { type PostgresqlCaptureOptions, postgresqlCaptures } from './capture/captures.ts';
import { readCatalogFingerprint } from './catalog-fingerprint.ts';
import { checkParameters, runExchange, SessionConnection, startExchange } from './connection.ts';
import { CancelledError, ConnectionError, DatabaseError, isConnectionFailure, isDeadlock, isStalePlan } from './driver/database-error.ts';
import { WireExchange, type Failure, type WireStep } from './driver/exchange.ts';
import type { AcquireOptions, Pool } from './driver/pool.ts';
import { cancelReason, type DriverSession } from './driver/session.ts';
import { AdaptiveSemaphore } from './driver/adaptive-semaphore.ts';
import { statementError } from './errors.ts';
import { isOutOfReach, mayPrimarySucceed, type Replicas, type Server } from './replicas.ts';
import { localSettings } from './session-settings.ts';
import type {
  Connection,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  SessionSettings,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

export type IsolationLevel = 'read-committed' | 'repeatable-read' | 'serializable';

export interface SourceOptions {
  readonly address: SourceAddress;
  readonly primary: Server;
  readonly replicas: Replicas;
  /** Number of retries of a repeatable statement after a lost connection. */
  readonly retries: number;
  readonly isolation: IsolationLevel;
  /** Default isolation level of the server. */
  readonly serverIsolation: IsolationLevel;
  /**
   * True if other servers take part in transactions (Citus). Such transactions need explicit statements to begin and commit, and accept no
   * text with several definitions: SQL in them is sent statement by statement.
   */
  readonly spread: boolean;
  readonly captures: PostgresqlCaptureOptions;
  readonly listenOn: (channel: string, onMessage: (payload: string | null) => void) => Promise<Listening>;
  readonly watchSnapshots: (intervalMs: number, onSnapshot: (snapshot: string | null) => void) => SnapshotWatch;
}

const BEGIN: Readonly<Record<IsolationLevel, string>> = {
  'read-committed': 'begin isolation level read committed',
  'repeatable-read': 'begin isolation level repeatable read',
  serializable: 'begin isolation level serializable',
};
const COMMIT: WireStep = { text: 'commit', values: [] };
const ROLLBACK: WireStep = { text: 'rollback', values: [] };
const NO_ROW: JsonRow = [];
/** SQLSTATE of a statement that would update a row twice, among others. */
const CARDINALITY_VIOLATION = '21000';
/** Maximum number of retries of statements that were stopped by the cancel request of another one, or whose plan is stale. */
const ACCIDENTS = 5;
const LOST_PAUSE_MS = 10;
/** Maximum attempts of a mutation that a deadlock stops. */
const DEADLOCK_ATTEMPTS = 4;
const CLOSE_BOUND_MS = 10_000;

export class PostgresqlSource implements Source {
  readonly captures: Captures;
  readonly address: SourceAddress;
  readonly #pool: Pool;
  readonly #options: SourceOptions;
  readonly #mutations = new AdaptiveSemaphore();
  readonly #listenings = new Set<Listening>();
  readonly #watches = new Set<SnapshotWatch>();
  readonly #watch = (): void => this.#pool.watch();

  constructor(options: SourceOptions) {
    this.#pool = options.primary.pool;
    this.#options = options;
    this.address = options.address;
    this.captures = postgresqlCaptures(this, options.captures);
  }

  runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    if (!statement.repeatable) {
      return this.#mutate([{ statement, values }], { ...options, settings: [] }, false).then((rows) => rows[0] ?? NO_ROW);
    }
    const server = (options.mayLag === true ? this.#options.replicas.next() : null) ?? this.#options.primary;
    const { tags } = options;
    const { text } = statement;
    const step: WireStep =
      tags === undefined ? { text, values } : { text: taggedText(text, tags), values, once: tags.isUnique, untagged: text };
    return new Promise((resolve, reject) => this.#read(server, step, options, 0, (done) => resolve(done.rows.at(-1) ?? NO_ROW), reject));
  }

  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    options: RunOptions,
  ): Promise<readonly JsonRow[]> {
    if (!statement.repeatable) return this.#alone(options, (connection) => connection.runRows(statement, values, options));
    const step = { text: statement.text, values };
    return new Promise((resolve, reject) =>
      this.#read(this.#options.primary, step, options, 0, (done) => resolve(done.collected ?? []), reject, true),
    );
  }

  async explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    return this.#alone(options, (connection) => connection.explain(statement, values, options));
  }

  async runSql(sql: string, options: RunSqlOptions): Promise<RunSqlResult> {
    return this.#alone(options, (connection) => connection.runSql(sql, options));
  }

  async query(text: string, values: readonly (string | null)[], options: StatementOptions = {}): Promise<RunSqlResult> {
    return this.#alone(options, (connection) => connection.query(text, values, options));
  }

  async introspect(scope?: CatalogScope, options: RunOptions = {}): Promise<Catalog> {
    return this.#alone(options, (connection) => connection.introspect(scope, options));
  }

  tableOverviews(tables?: readonly QualifiedName[], options: RunOptions = {}): Promise<readonly TableOverview[]> {
    return this.#alone(options, (connection) => connection.tableOverviews(tables, options));
  }

  catalogFingerprint(before: CatalogFingerprint | null, options: RunOptions = {}): Promise<CatalogFingerprint> {
    return readCatalogFingerprint((text, values) => this.query(text, values, options), before);
  }

  runMutation(statements: readonly MutationStatement[], options: MutationOptions): Promise<readonly JsonRow[]> {
    return statements.length === 0 ? Promise.resolve([]) : this.#mutate(statements, options, true);
  }

  async transaction<T>(options: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    const begin = BEGIN[options.isolation ?? this.#options.isolation] + (options.readOnly === true ? ' read only' : '');
    const { deadline, signal } = options;
    const session = await this.#acquire({ deadline, signal });
    const { primary, spread } = this.#options;
    const connection = new SessionConnection(
      session,
      this.#watch,
      primary.prelude,
      { text: begin, values: [] },
      { deadline, oneByOne: spread },
    );
    try {
      const settings = [...idleSetting(options), ...(options.settings ?? [])];
      if (settings.length > 0) await configure(connection, settings, true);
      const result = await run(connection);
      // Some statements write nevertheless, such as an explain of "create table as".
      if (options.readOnly === true) await connection.rollback();
      else await connection.commit();
      return result;
    } catch (error) {
      await connection.rollback();
      throw error;
    } finally {
      connection.finish();
      this.#pool.release(session);
    }
  }

  async session<T>(run: (connection: Connection) => Promise<T>, settings?: SessionSettings): Promise<T> {
    if (settings === undefined) return this.#alone({}, run);
    return this.#alone({}, async (connection) => {
      await configure(connection, settings, false);
      return run(connection);
    });
  }

  async health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    const options: RunOptions = { deadline: Date.now() + timeoutMs };
    let session: DriverSession | undefined;
    try {
      session = await this.#pool.acquire(options);
      const steps: WireStep[] = [{ text: 'begin read only', values: [] }, { text: sql, values: [], once: true }, ROLLBACK];
      const done = await runExchange(session, 'text', steps, options, this.#watch);
      if (done.failure !== null) throw done.failure;
      return { status: 'OK' };
    } catch (failure) {
      if (failure instanceof CancelledError) return { status: 'TIMEOUT' };
      return { status: 'ERROR', message: failure instanceof Error ? failure.message : String(failure) };
    } finally {
      if (session !== undefined) {
        session.tainted = true; // the SQL is configured
        this.#pool.release(session);
      }
    }
  }

  async listen(channel: string, onMessage: (payload: string | null) => void): Promise<Listening> {
    const listening = await this.#options.listenOn(channel, onMessage);
    this.#listenings.add(listening);
    return {
      stop: () => {
        this.#listenings.delete(listening);
        return listening.stop();
      },
    };
  }

  watchSnapshots(intervalMs: number, onSnapshot: (snapshot: string | null) => void): SnapshotWatch {
    const watch = this.#options.watchSnapshots(intervalMs, onSnapshot);
    this.#watches.add(watch);
    return {
      poll: () => watch.poll(),
      stop: () => {
        this.#watches.delete(watch);
        watch.stop();
      },
    };
  }

  measures(): readonly ServerMeasures[] {
    const of = (role: ServerMeasures['role'], { state: { size, idle, maxConnections, waiting }, counts }: Pool): ServerMeasures => ({
      ...{ family: 'postgres', role, used: size - idle, idle, maxConnections, pending: waiting, counts },
    });
    return [of('primary', this.#pool), ...this.#options.replicas.pools.map((pool) => of('replica', pool))];
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.stop();
    await Promise.all([...this.#listenings].map((listening) => listening.stop()));
    await Promise.all([this.#pool.close(CLOSE_BOUND_MS), this.#options.replicas.close(CLOSE_BOUND_MS)]);
  }

  /** Runs a repeatable statement, pipelined if that is faster, and retries failures that it did not cause. */
  #read(
    server: Server,
    step: WireStep,
    options: RunOptions,
    attempt: number,
    resolve: (done: WireExchange) => void,
    reject: (error: unknown) => void,
    allRows = false,
  ): void {
    const { pool, prelude, prepare } = server;
    const { primary, replicas } = this.#options;
    const fail = (failure: Failure): void => reject(statementError(failure, { text: step.text, values: step.values, prepared: prepare }));
    const steps = prelude === null ? [step] : [prelude, step];
    const exchange = new WireExchange('json', steps, (done) => {
      const failure = done.failure;
      if (failure === null) {
        pool.costs.record(exchange.costKey, done.duration);
        resolve(done);
        return;
      }
      if (failure instanceof CancelledError && done.ran > 0) pool.costs.recordCancelled(exchange.costKey, done.ran);
      if (server !== primary && isOutOfReach(failure)) replicas.rest(server);
      if (server !== primary && mayPrimarySucceed(failure)) {
        pool.counts.fallbacks += 1;
        options.resultBudget?.release(done.bytes);
        this.#read(primary, step, options, 0, resolve, reject, allRows);
      } else if (this.#mayRepeat(failure, done.accident, attempt)) {
        options.resultBudget?.release(done.bytes);
        const again = (): void => this.#read(server, step, options, attempt + 1, resolve, reject, allRows);
        // Other connections may be lost as well: their loss is noticed during the pause.
        if (isLost(failure)) setTimeout(again, LOST_PAUSE_MS);
        else again();
      } else fail(failure);
    });
    exchange.releasesEarly = true;
    if (allRows) exchange.collected = [];
    if (options.role !== undefined) exchange.role = options.role;
    if (options.resultBudget !== undefined) exchange.resultBudget = options.resultBudget;
    try {
      checkParameters(steps);
    } catch (error) {
      reject(error);
      return;
    }
    if (options.signal !== undefined || options.deadline !== undefined) {
      exchange.signal = options.signal;
      if (options.deadline !== undefined) exchange.deadline = options.deadline;
      const late = cancelReason(exchange, Date.now());
      if (late !== null) {
        fail(new CancelledError(late));
        return;
      }
    }
    pool.read(exchange);
  }

  #mayRepeat(failure: Failure, accident: boolean, attempt: number): boolean {
    if (accident) return attempt < ACCIDENTS;
    if (failure instanceof DatabaseError && isStalePlan(failure)) return attempt < ACCIDENTS;
    if (isDeadlock(failure)) return attempt + 1 < DEADLOCK_ATTEMPTS;
    return isLost(failure) && attempt < this.#options.retries;
  }

  /**
   * All statements up to a Sync message are one transaction, so that one flush needs no BEGIN and COMMIT: settings and statements take
   * effect together or not at all. Another isolation level than the server's default needs them, and so do extensions that write on other
   * servers.
   */
  async #mutate(statements: readonly MutationStatement[], options: MutationOptions, transactional: boolean): Promise<readonly JsonRow[]> {
    const { fallback } = options;
    const isolation = options.isolation ?? this.#options.isolation;
    const explicit = this.#options.spread || (transactional && isolation !== this.#options.serverIsolation);
    const steps: WireStep[] = [];
    if (explicit) steps.push({ text: BEGIN[isolation], values: [] });
    if (this.#options.primary.prelude !== null) steps.push(this.#options.primary.prelude);
    if (options.settings.length > 0) steps.push(localSettings(options.settings));
    const first = steps.length;
    const { tags } = options;
    for (const { statement, values, once = false } of statements)
      steps.push({ text: taggedText(statement.text, tags), values, once: once || tags?.isUnique === true });
    if (explicit) steps.push(COMMIT);
    checkParameters(steps);

    for (let attempt = 0; ; attempt++) {
      const done = await this.#admitted(steps, options);
      const failure = done.failure;
      if (failure === null) return done.rows.slice(first, first + statements.length);
      // Nothing has taken effect: all statements were one transaction.
      options.resultBudget?.release(done.bytes);
      if (attempt === 0 && failure instanceof DatabaseError && isStalePlan(failure)) continue;
      if (isDeadlock(failure) && attempt + 1 < DEADLOCK_ATTEMPTS) continue;
      if (fallback !== undefined && failure instanceof DatabaseError && failure.code === CARDINALITY_VIOLATION) {
        return this.#mutate(fallback(), { ...options, fallback: undefined }, transactional);
      }
      const step = steps[Math.min(done.position, steps.length - 1)] as WireStep;
      const statement = statements[done.position - first];
      throw statementError(failure, {
        text: step.text,
        values: step.values,
        prepared: this.#options.primary.prepare && step.once !== true,
        path: statement?.path,
        failures: statement?.failures,
        rows: statement?.rows,
      });
    }
  }

  /** Runs the steps of a mutation when the semaphore admits them. */
  #admitted(steps: readonly WireStep[], options: RunOptions): Promise<WireExchange> {
    const wait = this.#mutations.acquire();
    return wait === null ? this.#runAdmitted(steps, options) : wait.then(() => this.#runAdmitted(steps, options));
  }

  /** One promise for all steps: each further one would cost a microtask per mutation. */
  #runAdmitted(steps: readonly WireStep[], options: RunOptions): Promise<WireExchange> {
    return new Promise((resolve, reject) => {
      const fail = (failure: Failure): void => {
        this.#mutations.release(null);
        reject(statementError(failure, { text: '', values: [], prepared: false }));
      };
      const run = (session: DriverSession): void => {
        const settle = (done: WireExchange): void => {
          this.#releaseSession(session);
          this.#mutations.release(done.duration);
          resolve(done);
        };
        const exchange = new WireExchange('json', steps, settle);
        exchange.resultBudget = options.resultBudget ?? null;
        exchange.continues = true;
        startExchange(session, exchange, options, this.#watch);
      };
      const late = stopReasonOf(options);
      if (late === null) this.#pool.acquireFor(options, run, fail);
      else fail(new CancelledError(late));
    });
  }

  /** Releases the session, after a rollback if it is in a transaction. */
  #releaseSession(session: DriverSession): void {
    if (session.status === 'I' || session.isClosed) {
      this.#pool.release(session);
      return;
    }
    session.use = 'alone'; // released at the end of the exchange
    session.send(new WireExchange('json', [ROLLBACK], () => {}));
  }

  async #alone<T>(options: AcquireOptions, run: (connection: SessionConnection) => Promise<T>): Promise<T> {
    const session = await this.#acquire(options);
    const connection = new SessionConnection(session, this.#watch, this.#options.primary.prelude, null);
    try {
      return await run(connection);
    } finally {
      connection.finish();
      this.#pool.release(session);
    }
  }

  async #acquire(options: AcquireOptions): Promise<DriverSession> {
    try {
      const late = stopReasonOf(options);
      if (late !== null) throw new CancelledError(late);
      return await this.#pool.acquire(options);
    } catch (failure) {
      throw statementError(failure, { text: '', values: [], prepared: false });
    }
  }
}

function isLost(failure: Failure): boolean {
  return failure instanceof ConnectionError ? failure.kind === 'lost' : isConnectionFailure(failure);
}

function idleSetting({ idleMs }: TransactionOptions): SessionSettings {
  return idleMs === undefined ? [] : [['idle_in_transaction_session_timeout', String(idleMs)]];
}

/** Sets settings in a session for SQL of administrators, which is not reused afterwards. */
async function configure(connection: Connection, settings: SessionSettings, local: boolean): Promise<void> {
  const calls = settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, ${local})`);
  await connection.query(`select ${calls.join(', ')}`, settings.flat());
}
