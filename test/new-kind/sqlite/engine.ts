/** SQLite in a thread of its own, one statement at a time: the only connection of a source. */
import { Worker } from 'node:worker_threads';
import { ConnectionCounts, type ServerMeasures } from '../../../src/backend/connection-counts.ts';
import { MOST_RESULT_BYTES } from '../../../src/databases/shared/result-size.ts';
import { SvcError } from '../../../src/errors/svc-error.ts';
import { createTurns } from '../../../src/util/turns.ts';
import { type Lateness, latenessOf, type Patience, unlessLate } from '../../../src/util/unless-late.ts';

export interface Query {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Rows beyond these are not read. */
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

/** Memory that a statement may use in SQLite. */
const HEAP_BYTES = 256 * 1024 * 1024;
/** Maximum time of a statement without a deadline. */
const LONGEST_MS = 60_000;
const MAX_WAITING = 1_000;

class LateError extends SvcError {}

export class Engine {
  readonly #file: Uint8Array;
  readonly #counts = new ConnectionCounts();
  readonly #turns = createTurns(1);
  #worker: Worker | undefined;
  #running = 0;
  #waiting = 0;
  #isClosed = false;

  constructor(file: Uint8Array) {
    this.#file = file;
  }

  /** @throws SvcError for a statement that takes too long or waits in vain; Error with the message of SQLite */
  async run(query: Query, how: Patience): Promise<Rows> {
    if (this.#waiting >= MAX_WAITING) {
      this.#counts.timeouts += 1;
      throw new SvcError('busy', 'too many statements wait for the database', { status: 503, isPassing: true });
    }
    const patience = { signal: how.signal, deadline: Math.min(how.deadline ?? Number.POSITIVE_INFINITY, Date.now() + LONGEST_MS) };
    const began = performance.now();
    this.#waiting += 1;
    // Turns fail together with one that fails, so that a failure is a value here.
    const turn = this.#turns(async (): Promise<Outcome> => {
      this.#waiting -= 1;
      this.#counts.waitTime.observe((performance.now() - began) / 1000);
      return this.#attempt(query, patience);
    });
    const outcome = await unlessLate(patience, turn, late, () => undefined);
    if ('rows' in outcome) return outcome.rows;
    throw outcome.failure;
  }

  async #attempt(query: Query, patience: Patience): Promise<Outcome> {
    const reason = latenessOf(patience);
    if (reason !== null) return { failure: late(reason) };
    if (this.#isClosed) return { failure: new SvcError('database-error', 'the source is closed') };
    const began = performance.now();
    this.#running = 1;
    try {
      this.#worker ??= this.#open();
      return { rows: await unlessLate(patience, ask(this.#worker, query), late, () => undefined) };
    } catch (failure) {
      if (failure instanceof LateError || failure instanceof BrokenError) await this.#stop();
      if (failure instanceof BrokenError) this.#counts.errors += 1;
      if (failure instanceof LateError) this.#counts[patience.signal?.aborted === true ? 'abandoned' : 'late'] += 1;
      return { failure: failure as Error };
    } finally {
      this.#running = 0;
      this.#counts.queryTime.observe((performance.now() - began) / 1000);
    }
  }

  measures(): ServerMeasures {
    const { family, role, most } = { family: 'sqlite', role: 'primary', most: 1 } as const;
    const idle = this.#worker === undefined ? 0 : 1 - this.#running;
    return { family, role, used: this.#running, idle, most, pending: this.#waiting, counts: this.#counts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
  }

  #open(): Worker {
    const began = performance.now();
    const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData: { file: this.#file, heapBytes: HEAP_BYTES } });
    worker.once('online', () => this.#counts.initTime.observe((performance.now() - began) / 1000));
    worker.unref();
    return worker;
  }

  /** Ends a statement with its thread; the next statement opens another one. */
  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** The thread ended before it answered. */
class BrokenError extends Error {}

function late(reason: Lateness): SvcError {
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
    worker.postMessage({ maxBytes: MOST_RESULT_BYTES, ...query });
  });
}
