import { SvcError } from '../errors/svc-error.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { dependents, type DroppedObject, refusalOf } from '../schema-cache/dependencies.ts';
import type { Snapshot } from '../state/snapshot.ts';

/**
 * The metadata without what depends on objects that are about to go.
 * @throws SvcError dependency-error when something does and `cascade` is false
 */
export function dropDependents(metadata: Metadata, dropped: readonly DroppedObject[], cascade: boolean, snapshot: Snapshot): Metadata {
  const found = dependents(metadata, snapshot.cache, dropped);
  if (found.length > 0 && !cascade) throw new SvcError('dependency-error', refusalOf(found));
  return found.reduce((edited, dependent) => dependent.remove(edited), metadata);
}
