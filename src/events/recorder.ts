/**
 * Writes outcomes in batches: what comes while one batch is written goes into the next. One that the database refuses is found
 * by halves and left out, so that it holds up no other.
 */

export interface Recorder<O> {
  add(outcome: O): void;
  /** What is not written by now is forgotten. */
  stop(): void;
}

export interface RecorderOptions<O> {
  /** ms that an outcome may wait for others: each batch is a commit */
  gather(): number;
  /** @throws when the database does not answer; then it is tried again */
  record(outcomes: readonly O[]): Promise<void>;
  failed(error: unknown): void;
  /** Whether the database has answered, and would answer the same again. */
  isRefusal(error: unknown): boolean;
  /** Characters of an outcome. */
  sizeOf(outcome: O): number;
  /** It cannot be written, and is not tried again. */
  leftOut(outcome: O, error: unknown): void;
}

const MOST_AT_ONCE = 100;
/** Of a batch: the outcome with which they are reached is the last. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
const FIRST_PAUSE_MS = 100;
/** A database that is back has the outcomes this much later at most: ordered and bounded triggers wait for them. */
const LONGEST_PAUSE_MS = 500;

export function createRecorder<O>({ gather, record, failed, isRefusal, sizeOf, leftOut }: RecorderOptions<O>): Recorder<O> {
  let waiting: O[] = [];
  let isWriting = false;
  let isStopped = false;

  function fitting(outcomes: readonly O[], most: number): number {
    let size = 0;
    let count = 0;
    while (count < Math.min(outcomes.length, most) && size < MOST_CHARACTERS) size += sizeOf(outcomes[count++] as O);
    return count;
  }

  async function write(): Promise<void> {
    isWriting = true;
    let failures = 0;
    let most = MOST_AT_ONCE;
    while (waiting.length > 0 && !isStopped) {
      const pause = gather();
      if (pause > 0 && waiting.length < most) await new Promise((resolve) => setTimeout(resolve, pause));
      const batch = waiting.slice(0, fitting(waiting, most));
      try {
        await record(batch);
        waiting = waiting.slice(batch.length);
        failures = 0;
        most = Math.min(MOST_AT_ONCE, most * 2);
      } catch (error) {
        if (isRefusal(error)) {
          const [only] = batch;
          if (batch.length === 1 && only !== undefined) {
            waiting = waiting.slice(1);
            leftOut(only, error);
          } else most = Math.ceil(batch.length / 2);
          continue;
        }
        if (failures === 0) failed(error);
        await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)));
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
