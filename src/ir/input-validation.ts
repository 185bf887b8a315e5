/** Input that a hook of the role's permission has to let through before anything is written. */
import type { ValidateInput } from '../metadata/validate-input.ts';
import type { Json } from '../util/json.ts';

/** JSON as the request wrote it. Variables are references, so that a plan holds no request's values. */
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
