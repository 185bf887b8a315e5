/** Long work in slices, so that other requests are answered in between. */
const SLICE_MILLISECONDS = 8;

export interface Slices {
  /** Whether this slice has lasted long enough. */
  due(): boolean;
  /** Lets everything else run, then starts the next slice. */
  next(): Promise<void>;
}

/** @param goOn is called after each pause; what it throws ends the work */
export function startSlices(goOn?: () => void): Slices {
  let end = performance.now() + SLICE_MILLISECONDS;
  return {
    due: () => performance.now() >= end,
    async next() {
      await new Promise((resolve) => setImmediate(resolve));
      goOn?.();
      end = performance.now() + SLICE_MILLISECONDS;
    },
  };
}
