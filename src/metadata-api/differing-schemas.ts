/** The schemas of roles in two snapshots, as texts: printed one after the other, and let go when they have been looked at. */
import { sameForRole } from '../schema/fields/same-for-role.ts';
import { printRoleSchema } from '../schema/sdl.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';

export interface DifferingSchema {
  readonly role: string;
  /** SDL. */
  readonly before: string;
  readonly after: string;
}

export interface Comparison {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly roles: readonly string[];
  /** Schemas that are printed; of further roles nothing is told. */
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
  for (const role of candidates.slice(0, most)) {
    goOn();
    const [one, other] = [await printed(before, role, goOn), await printed(after, role, goOn)];
    if (one !== other) yield { role, before: one, after: other };
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

function printed(snapshot: Snapshot, role: string, goOn: () => void): Promise<string> {
  return printRoleSchema(snapshot.wholeRoots(role, 'backend'), { goOn });
}
