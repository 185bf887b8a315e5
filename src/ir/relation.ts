import type { QualifiedName } from '../catalog/catalog.ts';
import type { FunctionCall } from './function-call.ts';

/** Source of rows. */
export type Relation =
  /**
   * `stored`: reading it reads rows of this table only (no view, no inheritance, no policies). `snapshotBound`: one snapshot always shows
   * the same rows. Both are absent if unknown.
   */
  | { readonly kind: 'table'; readonly name: QualifiedName; readonly stored?: boolean; readonly snapshotBound?: boolean }
  /** A tracked function, or a table computed field, which takes the parent row as an argument. */
  | { readonly kind: 'function'; readonly call: FunctionCall };

/** Finds related rows by equality of columns. */
export interface Join {
  readonly columns: readonly { readonly local: string; readonly remote: string }[];
  /** True if the remote columns are a key of the target: at most one row per parent, so `limit 1` is not needed. */
  readonly unique: boolean;
  /** True if the tables may be on different servers: no part of a statement can then read both. Default false. */
  readonly crossServer?: boolean;
}
