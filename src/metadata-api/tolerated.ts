/** Warnings about inconsistent objects that do not fail a change. */
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Change, Warning } from '../state/state.ts';

/** Returns a warning for each new tolerated record; none if the change allows inconsistencies, because its answer lists them. */
export function toleratedBy(
  { inconsistencies: rule }: Change,
  before: readonly Inconsistency[],
  after: readonly Inconsistency[],
): readonly Warning[] {
  const tolerated = rule === 'allow' ? [] : after.filter((each) => each.tolerated === true);
  if (tolerated.length === 0) return [];
  const known = new Set(before.map(({ objectId }) => objectId));
  return tolerated
    .filter(({ objectId }) => !known.has(objectId))
    .map(({ type, name, reason }) => ({ code: 'inconsistent-metadata', type, name, message: reason }));
}
