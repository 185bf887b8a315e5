import type { Metadata } from '../metadata/metadata.ts';
import { idInRenamedSource } from '../schema-cache/object-id.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Returns the inconsistencies before an edit with the ids that they have after it, so that those of a renamed source do not count as new.
 */
export function withRenamedSources({ metadata, cache }: Pick<Snapshot, 'metadata' | 'cache'>, edited: Metadata): readonly Inconsistency[] {
  const names = newNames(metadata, edited);
  if (names.size === 0) return cache.inconsistencies;
  return cache.inconsistencies.map((each) => ({ ...each, objectId: idInRenamedSource(each.objectId, names) }));
}

/** Maps old to new names of sources. A renamed source keeps its configuration object. */
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
