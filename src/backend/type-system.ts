/** What the core reads of the types of a kind of database: tables to build GraphQL types from. */
import type { CatalogType } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';

export interface TypeSystem {
  /** The scalar of a type, its element's for an array. Total: unknown types get a generic scalar. */
  scalar(type: CatalogType): ScalarType;
  /** A type whose scalar has this name in GraphQL; null where the kind of database has none by itself. */
  named(graphql: string): CatalogType | null;
  /** What messages call the type: `integer`, `text[]`. */
  print(type: CatalogType): string;
  /**
   * Whether columns of the types may find related rows: false where the database would take values for equal that are not (`'1x'` and
   * 1). Absent: it refuses such comparisons itself.
   */
  joins?(one: CatalogType, other: CatalogType): boolean;
  /**
   * Stands in the names of comparison types (`Int_dbb_comparison_exp`), so that those of kinds whose operators differ are told
   * apart; null: nothing.
   */
  readonly comparisonInfix: string | null;
  /** Operators of whole arrays (`X_array_comparison_exp`). */
  readonly arrayComparisons: readonly Comparison[];
  /** What texts and numbers are that belong to no column: keys of JSON, counts. */
  readonly basic: { readonly text: CatalogType; readonly integer: CatalogType };
  /** Aggregates of columns, in the order of the schema; `count` is there anyhow. */
  readonly aggregates: readonly AggregateFunction[];
  /** Types over which `bool_and`/`bool_or` (boolean) and `avg`/`sum`/… (float) predicates work. */
  readonly aggregatePredicates: readonly AggregatePredicateFunction[];
}

export interface ScalarType {
  /** GraphQL scalar name, `Int`, `uuid`, `timestamptz`. May be no GraphQL name at all: then what has that type is inconsistent. */
  readonly graphql: string;
  /** Name of the scalar that a whole array of it is, where a function takes one: `_int4`. */
  readonly graphqlArray: string;
  /** Operators besides those that every type has (`COMMON_COMPARISONS`); in order. */
  readonly comparisons: readonly Comparison[];
  /** sum, avg, … and `_inc` exist. */
  readonly numeric: boolean;
  /** min and max exist. */
  readonly comparable: boolean;
  /** min and max of its arrays exist. */
  readonly arraysComparable: boolean;
  /** `_gt` and its family exist (not for raster). */
  readonly ordered: boolean;
  /** Any JSON value: takes every literal, and a `path` argument on output. */
  readonly json: boolean;
  /** Of JSON: `_append`, `_delete_key` and their kin exist. */
  readonly jsonOperators: boolean;
  /** Values can be compared; not those of JSON that is kept as the text that it came as. */
  readonly hasEquality: boolean;
  /** Kinds of literal and JSON value that are accepted, for messages. */
  check(json: Json, at: Path): Json;
}

/** A comparison operator. A new operator is one entry in its backend's table. */
export interface Comparison {
  /** `_ilike` */
  readonly name: string;
  readonly description: string | null;
  /** What it costs the database more than others do, in values of an operation; absent: nothing. */
  readonly cost?: number;
  readonly argument: /** the column's own type */
    | { readonly kind: 'same' }
    /** a list of the column's own type */
    | { readonly kind: 'list' }
    /** another type, or a list of it */
    | { readonly kind: 'type'; readonly type: CatalogType; readonly list: boolean }
    /** an input object type with a fixed name */
    | { readonly kind: 'input'; readonly name: string; readonly description: string | null; readonly fields: readonly ComparisonField[] }
    /** `_cast`: GraphQL name of the input type and, per key, the type that the column is cast to */
    | {
        readonly kind: 'cast';
        readonly name: string;
        readonly description: string | null;
        readonly targets: readonly { readonly key: string; readonly type: CatalogType }[];
      };
}

export interface ComparisonField {
  readonly name: string;
  readonly type: CatalogType;
  readonly required: boolean;
  /** GraphQL default, printed in the schema; absent fields take it. */
  readonly default?: Json;
}

export interface AggregateFunction {
  /** `sum`, `stddev_pop`: the name in the IR too. */
  readonly name: string;
  readonly takes: 'numeric' | 'comparable';
  /** Of the operand's type; else `Float`, where the operand is a column. */
  readonly sameType: boolean;
}

export interface AggregatePredicateFunction {
  /** `bool_and`, `avg`, `corr` */
  readonly name: string;
  /** The columns it takes must have exactly this type. */
  readonly argumentType: CatalogType;
  /** One column, or an input object with these keys (`X`, `Y`). */
  readonly argumentNames: readonly string[] | null;
  readonly resultType: CatalogType;
}
