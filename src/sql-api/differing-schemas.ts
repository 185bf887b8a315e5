/** The schemas of roles in two snapshots, compared one after the other, and let go when they have been looked at. */
import { compareSchemas, type DifferingTexts } from '../graphql-engine/compare-schemas.ts';
import { sameForRole, settledIn } from '../schema/fields/same-for-role.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';

/** What differs of it; see `compareSchemas`. */
export interface DifferingSchema extends DifferingTexts {
  readonly role: string;
}

export interface Comparison {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly roles: readonly string[];
  /** Schemas that are compared; of further roles nothing is told. */
  readonly most: number;
  /** As `whileWanted` makes it. */
  readonly goOn: () => void;
}

/**
 * Those that differ, in the order of the roles.
 * @returns when all has been told: the roles that may differ but were beyond the limit
 * @throws SvcError timeout, as `goOn` does
 */
export async function* differingSchemas(comparison: Comparison): AsyncGenerator<DifferingSchema, readonly string[], undefined> {
  const { before, after, most, goOn } = comparison;
  const candidates = await inSlices(rolesThatMayDiffer(comparison), goOn);
  const settled = await inSlices(settledIn(before.cache, after.cache), goOn);
  for (const role of candidates.slice(0, most)) {
    goOn();
    const texts = await compareSchemas({
      before: before.wholeRoots(role, 'backend'),
      after: after.wholeRoots(role, 'backend'),
      settled,
      goOn,
    });
    if (texts !== null) yield { role, ...texts };
  }
  return candidates.slice(most);
}

function* rolesThatMayDiffer({ before, after, roles }: Comparison): Sliced<string[]> {
  const found: string[] = [];
  for (const role of roles) {
    if (!sameForRole(before.cache, after.cache, role)) found.push(role);
    yield;
  }
  return found;
}
