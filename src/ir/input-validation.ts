/** Input that a validation hook of the role's permission has to accept before the write. */
import type { ValidateInput } from '../metadata/validate-input.ts';
import type { Json } from '../util/json.ts';

/** JSON of the request. Variables are references, so that a plan holds no values of a request. */
export type WrittenJson =
  | { readonly kind: 'json'; readonly json: Json }
  /** The value of a variable, or the part of it at a path. */
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly (string | number)[] }
  | { readonly kind: 'list'; readonly items: readonly WrittenJson[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: WrittenJson])[] };

/** All items of a list that is the value of a variable, or the part of it at a path. */
export interface WrittenItems {
  readonly kind: 'items';
  readonly name: string;
  readonly path: readonly (string | number)[];
}

export interface InputValidation {
  readonly hook: ValidateInput;
  /** Rows of an insert, arguments of an update or delete. */
  readonly input: readonly (WrittenJson | WrittenItems)[];
}
