/**
 * Schedules the events of an instance on its workers, fairly. The first event of a trigger queue may take any free worker. A further one
 * starts only if the queue then runs at most three times as many events as workers are free, so a busy queue never takes the last worker.
 * Slow queues share half of the workers, so that fast ones need not wait.
 */

/** Duration from which on an event is slow, in ms. */
const SLOW_MS = 1000;
/** Maximum number of running events of a queue for each free worker. */
const SHARE = 3;
/** Interval for detecting queues that have become slow, in ms. */
const SWEEP_MS = 250;

/** Maximum size of the events that an instance has taken, in characters. Their requests, records and buffers take several times as much. */
const MAX_SIZE = 32 * 1024 * 1024;

/** A running event. */
export interface Attempt {
  readonly began: number;
}

/** Starts an event when a worker is free. */
export type StartAttempt = (attempt: Attempt) => void;

/** The events of a trigger or action in this instance. */
export interface TriggerQueue {
  /** Number of events that may be taken now. */
  readonly capacity: number;
  /** True if its events take long. */
  readonly isSlow: boolean;
  enqueue(start: StartAttempt): void;
  /** Drops the events that have not started. */
  clear(): void;
  finished(attempt: Attempt): void;
}

export interface WorkerPool {
  newQueue(): TriggerQueue;
  /** Number of events of all queues that may be taken now. */
  readonly capacity: number;
  /** Number of running events. */
  readonly running: number;
  /** Number of events of slow queues that may be taken now. */
  readonly slowCapacity: number;
  /** Reserves capacity for a fetch in progress. Returns a function that releases it. */
  reserve(events: number): () => void;
  /** Remaining size for events, in characters; the last event may exceed it. */
  readonly sizeLeft: number;
  /** Adds the size of an event; negative when it is dropped. */
  addSize(characters: number): void;
  /** Starts the events that may start now. */
  dispatch(): void;
  /** Calls the listener when capacity becomes free. Returns a function that removes it. */
  onCapacity(listener: () => void): () => void;
}

/** @param workers maximum number of running events; as many again may wait */
export function createWorkerPool(workers: number): WorkerPool {
  return new FairPool(workers);
}

class FairPool implements WorkerPool {
  readonly workers: number;
  readonly slowWorkers: number;
  /** Queues with waiting events; the one to serve next is first. */
  readonly waiting = new Set<FairQueue>();
  /** Queues with running events. */
  readonly busy = new Set<FairQueue>();
  readonly #listeners = new Set<() => void>();
  running = 0;
  slowRunning = 0;
  /** Number of events that wait, run, or are being fetched. */
  count = 0;
  sizeLeft = MAX_SIZE;
  #swept = 0;

  constructor(workers: number) {
    this.workers = workers;
    this.slowWorkers = Math.ceil(workers / 2);
  }

  newQueue(): TriggerQueue {
    return new FairQueue(this);
  }

  get capacity(): number {
    return Math.max(0, 2 * this.workers - this.count);
  }

  get slowCapacity(): number {
    let count = 0;
    for (const queue of new Set([...this.waiting, ...this.busy])) if (queue.isSlow) count += queue.count;
    return Math.max(0, Math.min(this.capacity, this.slowWorkers - count));
  }

  reserve(events: number): () => void {
    this.count += events;
    return () => {
      this.count -= events;
    };
  }

  addSize(characters: number): void {
    const wasFull = this.sizeLeft <= 0;
    this.sizeLeft -= characters;
    if (wasFull && this.sizeLeft > 0) this.#notify();
  }

  onCapacity(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts one event of each queue in turn, until none may start. */
  dispatch(): void {
    this.#sweep();
    for (let hasStarted = true; hasStarted && this.running < this.workers; ) {
      hasStarted = false;
      for (const queue of [...this.waiting]) {
        if (this.running >= this.workers) return;
        if (!queue.mayStart()) continue;
        queue.start();
        hasStarted = true;
      }
    }
  }

  #sweep(): void {
    const now = performance.now();
    if (now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const queue of this.busy) queue.detectSlow(now);
  }

  ended(): void {
    this.dispatch();
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

class FairQueue implements TriggerQueue {
  readonly #pool: FairPool;
  #waiting: StartAttempt[] = [];
  /** Oldest first. */
  readonly #running = new Set<Attempt>();
  isSlow = false;

  constructor(pool: FairPool) {
    this.#pool = pool;
  }

  get count(): number {
    return this.#waiting.length + this.#running.size;
  }

  get capacity(): number {
    const { capacity } = this.#pool;
    return capacity === 0 ? 0 : Math.max(this.count === 0 ? 1 : 0, Math.ceil((capacity - this.count) / 2));
  }

  enqueue(start: StartAttempt): void {
    this.#waiting.push(start);
    this.#pool.count += 1;
    this.#pool.waiting.add(this);
  }

  clear(): void {
    this.#pool.count -= this.#waiting.length;
    this.#waiting = [];
    this.#pool.waiting.delete(this);
  }

  mayStart(): boolean {
    const { workers, running, slowWorkers, slowRunning } = this.#pool;
    if (this.isSlow && slowRunning >= slowWorkers) return false;
    return this.#running.size === 0 || this.#running.size < SHARE * (workers - running - 1);
  }

  start(): void {
    const pool = this.#pool;
    const start = this.#waiting.shift();
    // Moves the queue to the end of the round.
    pool.waiting.delete(this);
    if (this.#waiting.length > 0) pool.waiting.add(this);
    if (start === undefined) return;
    const attempt: Attempt = { began: performance.now() };
    this.#running.add(attempt);
    pool.running += 1;
    if (this.isSlow) pool.slowRunning += 1;
    pool.busy.add(this);
    start(attempt);
  }

  finished(attempt: Attempt): void {
    const pool = this.#pool;
    this.#running.delete(attempt);
    pool.running -= 1;
    pool.count -= 1;
    if (this.isSlow) pool.slowRunning -= 1;
    if (this.#running.size === 0) pool.busy.delete(this);
    this.#setSlow(performance.now() - attempt.began >= SLOW_MS);
    pool.ended();
  }

  /** Marks the queue as slow if its oldest event is still running. */
  detectSlow(now: number): void {
    const [oldest] = this.#running;
    if (oldest !== undefined && now - oldest.began >= SLOW_MS) this.#setSlow(true);
  }

  #setSlow(isSlow: boolean): void {
    if (isSlow === this.isSlow) return;
    this.isSlow = isSlow;
    this.#pool.slowRunning += isSlow ? this.#running.size : -this.#running.size;
  }
}
