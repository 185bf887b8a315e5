/** Types of a kind of database, as tables from which the core builds GraphQL types. */
import type { CatalogType } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';

export interface TypeSystem {
  /** Returns the scalar of a type; for an array, the scalar of its elements. Unknown types get a generic scalar. */
  scalar(type: CatalogType): ScalarType;
  /** Returns a built-in type whose scalar has this name in GraphQL; `null` if there is none. */
  named(graphql: string): CatalogType | null;
  /** Returns the name of a type for messages: `integer`, `text[]`. */
  print(type: CatalogType): string;
  /**
   * Returns whether columns of the types may relate tables: false if the database takes different values for equal (`'1x'` and 1).
   * Absent if it refuses such comparisons itself.
   */
  joins?(one: CatalogType, other: CatalogType): boolean;
  /**
   * Part of the names of comparison types (`Int_dbb_comparison_exp`), which differ between kinds with different operators; `null` for
   * none.
   */
  readonly comparisonInfix: string | null;
  /** Types on the reference page of operators, in order. One of the name `any_other` stands for types that the kind does not know. */
  readonly documented: readonly CatalogType[];
  /** Operators of whole arrays (`X_array_comparison_exp`). */
  readonly arrayComparisons: readonly Comparison[];
  /** Types of texts and numbers without a column, such as JSON keys and counts. */
  readonly basic: { readonly text: CatalogType; readonly integer: CatalogType };
  /** Aggregates of columns except `count`, in the order of the schema. */
  readonly aggregates: readonly AggregateFunction[];
  /** Types of groups; for kinds with the capability `groups`. */
  readonly grouping?: Grouping;
  /** Types over which `bool_and`/`bool_or` (boolean) and `avg`/`sum`/… (float) predicates work. */
  readonly aggregatePredicates: readonly AggregatePredicateFunction[];
}

export interface ScalarType {
  /** Name of the GraphQL scalar: `Int`, `uuid`. Objects with a type whose name is invalid in GraphQL are inconsistent. */
  readonly graphql: string;
  /** Name of the scalar of a whole array, for arguments of functions: `_int4`. */
  readonly graphqlArray: string;
  /** Operators in addition to those of every type (`COMMON_COMPARISONS`), in order. */
  readonly comparisons: readonly Comparison[];
  /** sum, avg, … and `_inc` exist. */
  readonly numeric: boolean;
  /** True if its aggregates cannot be compared with other numbers, only with values of this type. */
  readonly sumsAsItself?: boolean;
  /** min and max exist. */
  readonly comparable: boolean;
  /** min and max of its arrays exist. */
  readonly arraysComparable: boolean;
  /** `_gt` and its family exist (not for raster). */
  readonly ordered: boolean;
  /** Accepts any JSON value, and has a `path` argument on output. */
  readonly json: boolean;
  /** `_append`, `_delete_key` and the other JSON update operators exist. */
  readonly jsonOperators: boolean;
  /** Values have an equality, unlike JSON that is stored as text. */
  readonly hasEquality: boolean;
  /** Returns the value if the scalar accepts it. @throws SvcError */
  check(json: Json, at: Path): Json;
}

/** A comparison operator. A new operator is one entry in its backend's table. */
export interface Comparison {
  /** `_ilike` */
  readonly name: string;
  readonly description: string | null;
  /** Additional cost, counted in values of an operation. Default 0. */
  readonly cost?: number;
  readonly argument: /** the column's own type */
    | { readonly kind: 'same' }
    /** a list of the column's own type */
    | { readonly kind: 'list' }
    /** another type, or a list of that */
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
  /** Name in GraphQL and in the IR: `sum`, `stddev_pop`. */
  readonly name: string;
  readonly takes: 'numeric' | 'comparable';
  /** True if the result has the type of the operand; otherwise it is a `Float`. */
  readonly sameType: boolean;
}

export interface Grouping {
  /** Returns whether rows can be grouped by values of the type: comparing them never fails, for any value. */
  isKey(type: CatalogType): boolean;
  /** Returns how values of the type are put into periods of time; `null` if they are not. */
  time(type: CatalogType): TimeValues | null;
  /** Types of the results of aggregates, for conditions on groups. Aggregates that are in none have no conditions. */
  readonly results: readonly AggregateResults[];
}

export interface TimeValues {
  /** True for moments, which a time zone turns into days and hours. */
  readonly isZoned: boolean;
  /** False for dates. */
  readonly hasTime: boolean;
}

/** Aggregates with the same results. */
export interface AggregateResults {
  /** Names in `TypeSystem.aggregates`; the first one is part of the name of their type. */
  readonly functions: readonly string[];
  /** Returns the type of the result; `null` if there is no such aggregate of the type. */
  result(operand: CatalogType): CatalogType | null;
}

export interface AggregatePredicateFunction {
  /** `bool_and`, `avg`, `corr` */
  readonly name: string;
  /** Exact type of the columns that it accepts. */
  readonly argumentType: CatalogType;
  /** Keys of an input object with several columns (`X`, `Y`); `null` for one column. */
  readonly argumentNames: readonly string[] | null;
  readonly resultType: CatalogType;
}
