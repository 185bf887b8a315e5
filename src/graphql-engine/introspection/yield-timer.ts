/** Maximum time that long work runs before it yields to other requests, in ms. */
const MAX_RUN_MS = 8;

export interface YieldTimer {
  /** Returns true if it is time to yield. */
  due(): boolean;
  /** Lets other work run. */
  yield(): Promise<void>;
}

/** @param goOn called after every pause; an error that it throws ends the work */
export function startYieldTimer(goOn?: () => void): YieldTimer {
  let end = performance.now() + MAX_RUN_MS;
  return {
    due: () => performance.now() >= end,
    async yield() {
      await new Promise((resolve) => setImmediate(resolve));
      goOn?.();
      end = performance.now() + MAX_RUN_MS;
    },
  };
}
