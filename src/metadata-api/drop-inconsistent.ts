import type { Metadata } from '../metadata/metadata.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import { removeObjects } from './remove-objects.ts';

/** The metadata without the objects that these records are about; informational records stay. */
export function dropInconsistent(metadata: Metadata, inconsistencies: readonly Inconsistency[]): Metadata {
  return removeObjects(metadata, new Set(inconsistencies.filter((each) => each.informational !== true).map((each) => each.objectId)));
}
