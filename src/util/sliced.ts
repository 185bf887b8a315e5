/**
 * Long computations that may pause: generators that yield between their steps. Run at once they
 * are plain functions; run in slices they let everything else happen in between.
 */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** So long, in milliseconds, other work waits for a slice; a request waits for several. */
const SLICE_MS = 4;

/** Runs it to its end. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Runs it to its end, and lets everything else happen every few milliseconds.
 * @param goOn is called after each pause; what it throws ends the work
 */
export async function inSlices<T>(work: Sliced<T>, goOn?: () => void): Promise<T> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() < end) continue;
    await new Promise((resolve) => setImmediate(resolve));
    goOn?.();
    end = performance.now() + SLICE_MS;
  }
}
