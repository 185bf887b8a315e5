export interface Repetition {
  /** Starts no further run, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a task now and at an interval. If a run is still active when the next one is due, that one is skipped; a failed run does not affect
 * later ones.
 * @param interval in ms
 */
export function repeatedly(task: () => Promise<void>, interval: number, onFailure: (error: unknown) => void): Repetition {
  let running: Promise<void> | null = null;
  const run = (): void => {
    running ??= task()
      .catch(onFailure)
      .finally(() => {
        running = null;
      });
  };
  run();
  const timer = setInterval(run, interval).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
