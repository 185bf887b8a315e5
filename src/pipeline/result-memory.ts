/**
 * The result budget of the service: bytes of results from databases, remote schemas and actions that are in memory for all requests
 * together. Bytes count when they arrive. Large database results are reserved beforehand, since a database builds a result before it sends
 * it: their requests wait until the expected bytes of all of them fit. A request that holds memory never waits for more: it continues or
 * fails with 503.
 */
import { committedWithoutAnswer } from '../backend/result-budget.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type Cancellation, isPrompt, onCancel } from '../util/cancellation.ts';

/** Maximum size of a small result, in bytes. Small results reserve nothing, and wait only if the limit is exceeded by an eighth. */
const MAX_SMALL = 1_048_576;
/** Maximum wait for memory, in ms. */
const MAX_WAIT = 30_000;

export interface WaitOptions {
  /** At most half of the budget is reserved for one role at a time. */
  readonly role: string;
  /** Epoch milliseconds. */
  readonly deadline?: number | undefined;
  readonly signal?: Cancellation | undefined;
}

interface Waiter {
  readonly bytes: number;
  start(): void;
}

export class ResultMemory {
  readonly #limit: number;
  /** Maximum size of a small result, in bytes. */
  readonly small: number;
  #used = 0;
  #reserved = 0;
  /** Reserved bytes by role. */
  readonly #reservedByRole = new Map<string, number>();
  /** Queues of requests with large results, by role; the role that was served last is last. */
  readonly #large = new Map<string, Set<Waiter>>();
  /** Requests with small results that wait for memory. */
  readonly #small = new Set<Waiter>();

