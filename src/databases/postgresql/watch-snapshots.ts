/** Polls the snapshot of the server, on a connection of its own that is reopened when it breaks. */
import type { SnapshotWatch } from '../../backend/backend.ts';
import { WireExchange } from './driver/exchange.ts';
import { ConnectionError } from './driver/database-error.ts';
import type { DriverSession } from './driver/session.ts';
import { SNAPSHOT_SQL } from './snapshot.ts';

export interface SnapshotWatchOptions {
  readonly open: () => Promise<DriverSession>;
  readonly intervalMs: number;
  /** Called with `null` if the snapshot is unknown; earlier snapshots are then invalid. */
  readonly onSnapshot: (snapshot: string | null) => void;
  readonly onEvent: (kind: string, message: string) => void;
}

const POLL = `select ${SNAPSHOT_SQL}`;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
/** Timeout after which the connection is closed. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Time without changes after which polls are less frequent: a poll costs a wake-up on both sides. */
const QUIET_MS = 5_000;
const QUIET_FACTOR = 1.6;

export function watchSnapshots(options: SnapshotWatchOptions): SnapshotWatch {
  const watch = new Watch(options);
  watch.open();
  return watch;
}

class Watch implements SnapshotWatch {
  readonly #options: SnapshotWatchOptions;
  #session: DriverSession | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  /** Another poll was requested while one was pending, which may miss the change. */
  #pollAgain = false;
  #stopped = false;
  #failures = 0;
  #last: string | null = null;
  /** `performance.now()` of the last change. */
  #changedAt = 0;

  constructor(options: SnapshotWatchOptions) {
    this.#options = options;
  }

  open(): void {
    this.#options.open().then(
      (session) => {
        if (this.#stopped) {
          session.end();
          return;
        }
        session.owner = { ready: () => undefined, settled: () => undefined, lost: (_session, reason) => this.#lost(reason.message) };
        this.#session = session;
        if (session.isClosed) this.#lost('the connection is closed');
        else this.poll();
      },
      (error: unknown) => this.#lost(error instanceof Error ? error.message : String(error)),
    );
  }

  poll(): void {
    const session = this.#session;
    if (session === undefined || this.#stopped) return;
    if (this.#isPolling) {
      this.#pollAgain = true;
      return;
    }
    this.#isPolling = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => session.destroy(new ConnectionError('lost', 'the server did not answer')), ANSWER_TIMEOUT_MS);
    session.send(new WireExchange('json', [{ text: POLL, values: [] }], (done) => this.#answered(session, done)));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#session?.end();
    this.#session = undefined;
  }

  #answered(session: DriverSession, { failure, rows }: WireExchange): void {
    if (this.#stopped || session !== this.#session) return;
    this.#isPolling = false;
    clearTimeout(this.#timer);
    if (failure !== null) {
      session.end();
      this.#lost(failure.message);
      return;
    }
    this.#failures = 0;
    const again = this.#pollAgain;
    this.#pollAgain = false;
    const snapshot = rows[0]?.[0]?.join('') ?? null;
    const now = performance.now();
    if (snapshot !== this.#last) this.#changedAt = now;
    this.#last = snapshot;
    const { intervalMs, onSnapshot } = this.#options;
    this.#timer = setTimeout(() => this.poll(), now - this.#changedAt < QUIET_MS ? intervalMs : intervalMs * QUIET_FACTOR);
    onSnapshot(snapshot);
    if (again) this.poll();
  }

  #lost(reason: string): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#session = undefined;
    this.#isPolling = false;
    this.#pollAgain = false;
    if (this.#failures === 0) this.#options.onEvent('snapshot-watch-failed', reason);
    this.#timer = setTimeout(() => this.open(), Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures));
    this.#failures += 1;
    this.#options.onSnapshot(null);
  }
}
