/**
 * Defines the length of a run in one place. `SVC_TEST_DEEP=1` (`npm run test:deep`) runs everything at full length.
 * Otherwise properties have fewer cases, and sweeps omit items that differ from a neighbour only in spelling.
 * `SVC_TEST_SEED` repeats the random cases of a run; the global set-up prints the seed. `SVC_TEST_SHARE` is the share of the random cases
 * that a deep run has, for runs with a limited time.
 */
export const DEEP = process.env['SVC_TEST_DEEP'] === '1';

export const SEED = seedOf(process.env['SVC_TEST_SEED']);

const SHARE = shareOf(process.env['SVC_TEST_SHARE']);

function seedOf(given: string | undefined): number {
  if (given === undefined || given === '') return Date.now() % 2 ** 31;
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new Error(`SVC_TEST_SEED is no whole number: ${given}`);
  return seed;
}

function shareOf(given: string | undefined): number {
  if (given === undefined || given === '') return 1;
  const share = Number(given);
  if (!(share > 0 && share <= 1)) throw new Error(`SVC_TEST_SHARE is not above 0 and at most 1: ${given}`);
  return share;
}

/**
 * All of `full` in a deep run, else `quick` of them, which depend on the seed, plus those that always run.
 * The order is preserved. For sweeps of expensive, similar items: each run tries some, many runs try all.
 */
export function sample<T>(full: readonly T[], quick: number, isWanted: (item: T) => boolean = () => false): readonly T[] {
  if (DEEP) return full;
  const others = full.filter((item) => !isWanted(item));
  const drawn = new Set(
    others
      .map((item, i) => ({ item, lot: lotOf(i) }))
      .sort((a, b) => a.lot - b.lot)
      .slice(0, quick)
      .map(({ item }) => item),
  );
  return full.filter((item) => isWanted(item) || drawn.has(item));
}

/** A number that depends only on the seed and `index`. */
function lotOf(index: number): number {
  let mixed = (SEED ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Number of cases in this run, out of `full`; in a deep run at least `quick`. */
export function cases(full: number, quick: number = Math.max(10, Math.ceil(full / 10))): number {
  const least = Math.min(full, quick);
  return DEEP ? Math.max(least, Math.ceil(full * SHARE)) : least;
}

/** Options of fast-check for this run: the number of cases and the seed. */
export function runs(full: number, quick?: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: cases(full, quick), seed: SEED };
}
