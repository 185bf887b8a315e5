import type { QualifiedName } from '../catalog/catalog.ts';
import type { FunctionCall } from './function-call.ts';

/** What rows are read from. */
export type Relation =
  /**
   * `stored`: reading it reads rows of this table only (no view, no inheritance, no policies); `snapshotBound`: the same snapshot shows
   * the same rows. Absent: not known.
   */
  | { readonly kind: 'table'; readonly name: QualifiedName; readonly stored?: boolean; readonly snapshotBound?: boolean }
  /** A tracked function, or a table computed field (then an argument is the parent row). */
  | { readonly kind: 'function'; readonly call: FunctionCall };

/** How a related row is found: equality of columns of this row and of the other one. */
export interface Join {
  readonly columns: readonly { readonly local: string; readonly remote: string }[];
  /** The remote columns are a key of the target: at most one row per parent, no `limit 1` needed. */
  readonly unique: boolean;
  /** The two tables may be on different servers, so that no part of a statement can read both. Absent: they are not, or there is one server. */
  readonly apart?: true;
}
