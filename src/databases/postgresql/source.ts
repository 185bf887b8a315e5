import type {
  CatalogMark,
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
import type { Catalog, CatalogScope, QualifiedName, SurveyedTable } from '../../catalog/catalog.ts';
import { latenessOf } from '../../util/unless-late.ts';
import { type PostgresqlCaptureOptions, postgresqlCaptures } from './capture/captures.ts';
import { readMark } from './catalog-mark.ts';
import { checkParameters, runExchange, SessionConnection, startExchange } from './connection.ts';
import { CancelledError, ConnectionError, DatabaseError, isConnectionFailure, isDeadlock, isStalePlan } from './driver/database-error.ts';
import { WireExchange, type Failure, type WireStep } from './driver/exchange.ts';
import type { LendOptions, Pool } from './driver/pool.ts';
import { cancelReason, type DriverSession } from './driver/session.ts';
import { Turnstile } from './driver/turnstile.ts';
import { statementError } from './errors.ts';
import { isOutOfReach, isReplicasFault, type Replicas, type Server } from './replicas.ts';
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
  /** How often a repeatable statement is sent again when its connection broke. */
  readonly retries: number;
  readonly isolation: IsolationLevel;
  /** The level of the server's transactions that name none. */
  readonly serverIsolation: IsolationLevel;
  /**
   * Whether other servers take part in transactions (Citus): they know one by the words that begin and commit it only, and take no text
   * with several definitions, so that SQL in a transaction is sent statement by statement.
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
/** Also of a statement that would update a row twice. */
const CARDINALITY_VIOLATION = '21000';
/** Statements that were hit by somebody else's cancel request, or whose plan is stale, are sent again so often. */
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
  readonly #turnstile = new Turnstile();
  readonly #listenings = new Set<Listening>();
  readonly #watches = new Set<SnapshotWatch>();
  readonly #watch = (): void => this.#pool.watch();

  constructor(options: SourceOptions) {
    this.#pool = options.primary.pool;
    this.#options = options;
    this.address = options.address;
    this.captures = postgresqlCaptures(this, options.captures);
  }

  runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    if (!statement.repeatable) {
      return this.#mutate([{ statement, values }], { ...how, settings: [] }, false).then((rows) => rows[0] ?? NO_ROW);
    }
    const server = (how.mayLag === true ? this.#options.replicas.next() : null) ?? this.#options.primary;
    const { tags } = how;
    const { text } = statement;
    const step: WireStep =
      tags === undefined ? { text, values } : { text: taggedText(text, tags), values, once: tags.isUnique, untagged: text };
    return new Promise((resolve, reject) => this.#read(server, step, how, 0, (done) => resolve(done.rows.at(-1) ?? NO_ROW), reject));
  }

  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    how: RunOptions,
  ): Promise<readonly JsonRow[]> {
    if (!statement.repeatable) return this.#alone(how, (connection) => connection.runRows(statement, values, how));
    const step = { text: statement.text, values };
    return new Promise((resolve, reject) =>
      this.#read(this.#options.primary, step, how, 0, (done) => resolve(done.collected ?? []), reject, true),
    );
  }

  async explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]> {
    return this.#alone(how, (connection) => connection.explain(statement, values, how));
  }

  async runSql(sql: string, how: RunSqlOptions): Promise<RunSqlResult> {
    return this.#alone(how, (connection) => connection.runSql(sql, how));
  }

  async query(text: string, values: readonly (string | null)[], how: StatementOptions = {}): Promise<RunSqlResult> {
    return this.#alone(how, (connection) => connection.query(text, values, how));
  }

  async introspect(scope?: CatalogScope, how: RunOptions = {}): Promise<Catalog> {
    return this.#alone(how, (connection) => connection.introspect(scope, how));
  }

  survey(tables?: readonly QualifiedName[], how: RunOptions = {}): Promise<readonly SurveyedTable[]> {
    return this.#alone(how, (connection) => connection.survey(tables, how));
  }

  catalogMark(before: CatalogMark | null, how: RunOptions = {}): Promise<CatalogMark> {
    return readMark((text, values) => this.query(text, values, how), before);
  }

  runMutation(statements: readonly MutationStatement[], how: MutationOptions): Promise<readonly JsonRow[]> {
    return statements.length === 0 ? Promise.resolve([]) : this.#mutate(statements, how, true);
  }

  async transaction<T>(how: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    const begin = BEGIN[how.isolation ?? this.#options.isolation] + (how.readOnly === true ? ' read only' : '');
    const { deadline, signal } = how;
    const session = await this.#lend({ deadline, signal });
    const { primary, spread } = this.#options;
    const connection = new SessionConnection(
      session,
      this.#watch,
      primary.prelude,
      { text: begin, values: [] },
      { deadline, oneByOne: spread },
    );
    try {
      const settings = [...idleSetting(how), ...(how.settings ?? [])];
      if (settings.length > 0) await configure(connection, settings, true);
      const result = await run(connection);
      // Some statements write all the same, such as an explain of "create table as": nothing of them is to stand.
      if (how.readOnly === true) await connection.rollback();
      else await connection.commit();
      return result;
    } catch (error) {
      await connection.rollback();
      throw error;
    } finally {
      connection.finish();
      this.#pool.giveBack(session);
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
    const how: RunOptions = { deadline: Date.now() + timeoutMs };
    let session: DriverSession | undefined;
    try {
      session = await this.#pool.lend(how);
      const steps: WireStep[] = [{ text: 'begin read only', values: [] }, { text: sql, values: [], once: true }, ROLLBACK];
      const done = await runExchange(session, 'text', steps, how, this.#watch);
      if (done.failure !== null) throw done.failure;
      return { status: 'OK' };
    } catch (failure) {
      if (failure instanceof CancelledError) return { status: 'TIMEOUT' };
      return { status: 'ERROR', message: failure instanceof Error ? failure.message : String(failure) };
    } finally {
      if (session !== undefined) {
        session.tainted = true; // the text is the administrator's
        this.#pool.giveBack(session);
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
      ask: () => watch.ask(),
      stop: () => {
        this.#watches.delete(watch);
        watch.stop();
      },
    };
  }

  measures(): readonly ServerMeasures[] {
    const of = (role: ServerMeasures['role'], { state: { size, idle, most, waiting }, counts }: Pool): ServerMeasures => ({
      ...{ family: 'postgres', role, used: size - idle, idle, most, pending: waiting, counts },
    });
    return [of('primary', this.#pool), ...this.#options.replicas.pools.map((pool) => of('replica', pool))];
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.stop();
    await Promise.all([...this.#listenings].map((listening) => listening.stop()));
    await Promise.all([this.#pool.close(CLOSE_BOUND_MS), this.#options.replicas.close(CLOSE_BOUND_MS)]);
  }

  /** A repeatable statement: pipelined when that helps, sent again when it was not its own fault. */
  #read(
    server: Server,
    step: WireStep,
    how: RunOptions,
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
      if (server !== primary && isOutOfReach(failure)) replicas.rest(server);
      if (server !== primary && isReplicasFault(failure)) {
        pool.counts.fallbacks += 1;
        how.intake?.giveBack(done.bytes);
        this.#read(primary, step, how, 0, resolve, reject, allRows);
      } else if (this.#mayRepeat(failure, done.accident, attempt)) {
        how.intake?.giveBack(done.bytes);
        const again = (): void => this.#read(server, step, how, attempt + 1, resolve, reject, allRows);
        // What ended one connection may have ended others: a moment, to hear of it.
        if (isLost(failure)) setTimeout(again, LOST_PAUSE_MS);
        else again();
      } else fail(failure);
    });
    exchange.releasesEarly = true;
    if (allRows) exchange.collected = [];
    if (how.turn !== undefined) exchange.turn = how.turn;
    if (how.intake !== undefined) exchange.intake = how.intake;
    try {
      checkParameters(steps);
    } catch (error) {
      reject(error);
      return;
    }
    if (how.signal !== undefined || how.deadline !== undefined) {
      exchange.signal = how.signal;
      if (how.deadline !== undefined) exchange.deadline = how.deadline;
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
   * Everything between two points of synchronisation is one transaction to the server, so a single
   * flush needs no BEGIN and no COMMIT: settings and statements take effect together or not at all.
   * Another isolation level than the server's usual one does need them, and so do extensions that write on other servers.
   */
  async #mutate(statements: readonly MutationStatement[], how: MutationOptions, transactional: boolean): Promise<readonly JsonRow[]> {
    const { apart } = how;
    const isolation = how.isolation ?? this.#options.isolation;
    const explicit = this.#options.spread || (transactional && isolation !== this.#options.serverIsolation);
    const steps: WireStep[] = [];
    if (explicit) steps.push({ text: BEGIN[isolation], values: [] });
    if (this.#options.primary.prelude !== null) steps.push(this.#options.primary.prelude);
    if (how.settings.length > 0) steps.push(localSettings(how.settings));
    const first = steps.length;
    const { tags } = how;
    for (const { statement, values, once = false } of statements)
      steps.push({ text: taggedText(statement.text, tags), values, once: once || tags?.isUnique === true });
    if (explicit) steps.push(COMMIT);
    checkParameters(steps);

    for (let attempt = 0; ; attempt++) {
      const done = await this.#inTurn(steps, how);
      const failure = done.failure;
      if (failure === null) return done.rows.slice(first, first + statements.length);
      // The server refused before anything took effect: all of it was one transaction.
      how.intake?.giveBack(done.bytes);
      if (attempt === 0 && failure instanceof DatabaseError && isStalePlan(failure)) continue;
      if (isDeadlock(failure) && attempt + 1 < DEADLOCK_ATTEMPTS) continue;
      if (apart !== undefined && failure instanceof DatabaseError && failure.code === CARDINALITY_VIOLATION) {
        return this.#mutate(apart(), { ...how, apart: undefined }, transactional);
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

  /** Runs the steps of a mutation when it is their turn. */
  #inTurn(steps: readonly WireStep[], how: RunOptions): Promise<WireExchange> {
    const wait = this.#turnstile.enter();
    return wait === null ? this.#runInside(steps, how) : wait.then(() => this.#runInside(steps, how));
  }

  /** One promise for all: each more is a turn of the queue of microtasks, for every mutation. */
  #runInside(steps: readonly WireStep[], how: RunOptions): Promise<WireExchange> {
    return new Promise((resolve, reject) => {
      const fail = (failure: Failure): void => {
        this.#turnstile.leave(null);
        reject(statementError(failure, { text: '', values: [], prepared: false }));
      };
      const run = (session: DriverSession): void => {
        const settle = (done: WireExchange): void => {
          this.#cleanUp(session);
          this.#turnstile.leave(done.duration);
          resolve(done);
        };
        const exchange = new WireExchange('json', steps, settle);
        exchange.intake = how.intake ?? null;
        exchange.goesOn = true;
        startExchange(session, exchange, how, this.#watch);
      };
      const late = latenessOf(how);
      if (late === null) this.#pool.lendTo(how, run, fail);
      else fail(new CancelledError(late));
    });
  }

  /** Gives the session back, out of any transaction. */
  #cleanUp(session: DriverSession): void {
    if (session.status === 'I' || session.isClosed) {
      this.#pool.giveBack(session);
      return;
    }
    session.use = 'alone'; // given back by itself when this is done
    session.send(new WireExchange('json', [ROLLBACK], () => {}));
  }

  async #alone<T>(how: LendOptions, run: (connection: SessionConnection) => Promise<T>): Promise<T> {
    const session = await this.#lend(how);
    const connection = new SessionConnection(session, this.#watch, this.#options.primary.prelude, null);
    try {
      return await run(connection);
    } finally {
      connection.finish();
      this.#pool.giveBack(session);
    }
  }

  async #lend(how: LendOptions): Promise<DriverSession> {
    try {
      const late = latenessOf(how);
      if (late !== null) throw new CancelledError(late);
      return await this.#pool.lend(how);
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

/** In a session in which SQL of administrators is going to run: it is not used again as it is. */
async function configure(connection: Connection, settings: SessionSettings, local: boolean): Promise<void> {
  const calls = settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, ${local})`);
  await connection.query(`select ${calls.join(', ')}`, settings.flat());
}
