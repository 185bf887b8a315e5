/** Runs SQLite in a thread, one statement at a time, as the only connection of a source. */
import { Worker } from 'node:worker_threads';
import { ConnectionCounts, type ServerMeasures } from '../../../src/backend/connection-counts.ts';
import { MAX_RESULT_BYTES } from '../../../src/databases/shared/result-size.ts';
import { SvcError } from '../../../src/errors/svc-error.ts';
import { limitConcurrency } from '../../../src/util/limit-concurrency.ts';
import { type StopReason, stopReasonOf, type CallOptions, withDeadline } from '../../../src/util/deadline.ts';

export interface Query {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Maximum rows to read. */
  readonly maxRows?: number;
  /** Maximum bytes of all values. Default 256 MiB. */
  readonly maxBytes?: number;
}

export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  readonly isCut: boolean;
}

type Outcome = { readonly rows: Rows } | { readonly failure: Error };

/** Maximum memory of a statement in SQLite. */
const HEAP_BYTES = 256 * 1024 * 1024;
/** Maximum time of a statement without a deadline, in ms. */
const MAX_STATEMENT_MS = 60_000;
const MAX_WAITING = 1_000;

class LateError extends SvcError {}

export class Engine {
  readonly #file: Uint8Array;
  readonly #counts = new ConnectionCounts();
  readonly #runExclusively = limitConcurrency(1);
  #worker: Worker | undefined;
  #running = 0;
  #waiting = 0;
  #isClosed = false;

  constructor(file: Uint8Array) {
    this.#file = file;
  }

  /** @throws SvcError for a statement that takes or waits too long; Error with the message of SQLite */
  async run(query: Query, options: CallOptions): Promise<Rows> {
    if (this.#waiting >= MAX_WAITING) {
      this.#counts.timeouts += 1;
      throw new SvcError('busy', 'too many statements wait for the database', { status: 503, isTransient: true });
    }
    const callOptions = {
      signal: options.signal,
      deadline: Math.min(options.deadline ?? Number.POSITIVE_INFINITY, Date.now() + MAX_STATEMENT_MS),
    };
    const startedAt = performance.now();
    this.#waiting += 1;
    // A failure is a value here, because a rejection would reject the queued statements, too.
    const running = this.#runExclusively(async (): Promise<Outcome> => {
      this.#waiting -= 1;
      this.#counts.waitTime.observe((performance.now() - startedAt) / 1000);
      return this.#attempt(query, callOptions);
    });
    const outcome = await withDeadline(callOptions, running, late, () => undefined);
    if ('rows' in outcome) return outcome.rows;
    throw outcome.failure;
  }

  async #attempt(query: Query, callOptions: CallOptions): Promise<Outcome> {
    const reason = stopReasonOf(callOptions);
    if (reason !== null) return { failure: late(reason) };
    if (this.#isClosed) return { failure: new SvcError('database-error', 'the source is closed') };
    const startedAt = performance.now();
    this.#running = 1;
    try {
      this.#worker ??= this.#open();
      return { rows: await withDeadline(callOptions, ask(this.#worker, query), late, () => undefined) };
    } catch (failure) {
      if (failure instanceof LateError || failure instanceof BrokenError) await this.#stop();
      if (failure instanceof BrokenError) this.#counts.errors += 1;
      if (failure instanceof LateError) this.#counts[callOptions.signal?.aborted === true ? 'cancelled' : 'timedOut'] += 1;
      return { failure: failure as Error };
    } finally {
      this.#running = 0;
      this.#counts.queryTime.observe((performance.now() - startedAt) / 1000);
    }
  }

  measures(): ServerMeasures {
    const { family, role, most } = { family: 'sqlite', role: 'primary', most: 1 } as const;
    const idle = this.#worker === undefined ? 0 : 1 - this.#running;
    return { family, role, used: this.#running, idle, maxConnections: most, pending: this.#waiting, counts: this.#counts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
  }

  #open(): Worker {
    const startedAt = performance.now();
    const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData: { file: this.#file, heapBytes: HEAP_BYTES } });
    worker.once('online', () => this.#counts.initTime.observe((performance.now() - startedAt) / 1000));
    worker.unref();
    return worker;
  }

  /** Stops a statement by ending its thread; the next statement starts another one. */
  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** The thread ended without an answer. */
class BrokenError extends Error {}

function late(reason: StopReason): SvcError {
  return new LateError('timeout', reason === 'deadline' ? 'the database did not answer in time' : 'the request was cancelled');
}

function ask(worker: Worker, query: Query): Promise<Rows> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit');
      settle();
    };
    worker.once('message', (answer: Rows | { readonly error: string }) =>
      end(() => ('error' in answer ? reject(new Error(answer.error)) : resolve(answer))),
    );
    worker.once('error', (error) => end(() => reject(new BrokenError((error as Error).message))));
    worker.once('exit', () => end(() => reject(new BrokenError('the thread of the database has ended'))));
    worker.postMessage({ maxBytes: MAX_RESULT_BYTES, ...query });
  });
}
