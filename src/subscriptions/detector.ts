/**
 * Tells pollers of one source when rows may have changed: it asks the database for its snapshot every so often, which is all
 * that subscriptions cost while nothing happens. It works only while there is somebody to tell.
 */
import type { SnapshotWatch, Source } from '../backend/backend.ts';

/** Who is told. */
export interface Detecting {
  /** The snapshot may not be the one that was seen last. */
  detected(): void;
}

export class Detector {
  readonly #source: Source;
  readonly #intervalMs: number;
  readonly #all = new Set<Detecting>();
  #watch: SnapshotWatch | undefined;
  #snapshot: string | null = null;
  #epoch = 0;
  #changedAt = 0;
  #isAsked = false;

  constructor(source: Source, intervalMs: number) {
    this.#source = source;
    this.#intervalMs = intervalMs;
  }

  /** The newest known; null: none, so that everybody has to look for himself. */
  get snapshot(): string | null {
    return this.#snapshot;
  }

  /** Whether something is known to have been written that `snapshot` does not tell of. */
  get isOutdated(): boolean {
    return this.#isAsked;
  }

  /** Another number: what was seen before may no longer be compared with what is seen now. */
  get epoch(): number {
    return this.#epoch;
  }

  /** `performance.now()` when the snapshot became another one. */
  get changedAt(): number {
    return this.#changedAt;
  }

  get isIdle(): boolean {
    return this.#all.size === 0;
  }

  add(one: Detecting): void {
    this.#all.add(one);
    this.#watch ??= this.#source.watchSnapshots?.(this.#intervalMs, (snapshot) => this.#heard(snapshot));
  }

  remove(one: Detecting): void {
    this.#all.delete(one);
    if (this.#all.size > 0) return;
    this.#watch?.stop();
    this.#watch = undefined;
    this.#snapshot = null;
    this.#isAsked = false;
    this.#epoch += 1;
  }

  /** Something has been written: asks at once. */
  wake(): void {
    if (this.#watch === undefined) return;
    this.#isAsked = true;
    this.#watch.ask();
  }

  #heard(snapshot: string | null): void {
    this.#isAsked = false;
    if (snapshot === null) this.#epoch += 1;
    if (snapshot === this.#snapshot) return;
    this.#snapshot = snapshot;
    this.#changedAt = performance.now();
    for (const one of [...this.#all]) one.detected();
  }
}
