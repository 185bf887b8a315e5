/** Asks the server again and again for its snapshot, on a connection of its own that is opened anew when it breaks. */
import type { SnapshotWatch } from '../../backend/backend.ts';
import { WireExchange } from './driver/exchange.ts';
import { ConnectionError } from './driver/database-error.ts';
import type { DriverSession } from './driver/session.ts';
import { SNAPSHOT_SQL } from './snapshot.ts';

export interface SnapshotWatchOptions {
  readonly open: () => Promise<DriverSession>;
  readonly intervalMs: number;
  /** Null: not known, and nothing that was known counts any more. */
  readonly onSnapshot: (snapshot: string | null) => void;
  readonly onEvent: (kind: string, message: string) => void;
}

const QUESTION = `select ${SNAPSHOT_SQL}`;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** A server that does not answer such a question is gone. */
const PATIENCE_MS = 10_000;
/** Where nothing has changed for a while it is asked less often: what a question costs is that both sides wake up for it. */
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
  #isAsking = false;
  /** Asked again while an answer was under way, which may not tell of it. */
  #again = false;
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
        else this.ask();
      },
      (error: unknown) => this.#lost(error instanceof Error ? error.message : String(error)),
    );
  }

  ask(): void {
    const session = this.#session;
    if (session === undefined || this.#stopped) return;
    if (this.#isAsking) {
      this.#again = true;
      return;
    }
    this.#isAsking = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => session.destroy(new ConnectionError('lost', 'the server did not answer')), PATIENCE_MS);
    session.send(new WireExchange('json', [{ text: QUESTION, values: [] }], (done) => this.#answered(session, done)));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#session?.end();
    this.#session = undefined;
  }

  #answered(session: DriverSession, { failure, rows }: WireExchange): void {
    if (this.#stopped || session !== this.#session) return;
    this.#isAsking = false;
    clearTimeout(this.#timer);
    if (failure !== null) {
      session.end();
      this.#lost(failure.message);
      return;
    }
    this.#failures = 0;
    const again = this.#again;
    this.#again = false;
    const snapshot = rows[0]?.[0]?.join('') ?? null;
    const now = performance.now();
    if (snapshot !== this.#last) this.#changedAt = now;
    this.#last = snapshot;
    const { intervalMs, onSnapshot } = this.#options;
    this.#timer = setTimeout(() => this.ask(), now - this.#changedAt < QUIET_MS ? intervalMs : intervalMs * QUIET_FACTOR);
    onSnapshot(snapshot);
    if (again) this.ask();
  }

  #lost(reason: string): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#session = undefined;
    this.#isAsking = false;
    this.#again = false;
    if (this.#failures === 0) this.#options.onEvent('snapshot-watch-failed', reason);
    this.#timer = setTimeout(() => this.open(), Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures));
    this.#failures += 1;
    this.#options.onSnapshot(null);
  }
}
