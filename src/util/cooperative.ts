/**
 * Long computations that may pause: generators that yield between their steps. Run at once they
 * are plain functions; run in slices they let everything else happen in between.
 */
export type Cooperative<T> = Generator<undefined, T, undefined>;

/** So long, in milliseconds, other work waits for a slice; a request waits for several. */
const SLICE_MS = 4;

/** Runs it to its end. */
export function runSync<T>(work: Cooperative<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Runs it to its end, and lets everything else happen every few milliseconds.
 * @param onResume is called after each pause; what it throws ends the work
 */
export async function runCooperatively<T>(work: Cooperative<T>, onResume?: () => void): Promise<T> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() < end) continue;
    await new Promise((resolve) => setImmediate(resolve));
    onResume?.();
    end = performance.now() + SLICE_MS;
  }
}
