/**
 * The result budget of the service: bytes of answers of databases, remote schemas and actions that are in memory for all requests
 * together. Bytes count when they come. Large answers of databases are expected beforehand, since a database builds an answer before it
 * sends it: their requests wait until what is expected of all of them fits. A request that holds budget never waits for more, it goes on
 * or fails with 503.
 */
import { doneWithout } from '../backend/result-budget.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type Cancellation, isPrompt, onCancel } from '../util/cancellation.ts';

/** Maximum bytes of a small answer. Requests with small answers wait for no other request. */
const SMALL = 1_048_576;
/** Maximum wait, in ms. */
const LONGEST_WAIT = 30_000;

export interface Turn {
  /** Half of the budget is the most that is expected for one role at a time. */
  readonly role: string;
  /** Epoch milliseconds. */
  readonly deadline?: number | undefined;
  readonly signal?: Cancellation | undefined;
}

interface Waiting {
  readonly bytes: number;
  begin(): void;
}

export class ResultMemory {
  readonly #most: number;
  /** Maximum bytes of a small answer. */
  readonly small: number;
  #held = 0;
  #expected = 0;
  /** Bytes that are expected, by role. */
  readonly #expectedOf = new Map<string, number>();
  /** Requests with large answers, by role: the role that was served last stands last. */
  readonly #large = new Map<string, Set<Waiting>>();
  /** Requests with small answers that found no room. */
  readonly #small = new Set<Waiting>();

  /** @param most bytes; Infinity: no limit */
  constructor(most: number) {
    this.#most = most;
    this.small = Math.min(SMALL, most / 16);
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** Bytes that are expected now. */
  get expected(): number {
    return this.#expected;
  }

  /** @param isSmall the bytes are a part of a small answer: small answers have an eighth more @returns whether there was room */
  take(bytes: number, isSmall = false): boolean {
    if (this.#held + bytes > (isSmall ? this.#most * 1.125 : this.#most)) return false;
    this.#held += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#held -= bytes;
    this.#admit();
  }

  /**
   * Reserves the bytes of a large answer; a small one reserves nothing.
   * @param mayWait false for a request that holds budget
   * @returns the bytes to `leave` with; a promise if the caller has to wait
   * @throws SvcError busy when there is no room, or when the wait is over
   */
  enter(expected: number, turn: Turn, mayWait: boolean): number | Promise<number> {
    const bytes = expected <= this.small ? 0 : Math.min(expected, this.#most / 2);
    const { role, deadline, signal } = turn;
    if ((bytes === 0 || !this.#large.has(role)) && this.#reserve(bytes, role)) return bytes;
    if (!mayWait) throw this.refusal();
    const queue = bytes === 0 ? this.#small : (this.#large.get(role) ?? new Set());
    if (bytes > 0) this.#large.set(role, queue);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        forgetSignal?.();
        queue.delete(waiting);
        if (queue.size === 0 && this.#large.get(role) === queue) this.#large.delete(role);
      };
      const give = (): void => {
        stop();
        reject(this.refusal());
        // What stood behind it may be smaller.
        this.#admit();
      };
      const waiting: Waiting = {
        bytes,
        begin: () => {
          stop();
          resolve(bytes);
        },
      };
      const timer = setTimeout(give, Math.max(0, Math.min(LONGEST_WAIT, (deadline ?? Number.POSITIVE_INFINITY) - Date.now())));
      const forgetSignal = isPrompt(signal) ? onCancel(signal, give) : null;
      queue.add(waiting);
    });
  }

  /** The answer is there, or will never be. @param bytes that `enter` returned */
  leave(bytes: number, role: string): void {
    if (bytes === 0) return;
    this.#expected -= bytes;
    const left = (this.#expectedOf.get(role) ?? 0) - bytes;
    if (left > 0) this.#expectedOf.set(role, left);
    else this.#expectedOf.delete(role);
    this.#admit();
  }

  /** @param isDone changes of the request were made */
  refusal(isDone = false): SvcError {
    const message = `the answers of all requests together have more than ${this.#most} bytes`;
    return new SvcError('busy', isDone ? doneWithout(message) : `${message}: try again, or ask for less`, {
      status: 503,
      keepsStatus: true,
      isPassing: !isDone,
    });
  }

  #reserve(bytes: number, role: string): boolean {
    if (bytes === 0) return this.#held < this.#most * 1.125;
    const ofRole = (this.#expectedOf.get(role) ?? 0) + bytes;
    if (ofRole > this.#most / 2 || this.#held + this.#expected + bytes > this.#most) return false;
    this.#expected += bytes;
    this.#expectedOf.set(role, ofRole);
    return true;
  }

  #admit(): void {
    for (const waiting of this.#small) {
      if (!this.#reserve(0, '')) break;
      waiting.begin();
    }
    // A role that got a turn is visited again, after the others.
    for (const [role, queue] of this.#large) {
      const [first] = queue;
      if (first === undefined || !this.#reserve(first.bytes, role)) continue;
      this.#large.delete(role);
      if (queue.size > 1) this.#large.set(role, queue);
      first.begin();
    }
  }
}

/** Bytes that were once answered, of which later answers take a little away, by plan. */
const sizes = new WeakMap<object, number>();

/** Part of the result budget that one request holds. */
export class MemoryHold {
  readonly #memory: ResultMemory;
  #used = 0;
  /** Most bytes that were used, or refused, since a task began. */
  #peak = 0;
  /** Tasks that have a turn. */
  #running = 0;
  #isOver = false;

  constructor(memory: ResultMemory) {
    this.#memory = memory;
  }

  /** Bytes that are held now. */
  get size(): number {
    return this.#used;
  }

  /** Most bytes that were held, or refused, since the last task began. */
  get peak(): number {
    return this.#peak;
  }

  /**
   * Runs a task that reads databases once there is room for its answer.
   * @param key its later answers are expected to be as large, whatever the values; `null` if `expected` has what was answered before
   * @param expected bytes of the answer as far as its text shows them; more only if it once had more
   * @throws SvcError busy, and what the task throws
   */
  run<T>(key: object | null, expected: number, turn: Turn, task: () => Promise<T>): Promise<T> {
    const mayWait = this.#used === 0 && this.#running === 0;
    try {
      const entered = this.#memory.enter(key === null ? expected : Math.max(expected, sizes.get(key) ?? 0), turn, mayWait);
      if (typeof entered === 'number') return this.#run(key, entered, turn.role, task);
      return entered.then((bytes) => this.#run(key, bytes, turn.role, task));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #run<T>(key: object | null, bytes: number, role: string, task: () => Promise<T>): Promise<T> {
    const before = this.#used;
    if (this.#running === 0) this.#peak = before;
    this.#running += 1;
    try {
      // It may have been released while it waited.
      if (this.#isOver) throw this.refusal(false);
      return await task();
    } finally {
      this.#running -= 1;
      this.#memory.leave(bytes, role);
      // One small answer must not let many large ones in: the answers to a plan differ with its variables.
      const known = key === null ? 0 : (sizes.get(key) ?? 0);
      if (key !== null) sizes.set(key, Math.max(this.#peak - before, known - Math.ceil(known / 64)));
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

  giveBack(bytes: number): void {
    if (this.#isOver) return;
    this.#used -= bytes;
    this.#memory.free(bytes);
  }

  /** Nothing of it is in memory any more. */
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
