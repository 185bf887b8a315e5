/** Long computation as a generator that yields between its steps, so that it can pause for other work. */
export type Cooperative<T> = Generator<undefined, T, undefined>;

/** Time between pauses, in ms; a request waits for several such slices. */
const SLICE_MS = 4;

/** Runs the computation to its end without a pause. */
export function runSync<T>(work: Cooperative<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Runs the computation to its end and yields to the event loop every few milliseconds.
 * @param onResume called after each pause; an error that it throws ends the work
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
