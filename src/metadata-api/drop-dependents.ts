import { SvcError } from '../errors/svc-error.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { dependents, type DroppedObject, dropRefusal } from '../schema-cache/dependencies.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Dependent } from '../schema-cache/dependent.ts';

/**
 * Removes the dependents of objects that will be dropped.
 * @throws SvcError dependency-error if there are any and `cascade` is false
 */
export function dropDependents(metadata: Metadata, dropped: readonly DroppedObject[], cascade: boolean, snapshot: Snapshot): Metadata {
  return removeDependents(metadata, dropped, cascade, snapshot).metadata;
}

/** Like `dropDependents`, with the list of the dependents. */
export function removeDependents(
  metadata: Metadata,
  dropped: readonly DroppedObject[],
  cascade: boolean,
  snapshot: Snapshot,
): { readonly metadata: Metadata; readonly found: readonly Dependent[] } {
  const found = dependents(metadata, snapshot.cache, dropped);
  if (found.length > 0 && !cascade) throw new SvcError('dependency-error', dropRefusal(found));
  return { metadata: found.reduce((edited, dependent) => dependent.remove(edited), metadata), found };
}
