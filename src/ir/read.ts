import type { CatalogType, QualifiedName } from '../catalog/catalog.ts';
import type { BoolExp } from './bool-exp.ts';
import type { Operand } from './value.ts';

/**
 * Every read of a column, wherever it stands (output, where, order by, distinct on, aggregate,
 * cursor, join key), is one `Read`: the only place where a cell mask is applied.
 */
export type Read = ColumnRead | ComputedFieldRead | CastRead;

export interface ColumnRead {
  readonly kind: 'column';
  readonly column: string;
  readonly type: CatalogType;
  /** No row has null here; absent: one may have. */
  readonly notNull?: true;
  /** Cell mask of an inherited role: the value is null where this does not hold for the row. */
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

/** Arguments in the function's order; `row` is the table row that a computed field is about. */
export interface FunctionCall {
  readonly function: QualifiedName;
  readonly arguments: readonly FunctionArgument[];
  /** False when the function is known not to be volatile; a statement that calls any other is run only once. */
  readonly volatile?: boolean;
  /** The function is immutable and is given all of its arguments: its value follows from them alone. */
  readonly immutable?: true;
}

export type FunctionArgument =
  | { readonly kind: 'row' }
  /** The value of a column of the row. */
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'value'; readonly name: string | null; readonly operand: Operand };
