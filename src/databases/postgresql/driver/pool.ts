/**
 * The connections of one source. Quick repeatable statements share a few connections (readers), on which they are pipelined up to a limit
 * if no connection is idle. All others have a connection of their own while they run: statements that may not be repeated, those of unknown
 * cost, slow ones, transactions. Waiting statements are served round robin by role, and the last connections are reserved for roles that
 * have few. See docs/adr/0001-postgresql-driver.md.
 */
import { CancelledError, ConnectionError, PoolTimeoutError } from './database-error.ts';
import type { WireExchange, Failure } from './exchange.ts';
import { Openings } from './openings.ts';
import { cancelReason, type DriverSession, type SessionOwner } from './session.ts';
import { ConnectionCounts } from '../../../backend/connection-counts.ts';
import { StatementCosts } from './statement-costs.ts';
import { WaitingQueues } from './waiting-queues.ts';
import type { Cancellation } from '../../../util/cancellation.ts';

export interface PoolSettings {
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
  /** Infinity for unlimited. */
  readonly lifetimeMs: number;
  /** Timeout for a connection; Infinity for unlimited. */
  readonly waitTimeoutMs: number;
  /** Number of retries for opening a connection. */
  readonly retries: number;
}

export interface AcquireOptions {
  /** Role of the request. Absent for the service itself. */
  readonly role?: string | undefined;
  readonly signal?: Cancellation | undefined;
  readonly deadline?: number | undefined;
}

interface Waiter {
  /** A repeatable statement, which may run on a reader; `null` to acquire a connection. */
  readonly exchange: WireExchange | null;
  readonly take: (session: DriverSession) => void;
  readonly fail: (failure: Failure) => void;
  readonly signal: Cancellation | undefined;
  readonly deadline: number;
  readonly since: number;
  /** Arrival by `performance.now()`; `since` is the same moment in epoch milliseconds. */
  readonly began: number;
  readonly role: string;
  /** Number of earlier arrivals. */
  arrival: number;
}

const READERS = 4;
const DEPTH = 32;
/** Maximum duration of pipelined statements, in milliseconds. */
const SLOW_MS = 50;
/**
 * Maximum of the expected time for which statements of one turn of the event loop share a connection, in milliseconds, although another one
 * is idle: one write to the server costs the service about as much as all else of a short request.
 */
const TOGETHER_MS = 1;
/** Duration above which a statement shares no connection with others of its turn while it is remembered, in milliseconds. */
const RISKY_MS = 10;
/** Running time after which no statement is queued behind another one. */
const STUCK_MS = 20;
const TICK_MS = 20;
const SWEEP_MS = 1_000;
/** Maximum number of connections that are opened at the same time: the first ones may suffice for all. */
const OPENING = 4;
/** Share of the connections that is reserved for roles that have few; none of fewer than eight. */
const PART_RESERVED = 1 / 8;
/** Maximum number of waiting statements per role; further ones are refused. */
const MAX_WAITING = 10_000;
/** Role of the service itself. */
const SERVICE_ROLE = '';

export class Pool implements SessionOwner {
  readonly costs = new StatementCosts();
  readonly counts = new ConnectionCounts();
  readonly #settings: PoolSettings;
  readonly #onEvent: (kind: string, message: string) => void;
  readonly #maxReaders: number;
  readonly #sessions = new Set<DriverSession>();
  readonly #idle: DriverSession[] = [];
  readonly #readers: DriverSession[] = [];
  readonly #waiting = new WaitingQueues<Waiter>();
  readonly #reserved: number;
  readonly #openings: Openings;
  #arrivals = 0;
  #closing: (() => void) | null = null;
  #closed = false;
  #ticker: NodeJS.Timeout | null = null;
  #sweeper: NodeJS.Timeout | null = null;

  constructor(open: () => Promise<DriverSession>, settings: PoolSettings, onEvent: (kind: string, message: string) => void) {
    this.#settings = settings;
    this.#onEvent = onEvent;
    this.#openings = new Openings({ open, retries: settings.retries, counts: this.counts });
    this.#reserved = Math.floor(settings.maxConnections * PART_RESERVED);
    this.#maxReaders = Math.max(1, Math.min(READERS, settings.maxConnections - 1));
  }

