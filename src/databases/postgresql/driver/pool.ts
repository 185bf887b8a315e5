/**
 * The connections of one source. Repeatable statements that are known to be quick share a few
 * connections (readers), on which they are pipelined up to a bound when no connection is idle;
 * everything else has a connection alone while it runs: statements that may not be repeated, ones
 * of unknown cost, slow ones, transactions. Those who wait take turns by role, and the last connections
 * are not for a role that has many already. See docs/adr/0001-postgresql-driver.md.
 */
import { CancelledError, ConnectionError, PoolTimeoutError } from './database-error.ts';
import type { WireExchange, Failure } from './exchange.ts';
import { Openings } from './openings.ts';
import { cancelReason, type DriverSession, type SessionOwner } from './session.ts';
import { ConnectionCounts } from '../../../backend/connection-counts.ts';
import { StatementCosts } from './statement-costs.ts';
import { WaitingLines } from './waiting-line.ts';
import type { Cancellation } from '../../../util/cancellation.ts';

export interface PoolSettings {
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
  /** Infinity is never. */
  readonly lifetimeMs: number;
  /** How long a statement waits for a connection; Infinity is for ever. */
  readonly waitTimeoutMs: number;
  /** How often opening a connection is tried again. */
  readonly retries: number;
}

export interface LendOptions {
  /** Whose turn it is used up by: a role; absent: the service itself. */
  readonly turn?: string | undefined;
  readonly signal?: Cancellation | undefined;
  readonly deadline?: number | undefined;
}

interface Waiter {
  /** A repeatable statement, for which a reader may do; null when a connection is to be lent. */
  readonly exchange: WireExchange | null;
  readonly take: (session: DriverSession) => void;
  readonly fail: (failure: Failure) => void;
  readonly signal: Cancellation | undefined;
  readonly deadline: number;
  readonly since: number;
  /** The same by `performance.now()`. */
  readonly began: number;
  readonly turn: string;
  /** How many have come to wait before. */
  arrival: number;
}

const READERS = 4;
const DEPTH = 32;
/** A statement that took longer is not pipelined. */
const SLOW_MS = 50;
/** Nothing is put behind a statement that has been running for so long. */
const STUCK_MS = 20;
const TICK_MS = 20;
const SWEEP_MS = 1_000;
/** So many connections are opened side by side: meanwhile the first ones may do for all. */
const OPENING = 4;
/** This part of the connections is kept for roles that have few; none of fewer than eight. */
const PART_RESERVED = 1 / 8;
/** So many wait at most for one role; who comes then is refused. */
const MAX_WAITING = 10_000;
/** Of what the service does for itself. */
const OWN_TURN = '';

export class Pool implements SessionOwner {
  readonly costs = new StatementCosts();
  readonly counts = new ConnectionCounts();
  readonly #settings: PoolSettings;
  readonly #onEvent: (kind: string, message: string) => void;
  readonly #maxReaders: number;
  readonly #sessions = new Set<DriverSession>();
  readonly #idle: DriverSession[] = [];
  readonly #readers: DriverSession[] = [];
  readonly #waiting = new WaitingLines<Waiter>();
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

  /** Opens the first connection. Throws `ConnectionError`. */
  start(): Promise<void> {
    return this.#openings.first((session) => this.#adopt(session));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** How many connections there are, how many of them are idle, how many there may be, and how many statements wait for one. */
  get state(): { readonly size: number; readonly idle: number; readonly most: number; readonly waiting: number } {
    return { size: this.#sessions.size, idle: this.#idle.length, most: this.#settings.maxConnections, waiting: this.#waiting.size };
  }

  /** Runs a repeatable statement wherever it fits best. */
  read(exchange: WireExchange): void {
    if (exchange.signal !== undefined || exchange.deadline !== Number.POSITIVE_INFINITY) this.watch();
    if (!this.#closed) {
      if (this.#isQuick(exchange)) {
        if (this.#place(exchange)) {
          this.counts.waitTime.observe(0);
          return;
        }
      } else {
        const session = this.#takeIdle(exchange.turn);
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
      turn: exchange.turn,
      arrival: 0,
    });
  }

  /** A connection for one caller, to be given back. Throws a `Failure`. */
  lend(how: LendOptions): Promise<DriverSession> {
    return new Promise((resolve, reject) => this.lendTo(how, resolve, reject));
  }

  /** As `lend`, but `take` is called at once when a connection is idle. */
  lendTo(how: LendOptions, take: (session: DriverSession) => void, fail: (failure: Failure) => void): void {
    const turn = how.turn ?? OWN_TURN;
    const session = this.#takeIdle(turn);
    if (session !== undefined) {
      session.use = 'lent';
      this.counts.waitTime.observe(0);
      take(session);
      return;
    }
    this.#enqueue({
      exchange: null,
      take: (free) => {
        free.use = 'lent';
        // Not at once: it may give the connection back before the next is served.
        queueMicrotask(() => take(free));
      },
      fail,
      signal: how.signal,
      deadline: how.deadline ?? Number.POSITIVE_INFINITY,
      since: Date.now(),
      began: performance.now(),
      turn,
      arrival: 0,
    });
  }