  /** @param limit in bytes; Infinity for none */
  constructor(limit: number) {
    this.#limit = limit;
    this.small = Math.min(MAX_SMALL, limit / 16);
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  /** Bytes reserved for large results. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Returns false if there is no room. @param isSmall the bytes are part of a small result, which may exceed the limit by an eighth */
  take(bytes: number, isSmall = false): boolean {
    if (this.#used + bytes > (isSmall ? this.#limit * 1.125 : this.#limit)) return false;
    this.#used += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#used -= bytes;
    this.#startWaiting();
  }

  /**
   * Reserves memory for a large result; a small one reserves nothing.
   * @param mayWait false for a request that holds memory
   * @returns the bytes to `release`; a promise if the caller has to wait
   * @throws SvcError busy if there is no room, or the wait takes too long
   */
  reserve(expected: number, wait: WaitOptions, mayWait: boolean): number | Promise<number> {
    const bytes = expected <= this.small ? 0 : Math.min(expected, this.#limit / 2);
    const { role, deadline, signal } = wait;
    if ((bytes === 0 || !this.#large.has(role)) && this.#tryReserve(bytes, role)) return bytes;
    if (!mayWait) throw this.refusal();
    const queue = bytes === 0 ? this.#small : (this.#large.get(role) ?? new Set());
    if (bytes > 0) this.#large.set(role, queue);
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        clearTimeout(timer);
        stopListening?.();
        queue.delete(waiter);
        if (queue.size === 0 && this.#large.get(role) === queue) this.#large.delete(role);
      };
      const fail = (): void => {
        leaveQueue();
        reject(this.refusal());
        // The next one may be smaller.
        this.#startWaiting();
      };
      const waiter: Waiter = {
        bytes,
        start: () => {
          leaveQueue();
          resolve(bytes);
        },
      };
      const timer = setTimeout(fail, Math.max(0, Math.min(MAX_WAIT, (deadline ?? Number.POSITIVE_INFINITY) - Date.now())));
      const stopListening = isPrompt(signal) ? onCancel(signal, fail) : null;
      queue.add(waiter);
    });
  }

  /** Called when a result has arrived or has failed. @param bytes that `reserve` returned */
  release(bytes: number, role: string): void {
    if (bytes === 0) return;
    this.#reserved -= bytes;
    const left = (this.#reservedByRole.get(role) ?? 0) - bytes;
    if (left > 0) this.#reservedByRole.set(role, left);
    else this.#reservedByRole.delete(role);
    this.#startWaiting();
  }

  /** @param isDone the changes of the request were committed */
  refusal(isDone = false): SvcError {
    const message = `the responses of all requests together exceed ${this.#limit} bytes`;
    return new SvcError('busy', isDone ? committedWithoutAnswer(message) : `${message}: try again, or request less data`, {
      status: 503,
      keepsStatus: true,
      isTransient: !isDone,
    });
  }

  #tryReserve(bytes: number, role: string): boolean {
    if (bytes === 0) return this.#used < this.#limit * 1.125;
    const ofRole = (this.#reservedByRole.get(role) ?? 0) + bytes;
    if (ofRole > this.#limit / 2 || this.#used + this.#reserved + bytes > this.#limit) return false;
    this.#reserved += bytes;
    this.#reservedByRole.set(role, ofRole);
    return true;
  }

  #startWaiting(): void {
    for (const waiter of this.#small) {
      if (!this.#tryReserve(0, '')) break;
      waiter.start();
    }
    // The loop visits a role again after the others, once one of its requests has started.
    for (const [role, queue] of this.#large) {
      const [first] = queue;
      if (first === undefined || !this.#tryReserve(first.bytes, role)) continue;
      this.#large.delete(role);
      if (queue.size > 1) this.#large.set(role, queue);
      first.start();
    }
  }
}

/** Expected sizes of results by plan: the maximum of earlier results, which decreases a little with each later one. */
const sizes = new WeakMap<object, number>();

/** Memory reservation of one request: its part of the result budget. */
export class MemoryReservation {
  readonly #memory: ResultMemory;
  #used = 0;
  /** Maximum bytes that were used, or refused, since a task began. */
  #peak = 0;
  /** Number of running tasks. */
  #running = 0;
  #isOver = false;

  constructor(memory: ResultMemory) {
    this.#memory = memory;
  }

  /** Bytes in use. */
  get size(): number {
    return this.#used;
  }

  /** Maximum bytes that were used, or refused, since the last task began. */
  get peak(): number {
    return this.#peak;
  }

  /**
   * Runs a task that reads databases once there is room for its result.
   * @param key later results for this key are expected to be as large; `null` if `expected` includes earlier results
   * @param expected size of the result according to the statement, in bytes; earlier results for `key` may raise the reserved size
   * @throws SvcError busy, and errors of the task
   */
  run<T>(key: object | null, expected: number, wait: WaitOptions, task: () => Promise<T>): Promise<T> {
    const mayWait = this.#used === 0 && this.#running === 0;
    try {
      const reserved = this.#memory.reserve(key === null ? expected : Math.max(expected, sizes.get(key) ?? 0), wait, mayWait);
      if (typeof reserved === 'number') return this.#run(key, reserved, wait.role, task);
      return reserved.then((bytes) => this.#run(key, bytes, wait.role, task));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #run<T>(key: object | null, bytes: number, role: string, task: () => Promise<T>): Promise<T> {
    const before = this.#used;
    if (this.#running === 0) this.#peak = before;
    this.#running += 1;
    try {
      // The reservation may have been released during the wait.
      if (this.#isOver) throw this.refusal(false);
      return await task();
    } finally {
      this.#running -= 1;
      this.#memory.release(bytes, role);
      // Decreases slowly: results of a plan vary with its variables, and one small result must not admit many large ones.
      const earlier = key === null ? 0 : (sizes.get(key) ?? 0);
      const next = Math.max(this.#peak - before, earlier - Math.ceil(earlier / 64));
      if (key !== null && next !== earlier) sizes.set(key, next);
    }
  }

  take(bytes: number): boolean {
    if (this.#isOver) return false;
    const used = this.#used + bytes;
    if (used > this.#peak) this.#peak = used;
    if (!this.#memory.take(bytes, used <= this.#memory.small)) return false;
    this.#used = used;
    return true;
  }

  free(bytes: number): void {
    if (this.#isOver) return;
    this.#used -= bytes;
    this.#memory.free(bytes);
  }

  /** Frees all bytes; the response has been sent. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const used = this.#used;
    this.#used = 0;
    this.#memory.free(used);
  }

  refusal(isDone: boolean): SvcError {
    return this.#memory.refusal(isDone);
  }
}
