import type { QualifiedName } from '../catalog/catalog.ts';
import type { Operand } from './value.ts';

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
