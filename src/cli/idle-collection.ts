/**
 * Gives memory back after a storm. V8 collects when there is something to allocate: a service that had a hundred clients who did not
 * read, and has nothing to do since, would hold what is garbage for as long as it stays idle.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 10_000;
/** Part of the time in which a service that counts as idle does something. */
const IDLE = 0.05;
/** Bytes that the heap has to have grown by since it was collected: below, there is little to be had. */
const WORTHWHILE = 64 * 1024 * 1024;
/** Bytes of a heap that takes too long to collect at once, even where nobody seems to wait. */
const MOST = 512 * 1024 * 1024;

export interface Heap {
  /** Bytes in use, garbage included. */
  used(): number;
  collect(): void;
}

/** Looks at the heap once in each interval. */
export class IdleCollection {
  readonly #heap: Heap;
  /** Bytes that were in use after the last collection by it, or when there was less. */
  #left: number;
  #isSecond = false;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#left = heap.used();
  }

  /** @param busy the part of the interval in which the service did something */
  look(busy: number): void {
    const used = this.#heap.used();
    // V8 has collected by itself.
    if (used < this.#left) this.#left = used;
    if (busy > IDLE || used > MOST || (!this.#isSecond && used < this.#left + WORTHWHILE)) return;
    this.#heap.collect();
    this.#left = this.#heap.used();
    // What lies outside of the heap goes with the second one: the first finds that nobody has it any more.
    this.#isSecond = !this.#isSecond;
  }
}

/** Collects the heap of this process while it has nothing to do, for as long as it runs. */
export function collectWhenIdle(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const idle = new IdleCollection({ used: () => getHeapStatistics().used_heap_size, collect });
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    idle.look(performance.eventLoopUtilization(now, before).utilization);
    before = now;
  }, INTERVAL_MS).unref();
}
