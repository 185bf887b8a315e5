import { Gate } from './gate.ts';

/** Runs a task when fewer than so many run; once one has failed, those that wait fail with it and are not begun. */
export type Turns = <T>(task: () => Promise<T>) => Promise<T>;

/** @param atOnce how many tasks may run at the same time */
export function createTurns(atOnce: number): Turns {
  const gate = new Gate((_, running) => running < atOnce);
  return async (task) => {
    await gate.enter();
    try {
      return await task();
    } catch (error) {
      gate.refuse(error as Error);
      throw error;
    } finally {
      gate.leave();
    }
  };
}
