/** The properties of this folder as tests of a database kind, with the number of cases and the required shares of meaningful ones. */
import { expect, it } from 'vitest';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { answersAsNaive } from './answers-as-naive.ts';
import type { Place } from './set-up.ts';
import { unseenChanges } from './unseen-changes.ts';
import type { Database } from './world.ts';
import { writesAsNaive } from './writes-as-naive.ts';

/** In a deep run and in a short one. */
type Count = readonly [deep: number, short: number];

interface Reads {
  readonly all: Count;
  readonly perWorld: Count;
  readonly rolesPerWorld: Count;
  readonly perRole: Count;
  /** Time limit of a case, in ms. */
  readonly each: number;
}

const GIVEN = process.env['SVC_SAFETY_CASES'];
const counted = (count: Count): number => Number(GIVEN ?? cases(...count));
const timeout = (all: number, each: number): number => Math.max(600_000, all * each);
/** The share of one kind of cases among many. */
const share = (part: number, all: number): number => (DEEP ? part * all : 0);
const MANY_WORLDS = 10;
/**
 * The minimum share of answers that contain rows. In one world it is 0.56 on average and sometimes 0.2, with a standard deviation of
 * 0.16: the mean of few worlds is below 0.3 once in some hundred runs, and five deviations above 0.1.
 */
export const shareWithRows = (worlds: number): number => (worlds >= MANY_WORLDS ? 0.3 : 0.1);

/** @param place evaluated when the tests run */
export function testReads(database: Database, place: () => Place, { all, perWorld, rolesPerWorld, perRole, each }: Reads): void {
  const count = counted(all);
  it(
    `answers ${count} random requests as a naive evaluator does (seed ${SEED})`,
    async () => {
      const ofWorld = cases(...perWorld);
      const { nonEmpty, answered } = await answersAsNaive(place(), database, { all: count, perWorld: ofWorld });
      expect(nonEmpty).toBeGreaterThan(share(shareWithRows(count / ofWorld), answered));
    },
    timeout(count, each),
  );

  it(
    `answers ${count} random requests identically after changes of unseen data (seed ${SEED})`,
    async () => {
      const of = { all: count, rolesPerWorld: cases(...rolesPerWorld), perRole: cases(...perRole) };
      const { failed, asked } = await unseenChanges(place(), database, of);
      expect(failed).toBeLessThan(DEEP ? 0.6 * asked : asked);
    },
    timeout(count, each),
  );
}

/** Compares random mutations in the same way. */
export function testWrites(database: Database, place: () => Place, all: Count): void {
  const count = counted(all);
  it(
    `runs ${count} random mutations as a naive evaluator does (seed ${SEED})`,
    async () => {
      const { written, refused, asked } = await writesAsNaive(place(), database, { all: count, perWorld: 60 });
      expect(written).toBeGreaterThan(share(0.2, asked));
      expect(refused).toBeGreaterThan(share(0.1, asked));
    },
    timeout(count, 60),
  );
}
