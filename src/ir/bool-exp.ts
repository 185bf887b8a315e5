import type { Join, Relation } from './relation.ts';
import type { Operand } from './value.ts';
import type { CatalogType } from '../catalog/catalog.ts';
import type { FunctionCall } from './function-call.ts';

export type BoolExp =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly items: readonly BoolExp[] }
  | { readonly kind: 'not'; readonly item: BoolExp }
  | Guarded
  | Compare
  | { readonly kind: 'is-null'; readonly left: Read; readonly isNull: boolean }
  | CompareColumns
  | Exists
  | AggregatePredicate;

/**
 * Both hold, and `item` is not evaluated for rows for which `guard` is false: a request must not fail because of a row that the user may
 * not see. Joins a permission filter and a `where`.
 */
export interface Guarded {
  readonly kind: 'guarded';
  readonly guard: BoolExp;
  readonly item: BoolExp;
}

export interface Compare {
  readonly kind: 'compare';
  readonly left: Read;
  /** Name of an entry in the backend's comparison table: `_eq`, `_ilike`, `_st_d_within`. */
  readonly operator: string;
  readonly argument: ComparisonArgument;
  /** `a = b or (a is null and b is null)`: `_eq`, `_neq` on nullable columns in permissions. */
  readonly nullSafe: boolean;
}

export type ComparisonArgument =
  | { readonly kind: 'operand'; readonly operand: Operand }
  /** Operators with an input object, such as `_st_d_within`. Absent fields have their default. */
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, Operand>> };

/** `_ceq` and its family; `right` is read from the same row or from the root row of the rule. */
export interface CompareColumns {
  readonly kind: 'compare-columns';
  readonly left: Read;
  /** `_eq`, `_neq`, `_gt`, `_lt`, `_gte`, `_lte`. */
  readonly operator: string;
  readonly right: Read;
  readonly rightRow: 'self' | 'root';
  /** Number of `exists` conditions between this condition and the root row of the rule. */
  readonly levels: number;
  readonly nullSafe: boolean;
}

/** A row of `from` exists: over a relationship (`join` set), or anywhere (`_exists`). */
export interface Exists {
  readonly kind: 'exists';
  readonly join: Join | null;
  readonly from: Relation;
  /** The target's permission filter and the nested condition. */
  readonly where: BoolExp;
}

/** `<rel>_aggregate` in `where`: all comparisons hold for the aggregate of the related rows. */
export interface AggregatePredicate {
  readonly kind: 'aggregate-predicate';
  readonly join: Join;
  readonly from: Relation;
  /** The target's permission filter and the predicate's `filter`. */
  readonly where: BoolExp;
  /** `count`, `bool_and`, `avg`, `corr`, …; `count` without arguments is `count(*)`. */
  readonly function: string;
  readonly arguments: readonly Read[];
  readonly distinct: boolean;
  readonly predicate: readonly AggregateComparison[];
}

export type AggregateComparison =
  | { readonly kind: 'compare'; readonly operator: string; readonly operand: Operand }
  | { readonly kind: 'is-null'; readonly isNull: boolean };

/** A condition that is not composed of other conditions on the same row. */
export type BoolExpLeaf = Exclude<BoolExp, { readonly kind: 'and' | 'or' | 'not' | 'guarded' }>;

/** Returns true if `holds` is true for one of the leaves of a condition on a row. */
export function someLeaf(exp: BoolExp, holds: (leaf: BoolExpLeaf) => boolean): boolean {
  switch (exp.kind) {
    case 'and':
    case 'or':
      return exp.items.some((item) => someLeaf(item, holds));
    case 'not':
      return someLeaf(exp.item, holds);
    case 'guarded':
      return someLeaf(exp.guard, holds) || someLeaf(exp.item, holds);
    default:
      return holds(exp);
  }
}

/** Returns true if the condition compares with the row that is `depth` relationships further out, or beyond. */
export function comparesWithOuterRow(exp: BoolExp, depth: number): boolean {
  switch (exp.kind) {
    case 'and':
    case 'or':
      return exp.items.some((item) => comparesWithOuterRow(item, depth));
    case 'not':
      return comparesWithOuterRow(exp.item, depth);
    case 'guarded':
      return comparesWithOuterRow(exp.guard, depth) || comparesWithOuterRow(exp.item, depth);
    case 'compare-columns':
      return exp.rightRow === 'root' && exp.levels >= depth;
    case 'exists':
    case 'aggregate-predicate':
      return comparesWithOuterRow(exp.where, depth + 1);
    default:
      return false;
  }
}

export const TRUE: BoolExp = { kind: 'constant', value: true };
export const FALSE: BoolExp = { kind: 'constant', value: false };

/** Conjunction with the trivial cases folded. */
export function and(...items: readonly BoolExp[]): BoolExp {
  const rest: BoolExp[] = [];
  for (const item of items) {
    if (item.kind === 'constant') {
      if (!item.value) return FALSE;
    } else if (item.kind === 'and') rest.push(...item.items);
    else rest.push(item);
  }
  return rest.length === 0 ? TRUE : rest.length === 1 ? (rest[0] as BoolExp) : { kind: 'and', items: rest };
}

/** Disjunction with the trivial cases folded. */
export function or(...items: readonly BoolExp[]): BoolExp {
  const rest: BoolExp[] = [];
  for (const item of items) {
    if (item.kind === 'constant') {
      if (item.value) return TRUE;
    } else if (item.kind === 'or') rest.push(...item.items);
    else rest.push(item);
  }
  return rest.length === 0 ? FALSE : rest.length === 1 ? (rest[0] as BoolExp) : { kind: 'or', items: rest };
}

/** A permission filter, and a condition on the rows that pass it. */
export function guarded(guard: BoolExp, item: BoolExp): BoolExp {
  if (guard.kind === 'constant') return guard.value ? item : FALSE;
  if (item.kind === 'constant') return item.value ? guard : FALSE;
  return { kind: 'guarded', guard, item };
}

export function not(item: BoolExp): BoolExp {
  return item.kind === 'constant' ? (item.value ? FALSE : TRUE) : { kind: 'not', item };
}

/**
 * Every read of a column, in any place (output, where, order by, distinct on, aggregate, cursor, join key), is one `Read`: the only place
 * where a cell mask is applied.
 */
export type Read = ColumnRead | ComputedFieldRead | CastRead;

export interface ColumnRead {
  readonly kind: 'column';
  readonly column: string;
  readonly type: CatalogType;
  /** True if no row has null here. */
  readonly notNull?: boolean;
  /** Cell mask of an inherited role: the value is null for rows for which this is false. */
  readonly mask?: BoolExp;
}

/** A scalar computed field: a function of the row. */
export interface ComputedFieldRead {
  readonly kind: 'computed-field';
  readonly call: FunctionCall;
  readonly type: CatalogType;
  readonly mask?: BoolExp;
}

/** `_cast`: the value of another read as another type. */
export interface CastRead {
  readonly kind: 'cast';
  readonly read: Read;
  readonly type: CatalogType;
}
