import { Semaphore } from './semaphore.ts';

/** Runs a task once fewer than the limit are running. When a task fails, those that wait fail with its error and do not start. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

/** @param limit maximum number of concurrent tasks */
export function limitConcurrency(limit: number): ConcurrencyLimit {
  const semaphore = new Semaphore((_, running) => running < limit);
  return async (task) => {
    await semaphore.acquire();
    try {
      return await task();
    } catch (error) {
      semaphore.rejectAll(error as Error);
      throw error;
    } finally {
      semaphore.release();
    }
  };
}
