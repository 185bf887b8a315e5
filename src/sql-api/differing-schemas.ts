/** Compares the schemas of roles in two snapshots, one after the other, so that only one pair is in memory. */
import { compareSchemas, type DifferingTexts } from '../graphql-engine/compare-schemas.ts';
import { sameForRole, unchangedTables } from '../schema/fields/same-for-role.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';

export interface DifferingSchema extends DifferingTexts {
  readonly role: string;
}

export interface SchemaComparison {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly roles: readonly string[];
  /** Maximum number of roles whose schemas are compared. */
  readonly maxRoles: number;
  /** See `deadlineCheck`. */
  readonly goOn: () => void;
}

/**
 * Yields the schemas that differ, in the order of the roles.
 * @returns roles beyond the maximum whose schemas may differ
 * @throws SvcError timeout, as `goOn` does
 */
export async function* differingSchemas(comparison: SchemaComparison): AsyncGenerator<DifferingSchema, readonly string[], undefined> {
  const { before, after, maxRoles, goOn } = comparison;
  const candidates = await runCooperatively(rolesThatMayDiffer(comparison), goOn);
  const settled = await runCooperatively(unchangedTables(before.cache, after.cache), goOn);
  for (const role of candidates.slice(0, maxRoles)) {
    goOn();
    const texts = await compareSchemas({
      before: before.wholeRoots(role, 'backend'),
      after: after.wholeRoots(role, 'backend'),
      isUnchanged: settled,
      onResume: goOn,
    });
    if (texts !== null) yield { role, ...texts };
  }
  return candidates.slice(maxRoles);
}

function* rolesThatMayDiffer({ before, after, roles }: SchemaComparison): Cooperative<string[]> {
  const found: string[] = [];
  for (const role of roles) {
    if (!sameForRole(before.cache, after.cache, role)) found.push(role);
    yield;
  }
  return found;
}
