/**
 * Garbage collection while the service is idle. V8 collects when it allocates: after a load peak, for instance a hundred clients that did
 * not read their responses, an idle service would keep the garbage for as long as it stays idle.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 10_000;
/** Maximum event loop utilisation of an idle service. */
const MAX_IDLE_UTILIZATION = 0.05;
/** Minimum growth of the heap since the last collection, in bytes; below it, a collection frees too little. */
const MIN_GROWTH = 64 * 1024 * 1024;
/** Maximum size of the heap in bytes; a larger one takes too long to collect. */
const MAX_HEAP = 512 * 1024 * 1024;

export interface Heap {
  /** Size in bytes, garbage included. */
  used(): number;
  collect(): void;
}

/** Decides once per interval whether to collect the heap. */
export class IdleCollection {
  readonly #heap: Heap;
  /** Lowest size of the heap since the last collection. */
  #lowest: number;
  #isSecond = false;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#lowest = heap.used();
  }

  /** @param utilization of the event loop during the interval, from 0 to 1 */
  check(utilization: number): void {
    const used = this.#heap.used();
    // V8 has collected by itself.
    if (used < this.#lowest) this.#lowest = used;
    if (utilization > MAX_IDLE_UTILIZATION || used > MAX_HEAP || (!this.#isSecond && used < this.#lowest + MIN_GROWTH)) return;
    this.#heap.collect();
    this.#lowest = this.#heap.used();
    // Memory outside of the heap is freed by the second collection, after the first has found its owners unreachable.
    this.#isSecond = !this.#isSecond;
  }
}

/** Collects the heap of this process whenever it is idle. */
export function collectWhenIdle(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const idle = new IdleCollection({ used: () => getHeapStatistics().used_heap_size, collect });
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    idle.check(performance.eventLoopUtilization(now, before).utilization);
    before = now;
  }, INTERVAL_MS).unref();
}
