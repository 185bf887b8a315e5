import type { QualifiedName } from '../catalog/catalog.ts';
import type { Operand } from './value.ts';

/** Arguments in the function's order; `row` is the table row of a computed field. */
export interface FunctionCall {
  readonly function: QualifiedName;
  readonly arguments: readonly FunctionArgument[];
  /** False if the function is known not to be volatile. A statement that calls any other function is run only once. */
  readonly volatile?: boolean;
  /** True if the function is immutable and all of its arguments are here: its value depends on them alone. */
  readonly immutable?: boolean;
}

export type FunctionArgument =
  | { readonly kind: 'row' }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'value'; readonly name: string | null; readonly operand: Operand };
