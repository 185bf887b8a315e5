import type { Metadata } from '../metadata/metadata.ts';
import { idInRenamedSource } from '../schema-cache/object-id.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * What was inconsistent before an edit, under the ids that it has in the edited metadata: a renamed
 * source takes its inconsistent objects with it, and none of them is new.
 */
export function underNewNames({ metadata, cache }: Pick<Snapshot, 'metadata' | 'cache'>, edited: Metadata): readonly Inconsistency[] {
  const names = newNames(metadata, edited);
  if (names.size === 0) return cache.inconsistencies;
  return cache.inconsistencies.map((each) => ({ ...each, objectId: idInRenamedSource(each.objectId, names) }));
}

/** A source that was renamed keeps its configuration, the same object. */
function newNames(before: Metadata, after: Metadata): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  if (before.sources === after.sources) return names;
  for (const [name, { configuration }] of before.sources) {
    if (after.sources.has(name)) continue;
    const now = [...after.sources.values()].find((source) => !before.sources.has(source.name) && source.configuration === configuration);
    if (now !== undefined) names.set(name, now.name);
  }
  return names;
}
