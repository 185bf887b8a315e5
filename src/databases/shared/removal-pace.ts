/** How those that remove many rows leave time to others. */

/** Rows of one statement: what it writes and holds is over in a moment. */
export const MOST_REMOVED_AT_ONCE = 2_000;

/** Of a pause. ms */
const LONGEST_MS = 100;

/** A pause as long as what was just done, so that others have the database for half of the time at least. @param began by `performance.now()` */
export function rest(began: number): Promise<void> {
  const pause = Math.min(LONGEST_MS, performance.now() - began);
  return new Promise((resolve) => setTimeout(resolve, pause));
}
