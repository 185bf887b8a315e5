import { SvcError } from '../errors/svc-error.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { dependents, type DroppedObject, refusalOf } from '../schema-cache/dependencies.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Dependent } from '../schema-cache/dependent.ts';

/**
 * The metadata without what depends on objects that are about to go.
 * @throws SvcError dependency-error when something does and `cascade` is false
 */
export function dropDependents(metadata: Metadata, dropped: readonly DroppedObject[], cascade: boolean, snapshot: Snapshot): Metadata {
  return removeDependents(metadata, dropped, cascade, snapshot).metadata;
}

/** As `dropDependents`, with the list of what goes or changes. */
export function removeDependents(
  metadata: Metadata,
  dropped: readonly DroppedObject[],
  cascade: boolean,
  snapshot: Snapshot,
): { readonly metadata: Metadata; readonly found: readonly Dependent[] } {
  const found = dependents(metadata, snapshot.cache, dropped);
  if (found.length > 0 && !cascade) throw new SvcError('dependency-error', refusalOf(found));
  return { metadata: found.reduce((edited, dependent) => dependent.remove(edited), metadata), found };
}