  /** Opens the first connection. @throws ConnectionError */
  start(): Promise<void> {
    return this.#openings.first((session) => this.#adopt(session));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Numbers of open, idle and permitted connections, and of waiting statements. */
  get state(): { readonly size: number; readonly idle: number; readonly maxConnections: number; readonly waiting: number } {
    const { maxConnections } = this.#settings;
    return { size: this.#sessions.size, idle: this.#idle.length, maxConnections, waiting: this.#waiting.size };
  }

  /** Runs a repeatable statement on the most suitable connection. */
  read(exchange: WireExchange): void {
    if (exchange.signal !== undefined || exchange.deadline !== Number.POSITIVE_INFINITY) this.watch();
    if (!this.#closed) {
      if (this.#isQuick(exchange)) {
        if (this.#place(exchange)) {
          this.counts.waitTime.observe(0);
          return;
        }
      } else {
        const session = this.#takeIdle(exchange.role);
        if (session !== undefined) {
          this.counts.waitTime.observe(0);
          this.#runAlone(session, exchange);
          return;
        }
      }
    }
    this.#enqueue({
      exchange,
      take: (free) => this.#runAlone(free, exchange),
      fail: (failure) => {
        exchange.failure = failure;
        exchange.settled = true;
        exchange.settle(exchange);
      },
      signal: exchange.signal,
      deadline: exchange.deadline,
      since: Date.now(),
      began: performance.now(),
      role: exchange.role,
      arrival: 0,
    });
  }

  /** Acquires a connection, which the caller releases. @throws Failure */
  acquire(options: AcquireOptions): Promise<DriverSession> {
    return new Promise((resolve, reject) => this.acquireFor(options, resolve, reject));
  }

