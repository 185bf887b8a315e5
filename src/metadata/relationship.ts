import type { QualifiedName } from '../catalog/catalog.ts';

export interface ManualConfiguration {
  readonly remoteTable: QualifiedName;
  readonly columnMapping: ReadonlyMap<string, string>;
  readonly insertionOrder: 'before_parent' | 'after_parent' | null;
}

export type ObjectUsing =
  | { readonly kind: 'own-columns'; readonly columns: readonly string[] }
  | { readonly kind: 'remote-columns'; readonly table: QualifiedName; readonly columns: readonly string[] }
  | { readonly kind: 'manual'; readonly manual: ManualConfiguration };

export type ArrayUsing = Exclude<ObjectUsing, { readonly kind: 'own-columns' }>;

export interface Relationship<U> {
  readonly name: string;
  readonly using: U;
  readonly comment?: string;
}

export type ObjectRelationship = Relationship<ObjectUsing>;
export type ArrayRelationship = Relationship<ArrayUsing>;
