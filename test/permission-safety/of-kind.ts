/** The properties of this folder as tests of a kind of database: how many cases, and which shares of them have to be telling. */
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
  /** ms that one may take */
  readonly each: number;
}

const GIVEN = process.env['SVC_SAFETY_CASES'];
const counted = (count: Count): number => Number(GIVEN ?? cases(...count));
const timeout = (all: number, each: number): number => Math.max(600_000, all * each);
/** A share is one of many cases. */
const share = (part: number, all: number): number => (DEEP ? part * all : 0);
const MANY_WORLDS = 10;
/**
 * The least share of answers that hold rows. In the answers of one world it is 0.56 on average and 0.2 now and then, with a standard deviation of
 * 0.16: a mean of few worlds is below 0.3 once in some hundred runs, and five deviations above 0.1.
 */
export const shareWithRows = (worlds: number): number => (worlds >= MANY_WORLDS ? 0.3 : 0.1);

/** @param place is asked for when the tests run */
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
    `answers ${count} random requests the same when what the role does not see is changed (seed ${SEED})`,
    async () => {
      const of = { all: count, rolesPerWorld: cases(...rolesPerWorld), perRole: cases(...perRole) };
      const { failed, asked } = await unseenChanges(place(), database, of);
      expect(failed).toBeLessThan(DEEP ? 0.6 * asked : asked);
    },
    timeout(count, each),
  );
}

/** The same of mutations. */
export function testWrites(database: Database, place: () => Place, all: Count): void {
  const count = counted(all);
  it(
    `does ${count} random mutations as a naive evaluator does (seed ${SEED})`,
    async () => {
      const { written, refused, asked } = await writesAsNaive(place(), database, { all: count, perWorld: 60 });
      expect(written).toBeGreaterThan(share(0.2, asked));
      expect(refused).toBeGreaterThan(share(0.1, asked));
    },
    timeout(count, 60),
  );
}
