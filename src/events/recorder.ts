/**
 * Writes outcomes in batches: those that arrive while a batch is written go into the next one. An outcome that the database rejects is
 * isolated by halving batches and dropped, so that it does not block the others.
 */

export interface Recorder<O> {
  add(outcome: O): void;
  /** Drops the outcomes that have not been written. */
  stop(): void;
}

export interface RecorderOptions<O> {
  /** Returns the time that an outcome may wait for others, in ms: each batch is a commit. */
  gather(): number;
  /** @throws if the database does not answer; then it is retried */
  record(outcomes: readonly O[]): Promise<void>;
  onFailure(error: unknown): void;
  /** Returns true if the database has rejected the outcomes and would do so again. */
  isRefusal(error: unknown): boolean;
  /** Returns the size of an outcome, in characters. */
  sizeOf(outcome: O): number;
  /** Called with an outcome that cannot be written and is not retried. */
  onDropped(outcome: O, error: unknown): void;
}

const MAX_BATCH = 100;
/** Maximum size of a batch in characters; its last outcome may exceed it. */
const MAX_BATCH_SIZE = 8 * 1024 * 1024;
const FIRST_PAUSE_MS = 100;
/** Maximum delay of the outcomes after an outage: triggers with an order or a concurrency limit wait for them. */
const MAX_PAUSE_MS = 500;

export function createRecorder<O>({ gather, record, onFailure, isRefusal, sizeOf, onDropped }: RecorderOptions<O>): Recorder<O> {
  let waiting: O[] = [];
  let isWriting = false;
  let isStopped = false;

  function fitting(outcomes: readonly O[], limit: number): number {
    let size = 0;
    let count = 0;
    while (count < Math.min(outcomes.length, limit) && size < MAX_BATCH_SIZE) size += sizeOf(outcomes[count++] as O);
    return count;
  }

  async function write(): Promise<void> {
    isWriting = true;
    let failures = 0;
    let limit = MAX_BATCH;
    while (waiting.length > 0 && !isStopped) {
      const pause = gather();
      if (pause > 0 && waiting.length < limit) await new Promise((resolve) => setTimeout(resolve, pause));
      const batch = waiting.slice(0, fitting(waiting, limit));
      try {
        await record(batch);
        waiting = waiting.slice(batch.length);
        failures = 0;
        limit = Math.min(MAX_BATCH, limit * 2);
      } catch (error) {
        if (isRefusal(error)) {
          const [only] = batch;
          if (batch.length === 1 && only !== undefined) {
            waiting = waiting.slice(1);
            onDropped(only, error);
          } else limit = Math.ceil(batch.length / 2);
          continue;
        }
        if (failures === 0) onFailure(error);
        await new Promise((resolve) => setTimeout(resolve, Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)));
        failures += 1;
      }
    }
    isWriting = false;
  }

  return {
    add(outcome) {
      waiting.push(outcome);
      if (!isWriting) void write();
    },
    stop() {
      isStopped = true;
    },
  };
}
