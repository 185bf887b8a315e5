/**
 * The whole document. Immutable: an edit makes a new `Metadata` that shares every untouched
 * object, so stages and storage find out what changed by identity.
 */
import type { FunctionMetadata } from './function.ts';
import type { Source } from './source.ts';
import type { TableMetadata } from './table.ts';
import type { Json } from '../util/json.ts';

export interface Metadata {
  /** By source name. */
  readonly sources: ReadonlyMap<string, SourceMetadata>;
  readonly inheritedRoles: ReadonlyMap<string, InheritedRole>;
  readonly introspection: { readonly disabledForRoles: readonly string[] };
  /**
   * Top-level sections of later features, kept verbatim so that a document makes the round trip.
   * A feature that starts to exist takes its section out of here.
   */
  readonly other: ReadonlyMap<string, Json>;
}

export interface InheritedRole {
  readonly roleName: string;
  readonly roleSet: readonly string[];
}

/** A source with everything tracked in it. */
export interface SourceMetadata extends Source {
  /** By `nameKey`. */
  readonly tables: ReadonlyMap<string, TableMetadata>;
  readonly functions: ReadonlyMap<string, FunctionMetadata>;
}

export const EMPTY_METADATA: Metadata = {
  sources: new Map(),
  inheritedRoles: new Map(),
  introspection: { disabledForRoles: [] },
  other: new Map(),
};
