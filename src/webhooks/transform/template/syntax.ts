/** The syntax tree of a template. */
import type { Json } from '../../../util/json.ts';
import type { SourceSpan } from './template-error.ts';

export const OPERATORS = ['==', '!=', '<=', '>=', '<', '>', '&&', '||', 'in', '??'] as const;
export type TemplateOperator = (typeof OPERATORS)[number];

export type Node =
  | { readonly kind: 'literal'; readonly value: Json; readonly span: SourceSpan }
  | { readonly kind: 'text'; readonly parts: readonly (string | Node)[]; readonly span: SourceSpan }
  | { readonly kind: 'array'; readonly items: readonly Node[]; readonly span: SourceSpan }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, value: Node])[]; readonly span: SourceSpan }
  | PathNode
  | { readonly kind: 'call'; readonly name: string; readonly argument: Node; readonly span: SourceSpan }
  | { readonly kind: 'not'; readonly operand: Node; readonly span: SourceSpan }
  | {
      readonly kind: 'operation';
      readonly operator: TemplateOperator;
      readonly left: Node;
      readonly right: Node;
      readonly span: SourceSpan;
    }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: Node; readonly span: SourceSpan }
  | {
      readonly kind: 'range';
      readonly index: string;
      readonly item: string;
      readonly list: Node;
      readonly body: Node;
      readonly span: SourceSpan;
    };

export interface Branch {
  readonly condition: Node;
  readonly result: Node;
}

export interface PathNode {
  readonly kind: 'path';
  readonly variable: string;
  /** Span of the variable alone. */
  readonly variableSpan: SourceSpan;
  /** If true, a variable that is not bound evaluates to null. */
  readonly optional: boolean;
  readonly accessors: readonly Accessor[];
  readonly span: SourceSpan;
}

export interface Accessor {
  readonly key: string | Node;
  /** After a question mark: a missing value evaluates to null. */
  readonly optional: boolean;
  readonly end: number;
}
