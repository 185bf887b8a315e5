/** Runs a task when fewer than so many run; once one has failed, those that wait fail with it and are not begun. */
export type Turns = <T>(task: () => Promise<T>) => Promise<T>;

/** @param atOnce how many tasks may run at the same time */
export function createTurns(atOnce: number): Turns {
  const waiting: { begin(): void; fail(error: unknown): void }[] = [];
  let running = 0;
  return async (task) => {
    if (running >= atOnce) await new Promise<void>((begin, fail) => waiting.push({ begin, fail }));
    else running += 1;
    try {
      return await task();
    } catch (error) {
      for (const each of waiting.splice(0)) each.fail(error);
      throw error;
    } finally {
      // The turn goes on to the next one, so `running` stays.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next.begin();
    }
  };
}
