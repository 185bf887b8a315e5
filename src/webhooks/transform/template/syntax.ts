/** The syntax tree of a template. */
import type { Json } from '../../../util/json.ts';
import type { Span } from './template-error.ts';

export const OPERATORS = ['==', '!=', '<=', '>=', '<', '>', '&&', '||', 'in', '??'] as const;
export type Operator = (typeof OPERATORS)[number];

export type Node =
  | { readonly kind: 'literal'; readonly value: Json; readonly span: Span }
  | { readonly kind: 'text'; readonly parts: readonly (string | Node)[]; readonly span: Span }
  | { readonly kind: 'array'; readonly items: readonly Node[]; readonly span: Span }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: Node])[]; readonly span: Span }
  | PathNode
  | { readonly kind: 'call'; readonly name: string; readonly argument: Node; readonly span: Span }
  | { readonly kind: 'not'; readonly operand: Node; readonly span: Span }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: Node; readonly right: Node; readonly span: Span }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: Node; readonly span: Span }
  | {
      readonly kind: 'range';
      readonly index: string;
      readonly item: string;
      readonly list: Node;
      readonly body: Node;
      readonly span: Span;
    };

export interface Branch {
  readonly condition: Node;
  readonly result: Node;
}

export interface PathNode {
  readonly kind: 'path';
  readonly variable: string;
  /** Of the variable alone. */
  readonly variableSpan: Span;
  /** Whether a variable that is not bound gives null. */
  readonly optional: boolean;
  readonly accessors: readonly Accessor[];
  readonly span: Span;
}

export interface Accessor {
  readonly key: string | Node;
  /** After a question mark: what is not there gives null. */
  readonly optional: boolean;
  readonly end: number;
}
