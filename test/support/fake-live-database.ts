/** A database and subscribers for tests of live queries, with times that tests control. */
import type { LiveQuery, Polls, Source } from '../../src/backend/backend.ts';
import type { JsonRow } from '../../src/backend/connection.ts';
import { SvcError } from '../../src/errors/svc-error.ts';
import type { SubscriptionAnswer, Subscriber } from '../../src/subscriptions/subscriptions.ts';
import { bytesOfText, textOfBytes } from '../../src/util/bytes.ts';

/** A database with one value per key, whose snapshot is the number of writes. */
export class FakeLiveDatabase {
  rows = new Map<string, string>();
  writes = 0;
  batches: (readonly string[])[] = [];
  /** Number of concurrent statements. */
  mostConcurrent = 0;
  #running = 0;
  polls = 0;
  /** Thrown for a batch with this key. */
  failing = new Map<string, SvcError>();
  wrong = new Set<string>();
  /** Duration per key, in ms. */
  slow = new Map<string, number>();
  /** False if polls find no snapshot. */
  hasSnapshots = true;
  #onSnapshot: ((snapshot: string | null) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  write(key: string, value: string): void {
    this.rows.set(key, value);
    this.writes += 1;
  }

  loseConnection(): void {
    this.#onSnapshot?.(null);
  }

  readonly source = {
    runRows: async (_statement, values, how) => {
      const keys = JSON.parse(values[0] as string) as string[];
      this.batches.push(keys);
      this.#running += 1;
      this.mostConcurrent = Math.max(this.mostConcurrent, this.#running);
      const snapshot = `${this.writes}`;
      const found = keys.map((key) => this.rows.get(key) ?? 'null');
      let passed = 0;
      const times = keys.map((key) => {
        passed += this.slow.get(key) ?? 0;
        return passed;
      });
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, passed)));
      this.#running -= 1;
      for (const key of keys) if (this.failing.has(key)) throw this.failing.get(key);
      for (const value of found) if (how?.resultBudget?.take(value.length) === false) throw how.resultBudget.refusal(false);
      return found.map(
        (value, i): JsonRow => [
          [bytesOfText(`${i}`)],
          [bytesOfText(value)],
          [bytesOfText(`${(times[i] ?? 0) / 1000}`)],
          i === 0 ? [bytesOfText(snapshot)] : null,
        ],
      );
    },
    query: async (_text, values) => {
      if (this.wrong.has(values[0] as string)) throw new SvcError('data-exception', 'wrong');
      return { kind: 'TuplesOk', columns: [], rows: [], command: '' };
    },
    watchSnapshots: (intervalMs, onSnapshot) => {
      this.#onSnapshot = onSnapshot;
      const poll = (): void => {
        this.polls += 1;
        onSnapshot(this.hasSnapshots ? `${this.writes}` : null);
      };
      this.#timer = setInterval(poll, intervalMs);
      return { poll, stop: () => clearInterval(this.#timer) };
    },
  } satisfies Partial<Source> as unknown as Source & Polls;
}

/** Live query whose only value is a key of the database. */
export function queryOf(dependsOn: string | null): LiveQuery {
  return {
    text: 'select',
    parameters: [],
    columns: 1,
    cursor: null,
    repeatable: true,
    reportsTime: true,
    dependsOn,
    isTimeless: ([value]) => value !== 'now',
    batch: (cohorts) => ({ text: 'select', values: [JSON.stringify(cohorts.map(([key]) => key))] }),
    check: (values) => ({ text: 'check', values }),
  };
}

export class RecordingSubscriber implements Subscriber {
  answers: string[] = [];
  bodies: SubscriptionAnswer[] = [];
  errors: [string, boolean][] = [];
  isReady = true;
  next(answer: SubscriptionAnswer): void {
    this.bodies.push(answer);
    this.answers.push(textOfBytes(answer.body));
  }
  failed(errors: readonly SvcError[], final: boolean): void {
    this.errors.push([errors[0]?.message ?? '', final]);
  }
  complete(): void {
    throw new Error('a live query has no end');
  }
  ready(): boolean {
    return this.isReady;
  }
}