  /** Like `acquire`, but calls `take` synchronously if a connection is idle. */
  acquireFor(options: AcquireOptions, take: (session: DriverSession) => void, fail: (failure: Failure) => void): void {
    const role = options.role ?? SERVICE_ROLE;
    const session = this.#takeIdle(role);
    if (session !== undefined) {
      session.use = 'acquired';
      this.counts.waitTime.observe(0);
      take(session);
      return;
    }
    this.#enqueue({
      exchange: null,
      take: (free) => {
        free.use = 'acquired';
        // Not synchronously: it may return the connection before the next statement is served.
        queueMicrotask(() => take(free));
      },
      fail,
      signal: options.signal,
      deadline: options.deadline ?? Number.POSITIVE_INFINITY,
      since: Date.now(),
      began: performance.now(),
      role,
      arrival: 0,
    });
  }

  release(session: DriverSession): void {
    session.use = 'alone';
    this.ready(session);
  }

  /** Starts the check of signals and deadlines. */
  watch(): void {
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** Refuses new statements, waits for running ones, then closes all connections. */
  async close(boundMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const session of this.#idle.splice(0)) this.#retire(session);
    if (this.#sessions.size > 0 || this.#waiting.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, boundMs);
        this.#closing = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#checkClosed();
      });
    }
    const reason = new ConnectionError('open', 'the source is closed');
    for (const waiter of this.#waiting.remove(() => true)) waiter.fail(reason);
    for (const session of [...this.#sessions]) session.destroy(reason);
    if (this.#ticker !== null) clearInterval(this.#ticker);
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
  }

  // SessionOwner

  ready(session: DriverSession): void {
    if (session.use === 'acquired' || session.use === 'idle') return;
    if (session.inFlight > 0) {
      if (this.#waiting.size > 0) this.#serve();
      return;
    }
    // A pending cancel request could cancel the next statement.
    if (session.cancelsOpen > 0) return;
    if (session.use === 'reader') this.#removeReader(session);
    this.#makeIdle(session);
  }

  settled({ failure, duration }: WireExchange): void {
    if (duration > 0) this.counts.queryTime.observe(duration / 1000);
    if (failure instanceof CancelledError) this.#countCancelled(failure);
  }

  lost(session: DriverSession, reason: ConnectionError): void {
    this.#forget(session);
    if (!this.#closed) this.counts.errors += 1;
    if (!this.#closed) this.#onEvent('connection-lost', reason.message);
    if (this.#waiting.size > 0) this.#serve();
  }

  #countCancelled({ reason }: CancelledError): void {
    if (reason === 'deadline') this.counts.timedOut += 1;
    else this.counts.cancelled += 1;
  }

  #isQuick(exchange: WireExchange): boolean {
    const cost = this.costs.of(exchange.costKey);
    if (cost === null) return false;
    exchange.expected = cost.longest > RISKY_MS ? Math.max(2 * TOGETHER_MS, cost.ms) : cost.ms;
    return cost.ms <= SLOW_MS;
  }

  /** @param role for which it is used exclusively; `null` if it is shared */
  #takeIdle(role: string | null): DriverSession | undefined {
    if (this.#idle.length === 0 || (role !== null && !this.#mayTake(role))) return undefined;
    for (;;) {
      const session = this.#idle.pop();
      if (session === undefined) return undefined;
      if (Date.now() - session.openedAt <= this.#settings.lifetimeMs) {
        session.role = role ?? SERVICE_ROLE;
        return session;
      }
      this.#retire(session);
    }
  }

  /** Returns whether a role may take a connection: the last ones are for roles that have few, so that one role cannot fill the pool. */
  #mayTake(role: string): boolean {
    const free = this.#settings.maxConnections - (this.#sessions.size - this.#idle.length);
    if (free > this.#reserved || role === SERVICE_ROLE) return true;
    let held = 0;
    for (const { use, role: owner } of this.#sessions) if (owner === role && (use === 'alone' || use === 'acquired')) held++;
    return held < Math.max(1, this.#reserved >> 1);
  }

  #runAlone(session: DriverSession, exchange: WireExchange): void {
    session.use = 'alone';
    session.send(exchange);
  }

  #runShared(session: DriverSession, exchange: WireExchange): void {
    session.use = 'reader';
    this.#readers.push(session);
    session.send(exchange);
  }

  /** Sends a quick statement on a reader. Returns false if it has to wait. */
  #place(exchange: WireExchange): boolean {
    const now = performance.now();
    let best: DriverSession | null = null;
    for (const reader of this.#readers) {
      if (reader.draining || reader.cancelsOpen > 0 || reader.inFlight >= DEPTH) continue;
      if (reader.inFlight > 0 && now - reader.headSince > STUCK_MS) continue;
      if (reader.isWriting && reader.expected + exchange.expected <= TOGETHER_MS) {
        reader.send(exchange);
        return true;
      }
      if (best === null || reader.inFlight < best.inFlight) best = reader;
    }
    if (best === null || this.#readers.length < this.#maxReaders) {
      const session = this.#takeIdle(null);
      if (session !== undefined) {
        this.#runShared(session, exchange);
        return true;
      }
    }
    if (best === null) return false;
    best.send(exchange);
    // For later statements.
    while (this.#readers.length + this.#openings.count < this.#maxReaders && this.#grow());
    return true;
  }

  #enqueue(waiter: Waiter): void {
    if (this.#closed) {
      waiter.fail(new ConnectionError('open', 'the source is closed'));
      return;
    }
    if (this.#waiting.sizeOf(waiter.role) >= MAX_WAITING) {
      this.counts.timeouts += 1;
      waiter.fail(new PoolTimeoutError('too many statements wait for a connection'));
      return;
    }
    waiter.arrival = this.#arrivals++;
    this.#waiting.push(waiter);
    if (
      waiter.signal !== undefined ||
      waiter.deadline !== Number.POSITIVE_INFINITY ||
      this.#settings.waitTimeoutMs !== Number.POSITIVE_INFINITY
    )
      this.watch();
    if (this.#openings.count < this.#waiting.size && !this.#grow()) this.#drainReaders();
  }

  /** Serves waiting statements round robin. */
  #serve(): void {
    while (this.#waiting.serveOne(this.#serveWaiter));
    while (this.#openings.count < this.#waiting.size && this.#grow());
    this.#drainReaders();
  }

  readonly #serveWaiter = (waiter: Waiter): boolean => {
    if (waiter.exchange !== null && this.#isQuick(waiter.exchange)) {
      if (!this.#place(waiter.exchange)) return false;
    } else {
      const session = this.#takeIdle(waiter.role);
      if (session === undefined) return false;
      waiter.take(session);
    }
    this.counts.waitTime.observe((performance.now() - waiter.began) / 1000);
    return true;
  };

  /** Opens one more connection in the background, if the limits allow it. */
  #grow(): boolean {
    if (
      this.#openings.count >= OPENING ||
      this.#sessions.size + this.#openings.count >= this.#settings.maxConnections ||
      (this.#closed && this.#waiting.size === 0)
    )
      return false;
    this.#openings.begin(
      (session) => this.#adopt(session),
      (opening, error) => {
        this.#onEvent('connection-failed', error.message);
        this.#giveUp(opening, error);
        this.#checkClosed();
      },
    );
    return true;
  }

  /** Fails waiting statements if there is no connection and none can be opened. */
  #giveUp(failed: object, error: ConnectionError): void {
    // Waiting statements are served after running ones.
    if (this.#sessions.size > 0) {
      this.#openings.trust();
      return;
    }
    const since = this.#openings.failedSince(failed, this.#arrivals);
    if (since === null) return;
    for (const waiter of this.#waiting.remove(({ arrival }) => arrival < since)) waiter.fail(error);
    // Later arrivals may need another opening.
    while (this.#openings.count < this.#waiting.size && this.#grow());
  }

  #adopt(session: DriverSession): void {
    this.#sessions.add(session);
    session.owner = this;
    if (session.isClosed) {
      this.#forget(session);
      return;
    }
    this.#makeIdle(session);
    if (this.#sweeper === null && !this.#closed) {
      this.#sweeper = setInterval(() => this.#sweepIdle(), SWEEP_MS);
      this.#sweeper.unref();
    }
  }

  /** Drains as many readers as statements need a connection of their own, once no more connections can be opened. */
  #drainReaders(): void {
    if (this.#readers.length === 0 || this.#sessions.size + this.#openings.count < this.#settings.maxConnections) return;
    let needed = 0;
    for (const waiter of this.#waiting) if (waiter.exchange === null || !this.#isQuick(waiter.exchange)) needed++;
    for (const reader of this.#readers) if (reader.draining) needed--;
    for (const reader of this.#readers) {
      if (needed <= 0) return;
      if (reader.draining) continue;
      reader.draining = true;
      needed--;
    }
  }

  #makeIdle(session: DriverSession): void {
    session.draining = false;
    if (session.isClosed) {
      this.#forget(session);
      return;
    }
    const tooOld = Date.now() - session.openedAt > this.#settings.lifetimeMs;
    if (session.tainted || session.status !== 'I' || tooOld || (this.#closed && this.#waiting.size === 0)) {
      this.#retire(session);
      if (this.#waiting.size > 0) this.#serve();
      return;
    }
    session.use = 'idle';
    session.idleSince = Date.now();
    this.#idle.push(session);
    if (this.#waiting.size > 0) this.#serve();
    if (this.#closed) for (const rest of this.#idle.splice(0)) this.#retire(rest);
  }

  #retire(session: DriverSession): void {
    this.#forget(session);
    session.end();
  }

  #forget(session: DriverSession): void {
    this.#sessions.delete(session);
    const at = this.#idle.indexOf(session);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#removeReader(session);
    this.#checkClosed();
  }

  #removeReader(session: DriverSession): void {
    const at = this.#readers.indexOf(session);
    if (at >= 0) this.#readers.splice(at, 1);
  }

  #checkClosed(): void {
    if (this.#closing !== null && this.#sessions.size === 0 && this.#waiting.size === 0 && this.#openings.count === 0) this.#closing();
  }

  #sweepIdle(): void {
    const now = Date.now();
    const over = (session: DriverSession): boolean =>
      now - session.idleSince > this.#settings.idleTimeoutMs || now - session.openedAt > this.#settings.lifetimeMs;
    for (const session of this.#idle.filter(over)) this.#retire(session);
    // A reader under constant load never becomes idle.
    for (const reader of this.#readers) if (now - reader.openedAt > this.#settings.lifetimeMs) reader.draining = true;
    if (this.#sessions.size === 0 && this.#sweeper !== null) {
      clearInterval(this.#sweeper);
      this.#sweeper = null;
    }
  }

  #tick(): void {
    const now = Date.now();
    let watched = false;
    for (const session of [...this.#sessions]) if (session.sweep(now)) watched = true;
    const late = ({ since }: Waiter): boolean => now - since > this.#settings.waitTimeoutMs;
    for (const waiter of this.#waiting.remove((each) => cancelReason(each, now) !== null || late(each))) {
      const reason = cancelReason(waiter, now);
      const failure = reason !== null ? new CancelledError(reason) : new PoolTimeoutError('no connection became free in time');
      if (failure instanceof CancelledError) this.#countCancelled(failure);
      else this.counts.timeouts += 1;
      waiter.fail(failure);
    }
    if (this.#waiting.size > 0) watched = true;
    // Statements may wait because a reader is stuck.
    if (this.#waiting.size > 0) this.#serve();
    if (!watched && this.#ticker !== null) {
      clearInterval(this.#ticker);
      this.#ticker = null;
    }
  }
}
