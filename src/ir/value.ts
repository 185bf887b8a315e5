/**
 * Values in the IR are references: a plan holds no request's values, so it can be reused. Only
 * what the document itself writes out is a literal.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';

export type Value =
  | LiteralValue
  | VariableValue
  | SessionValue
  | SessionVariablesValue
  | ListValue
  | MembersValue
  | JoinValue
  | CursorValue
  | KeptValue;

/** Already checked against the type. `null` is SQL NULL. */
export interface LiteralValue {
  readonly kind: 'literal';
  readonly json: Json;
}

/** The value of a GraphQL variable, or a part of it (`path`: keys and indexes inside the value). */
export interface VariableValue {
  readonly kind: 'variable';
  readonly name: string;
  readonly path: readonly (string | number)[];
  /** Where the variable is used, for errors. */
  readonly at: Path;
  /** Coerces what the request sent; run at bind time. Throws `SvcError`. */
  readonly check: (json: Json, at: Path) => Json;
}

/**
 * One value per object of a list that a GraphQL variable (or a part of it) holds: that of a key, null where the object
 * has none. A list of any length is the same reference.
 */
export interface MembersValue {
  readonly kind: 'members';
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly key: string;
  /** Where the list is used, for errors. */
  readonly at: Path;
  /** As that of a variable, for one value. */
  readonly check: (json: Json, at: Path) => Json;
}

/** One session variable (lower-case name), always text. Missing: `not-found` at bind time. */
export interface SessionValue {
  readonly kind: 'session';
  readonly name: string;
}

/** All session variables as one JSON object: the session argument of functions. */
export interface SessionVariablesValue {
  readonly kind: 'session-variables';
}

/** What the run of a plan brings itself: the name of its holes, and the texts of a part of the keys that a join asks for. */
export type JoinValue = { readonly kind: 'hole-name' } | { readonly kind: 'join-keys'; readonly part: number };

/** Where a stream goes on: at `start` at first, then behind the rows that it has given. A statement has at most one. */
export interface CursorValue {
  readonly kind: 'cursor';
  readonly start: Value;
}

/** What rows of earlier statements of the same transaction have in a cell: the source that runs them brings it. */
export interface KeptValue {
  readonly kind: 'kept';
  /** Places of statements in the transaction; their rows one after another. */
  readonly statements: readonly number[];
  readonly cell: number;
  /** One row by its place; null: the cells of all rows, JSON texts, as one JSON array. */
  readonly row: number | null;
}

/** A list written in the document whose items may be variables. */
export interface ListValue {
  readonly kind: 'list';
  readonly items: readonly Value[];
}

/** A value at a position of a database type. With `list` it is a list of that type (`_in`). */
export interface Operand {
  readonly value: Value;
  readonly type: CatalogType;
  readonly list: boolean;
}
