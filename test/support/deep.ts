/**
 * How thorough a run is, said in one place. `SVC_TEST_DEEP=1` (`npm run test:deep`) runs everything at full length;
 * else properties have fewer cases and sweeps leave out what differs from a neighbour in its spelling only.
 * `SVC_TEST_SEED` repeats the random cases of a run; the global set-up prints it.
 */
export const DEEP = process.env['SVC_TEST_DEEP'] === '1';

export const SEED = seedOf(process.env['SVC_TEST_SEED']);

function seedOf(given: string | undefined): number {
  if (given === undefined || given === '') return Date.now() % 2 ** 31;
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new Error(`SVC_TEST_SEED is no whole number: ${given}`);
  return seed;
}

/** How many cases of `full` this run has. */
export function cases(full: number, quick: number = Math.max(10, Math.ceil(full / 10))): number {
  return DEEP ? full : Math.min(full, quick);
}

/** The same, as fast-check takes it, with the seed of the run. */
export function runs(full: number, quick?: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: cases(full, quick), seed: SEED };
}
