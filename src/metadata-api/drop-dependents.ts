import type { QualifiedName } from '../catalog/catalog.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { Snapshot } from '../state/snapshot.ts';

export type DroppedObject =
  | { readonly kind: 'table'; readonly source: string; readonly table: QualifiedName }
  | { readonly kind: 'relationship' | 'computed-field'; readonly source: string; readonly table: QualifiedName; readonly name: string }
  | { readonly kind: 'function'; readonly source: string; readonly function: QualifiedName };

export function dropDependents(metadata: Metadata, dropped: readonly DroppedObject[], cascade: boolean, snapshot: Snapshot): Metadata {
  void dropped; void cascade; void snapshot;
  return metadata;
}
