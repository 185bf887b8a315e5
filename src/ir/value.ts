/**
 * Values in the IR are references: a plan holds no values of a request, so it can be reused. Only literals of the document are literals
 * here.
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
  | TransactionLocalValue;

/** Literal that was checked against the type. `null` is SQL NULL. */
export interface LiteralValue {
  readonly kind: 'literal';
  readonly json: Json;
}

/** The value of a GraphQL variable, or a part of it at `path` (keys and indexes). */
export interface VariableValue {
  readonly kind: 'variable';
  readonly name: string;
  readonly path: readonly (string | number)[];
  /** Position of the variable in the request, for errors. */
  readonly at: Path;
  /** Names the part of the value that `check` returns, if it is an opaque text. */
  readonly part?: string;
  /**
   * Coerces the value of the request when the plan is bound.
   * @param request the same object for all values of a request, so that work on one of them can be shared
   * @throws SvcError
   */
  readonly check: (json: Json, at: Path, request?: object) => Json;
}

/**
 * Values of one key in the list of objects that a GraphQL variable (or a part of it) holds; null for objects without the key. Lists of any
 * length have the same reference.
 */
export interface MembersValue {
  readonly kind: 'members';
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly key: string;
  /** Position of the list in the request, for errors. */
  readonly at: Path;
  /** Coerces one value. @throws SvcError */
  readonly check: VariableValue['check'];
}

/** One session variable (name in lower case), always text. Binding fails with `not-found` if it is missing. */
export interface SessionValue {
  readonly kind: 'session';
  readonly name: string;
}

/** All session variables as one JSON object: the session argument of functions. */
export interface SessionVariablesValue {
  readonly kind: 'session-variables';
}

/** Values that a run provides: the name of its placeholders, and one part of all keys of a join, as texts. */
export type JoinValue = { readonly kind: 'placeholder-name' } | { readonly kind: 'join-keys'; readonly part: number };

/** Position of a stream: initially `start`, then after the last returned row. At most one in a statement. */
export interface CursorValue {
  readonly kind: 'cursor';
  readonly start: Value;
}

/** A cell of rows that earlier statements of the same transaction returned. The source fills it in when it runs the statement. */
export interface TransactionLocalValue {
  readonly kind: 'transaction-local';
  /** Indexes of the statements in the transaction; their rows are concatenated. */
  readonly statements: readonly number[];
  readonly cell: number;
  /** Index of one row; `null` for the cells of all rows, which are JSON texts, as one JSON array. */
  readonly row: number | null;
}

/** List in the document whose items may be variables. */
export interface ListValue {
  readonly kind: 'list';
  readonly items: readonly Value[];
}

/** Value in the place of a database type. With `list` it is a list of that type (`_in`). */
export interface Operand {
  readonly value: Value;
  readonly type: CatalogType;
  readonly list: boolean;
}