  giveBack(session: DriverSession): void {
    session.use = 'alone';
    this.ready(session);
  }

  /** Makes sure that signals and deadlines of exchanges are looked at. */
  watch(): void {
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** Refuses new statements, waits for the running ones, then ends all connections. */
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
    if (session.use === 'lent' || session.use === 'idle') return;
    if (session.inFlight > 0) {
      if (this.#waiting.size > 0) this.#serve();
      return;
    }
    // A cancel request under way could hit whatever comes next.
    if (session.cancelsOpen > 0) return;
    if (session.use === 'reader') this.#removeReader(session);
    this.#release(session);
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
    if (reason === 'deadline') this.counts.late += 1;
    else this.counts.abandoned += 1;
  }

  #isQuick(exchange: WireExchange): boolean {
    const cost = this.costs.of(exchange.costKey);
    return cost !== null && cost.ms <= SLOW_MS;
  }

  /** @param turn of the role that has it alone; null: it is shared */
  #takeIdle(turn: string | null): DriverSession | undefined {
    if (this.#idle.length === 0 || (turn !== null && !this.#mayTake(turn))) return undefined;
    for (;;) {
      const session = this.#idle.pop();
      if (session === undefined) return undefined;
      if (Date.now() - session.openedAt <= this.#settings.lifetimeMs) {
        session.turn = turn ?? OWN_TURN;
        return session;
      }
      this.#retire(session);
    }
  }

  /** The last connections are for roles that have few, so that one role cannot fill the pool. */
  #mayTake(turn: string): boolean {
    const free = this.#settings.maxConnections - (this.#sessions.size - this.#idle.length);
    if (free > this.#reserved || turn === OWN_TURN) return true;
    let held = 0;
    for (const { use, turn: of } of this.#sessions) if (of === turn && (use === 'alone' || use === 'lent')) held++;
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

  /** Puts a quick statement on a reader; false when it has to wait. */
  #place(exchange: WireExchange): boolean {
    const now = performance.now();
    let best: DriverSession | null = null;
    for (const reader of this.#readers) {
      if (reader.draining || reader.cancelsOpen > 0 || reader.inFlight >= DEPTH) continue;
      if (reader.inFlight > 0 && now - reader.headSince > STUCK_MS) continue;
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
    // Not in time for this one, but for what follows.
    while (this.#readers.length + this.#openings.count < this.#maxReaders && this.#grow());
    return true;
  }

  #enqueue(waiter: Waiter): void {
    if (this.#closed) {
      waiter.fail(new ConnectionError('open', 'the source is closed'));
      return;
    }
    if (this.#waiting.sizeOf(waiter.turn) >= MAX_WAITING) {
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

  /** Gives what is free to those who wait, in turn. */
  #serve(): void {
    while (this.#waiting.serveOne(this.#serveWaiter));
    while (this.#openings.count < this.#waiting.size && this.#grow());
    this.#drainReaders();
  }

  readonly #serveWaiter = (waiter: Waiter): boolean => {
    if (waiter.exchange !== null && this.#isQuick(waiter.exchange)) {
      if (!this.#place(waiter.exchange)) return false;
    } else {
      const session = this.#takeIdle(waiter.turn);
      if (session === undefined) return false;
      waiter.take(session);
    }
    this.counts.waitTime.observe((performance.now() - waiter.began) / 1000);
    return true;
  };

  /** Opens one more connection in the background, if the bound allows it. */
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

  /** Fails those who wait when no connection is there or to be had. */
  #giveUp(failed: object, error: ConnectionError): void {
    // While others are at work, those who wait get their turn after them.
    if (this.#sessions.size > 0) {
      this.#openings.trust();
      return;
    }
    const since = this.#openings.mayGiveUp(failed, this.#arrivals);
    if (since === null) return;
    for (const waiter of this.#waiting.remove(({ arrival }) => arrival < since)) waiter.fail(error);
    // Who came since may have nobody opening for them.
    while (this.#openings.count < this.#waiting.size && this.#grow());
  }

  #adopt(session: DriverSession): void {
    this.#sessions.add(session);
    session.owner = this;
    if (session.isClosed) {
      this.#forget(session);
      return;
    }
    this.#release(session);
    if (this.#sweeper === null && !this.#closed) {
      this.#sweeper = setInterval(() => this.#sweepIdle(), SWEEP_MS);
      this.#sweeper.unref();
    }
  }

  /** As many readers as there are callers who need one alone, once no more can be opened. */
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

  #release(session: DriverSession): void {
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
    // A reader under steady load never becomes idle by itself.
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
    // A stuck reader may have left statements waiting for another connection.
    if (this.#waiting.size > 0) this.#serve();
    if (!watched && this.#ticker !== null) {
      clearInterval(this.#ticker);
      this.#ticker = null;
    }
  }
}
