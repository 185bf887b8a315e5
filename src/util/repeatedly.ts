export interface Repetition {
  /** Begins no other run, and resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a task now, and again every so often. A run that is still under way when the next one is due takes its place, so that none
 * pile up; one that fails keeps none of the later ones from being tried.
 * @param interval ms
 */
export function repeatedly(task: () => Promise<void>, interval: number, failed: (error: unknown) => void): Repetition {
  let running: Promise<void> | null = null;
  const run = (): void => {
    running ??= task()
      .catch(failed)
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
