/**
 * Notifies the pollers of one source when rows may have changed. It reads the database's snapshot at an interval, which is the only cost
 * of subscriptions while nothing changes. It runs only while there are listeners.
 */
import type { SnapshotWatch, Source } from '../backend/backend.ts';

export interface DetectorListener {
  /** Called when the snapshot may have changed. */
  onChange(): void;
}

export class Detector {
  readonly #source: Source;
  readonly #intervalMs: number;
  readonly #listeners = new Set<DetectorListener>();
  #watch: SnapshotWatch | undefined;
  #snapshot: string | null = null;
  #epoch = 0;
  #changedAt = 0;
  #isOutdated = false;

  constructor(source: Source, intervalMs: number) {
    this.#source = source;
    this.#intervalMs = intervalMs;
  }

  /** The newest snapshot; `null` if unknown: all cohorts then have to run. */
  get snapshot(): string | null {
    return this.#snapshot;
  }

  /** True if a write is known that `snapshot` may not reflect yet. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Incremented when snapshots are no longer comparable with earlier ones. */
  get epoch(): number {
    return this.#epoch;
  }

  /** `performance.now()` of the last change of the snapshot. */
  get changedAt(): number {
    return this.#changedAt;
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: DetectorListener): void {
    this.#listeners.add(listener);
    this.#watch ??= this.#source.watchSnapshots?.(this.#intervalMs, (snapshot) => this.#onSnapshot(snapshot));
  }

  remove(listener: DetectorListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#watch?.stop();
    this.#watch = undefined;
    this.#snapshot = null;
    this.#isOutdated = false;
    this.#epoch += 1;
  }

  /** Called after a write: reads the snapshot at once. */
  wake(): void {
    if (this.#watch === undefined) return;
    this.#isOutdated = true;
    this.#watch.poll();
  }

  #onSnapshot(snapshot: string | null): void {
    this.#isOutdated = false;
    if (snapshot === null) this.#epoch += 1;
    if (snapshot === this.#snapshot) return;
    this.#snapshot = snapshot;
    this.#changedAt = performance.now();
    for (const listener of [...this.#listeners]) listener.onChange();
  }
}
