/** Parses executable GraphQL documents into a tree with positions. */
import type { Span } from './document-place.ts';
import { type OperationKind, type Token, tokensOf } from './graphql-document.ts';
import { TokenCursor } from './token-cursor.ts';

export interface NamedNode extends Span {
  readonly name: string;
}

export type ValueNode = Span &
  (
    | { readonly kind: 'variable'; readonly name: string }
    | { readonly kind: 'object'; readonly fields: readonly ArgumentNode[] }
    | { readonly kind: 'list'; readonly items: readonly ValueNode[] }
    | { readonly kind: 'null' }
    | { readonly kind: 'number' | 'string' | 'boolean' | 'enum'; readonly text: string }
  );

/** An argument, or a field of an input object. The span is that of its name. */
export interface ArgumentNode extends NamedNode {
  readonly value: ValueNode;
}

export interface FieldNode extends NamedNode {
  readonly kind: 'field';
  readonly alias: string | undefined;
  readonly arguments: readonly ArgumentNode[];
  readonly directives: readonly DirectiveNode[];
  /** Undefined without braces; empty with empty braces. */
  readonly selections: readonly SelectionNode[] | undefined;
}

export interface DirectiveNode extends NamedNode {
  readonly arguments: readonly ArgumentNode[];
}

export type SelectionNode =
  | FieldNode
  | (NamedNode & { readonly kind: 'spread'; readonly directives: readonly DirectiveNode[] })
  | (Span & {
      readonly kind: 'inline';
      /** Undefined without `on`. */
      readonly type: NamedNode | undefined;
      readonly directives: readonly DirectiveNode[];
      readonly selections: readonly SelectionNode[];
    });

/** Declaration of a variable. The span is that of its name with `$`. */
export interface VariableNode extends NamedNode {
  /** Such as `[Int!]!`. */
  readonly type: string;
  readonly typeSpan: Span;
  readonly defaultValue: ValueNode | undefined;
}

export interface OperationNode extends Span {
  readonly kind: OperationKind;
  readonly name: string | undefined;
  readonly variables: readonly VariableNode[];
  readonly directives: readonly DirectiveNode[];
  readonly selections: readonly SelectionNode[];
}

/** A fragment. The span is that of its name. */
export interface FragmentNode extends NamedNode {
  readonly whole: Span;
  readonly type: NamedNode;
  readonly selections: readonly SelectionNode[];
}

export interface DocumentNode {
  readonly operations: readonly OperationNode[];
  readonly fragments: readonly FragmentNode[];
}

/** A syntax error at a place of the text. */
export class DocumentFault extends SyntaxError {
  readonly span: Span;

  constructor(message: string, span: Span) {
    super(message);
    this.span = span;
  }
}

/** Parses a document. Empty selection sets are allowed, because they are being written. @throws DocumentFault */
export function parseDocument(text: string): DocumentNode {
  const cursor = new TokenCursor(
    tokensOf(text),
    (expected, found) =>
      new DocumentFault(
        found === undefined ? `Expected ${expected}, but the document ends.` : `Expected ${expected}, found ${found.text.slice(0, 40)}.`,
        found ?? { from: Math.max(0, text.trimEnd().length - 1), to: text.trimEnd().length },
      ),
  );
  const operations: OperationNode[] = [];
  const fragments: FragmentNode[] = [];
  while (cursor.next !== undefined) {
    if (cursor.has('fragment')) fragments.push(fragment(cursor));
    else operations.push(operation(cursor));
  }
  return { operations, fragments };
}

const OPERATIONS: readonly string[] = ['query', 'mutation', 'subscription'];

function operation(cursor: TokenCursor): OperationNode {
  const from = cursor.next?.from ?? 0;
  if (cursor.has('{'))
    return { kind: 'query', name: undefined, variables: [], directives: [], from, selections: selections(cursor), to: endOf(cursor) };
  if (!OPERATIONS.includes(cursor.next?.text ?? '')) cursor.fail('query, mutation, subscription or fragment');
  const kind = cursor.any('an operation').text as OperationKind;
  const name = cursor.next?.kind === 'name' ? cursor.any('a name').text : undefined;
  const variables = cursor.skip('(') ? until(cursor, ')', () => variable(cursor)) : [];
  const applied = directives(cursor);
  return { kind, name, variables, directives: applied, from, selections: selections(cursor), to: endOf(cursor) };
}

function fragment(cursor: TokenCursor): FragmentNode {
  const from = cursor.next?.from ?? 0;
  cursor.take('fragment');
  const name = named(cursor.ofKind('name', 'the name of a fragment'));
  cursor.take('on');
  const type = named(cursor.ofKind('name', 'a type'));
  directives(cursor);
  return { ...name, type, selections: selections(cursor), whole: { from, to: endOf(cursor) } };
}

function variable(cursor: TokenCursor): VariableNode {
  const token = cursor.ofKind('variable', 'a variable');
  cursor.take(':');
  const from = cursor.next?.from ?? token.to;
  const type = cursor.type('a type');
  const typeSpan = { from, to: endOf(cursor) };
  const defaultValue = cursor.skip('=') ? value(cursor) : undefined;
  directives(cursor);
  return { name: token.text.slice(1), from: token.from, to: token.to, type, typeSpan, defaultValue };
}

function selections(cursor: TokenCursor): readonly SelectionNode[] {
  cursor.take('{');
  return until(cursor, '}', () => selection(cursor));
}

function selection(cursor: TokenCursor): SelectionNode {
  if (cursor.skip('...')) {
    const from = cursor.last?.from ?? 0;
    if (cursor.next?.kind === 'name' && !cursor.has('on')) {
      const name = named(cursor.any('a fragment'));
      return { kind: 'spread', ...name, directives: directives(cursor) };
    }
    const type = cursor.skip('on') ? named(cursor.ofKind('name', 'a type')) : undefined;
    const applied = directives(cursor);
    return { kind: 'inline', type, directives: applied, from, selections: selections(cursor), to: endOf(cursor) };
  }
  const first = named(cursor.ofKind('name', 'a field'));
  const alias = cursor.skip(':') ? first.name : undefined;
  const name = alias === undefined ? first : named(cursor.ofKind('name', 'a field'));
  const args = argumentsOf(cursor);
  const applied = directives(cursor);
  const inner = cursor.has('{') ? selections(cursor) : undefined;
  return { kind: 'field', ...name, alias, arguments: args, directives: applied, selections: inner };
}

function argumentsOf(cursor: TokenCursor): readonly ArgumentNode[] {
  return cursor.skip('(') ? until(cursor, ')', () => argument(cursor)) : [];
}

function argument(cursor: TokenCursor): ArgumentNode {
  const name = named(cursor.ofKind('name', 'the name of an argument'));
  cursor.take(':');
  return { ...name, value: value(cursor) };
}

function directives(cursor: TokenCursor): readonly DirectiveNode[] {
  const found: DirectiveNode[] = [];
  while (cursor.next?.kind === 'directive') {
    const token = cursor.any('a directive');
    found.push({ name: token.text.slice(1), from: token.from, to: token.to, arguments: argumentsOf(cursor) });
  }
  return found;
}

function value(cursor: TokenCursor): ValueNode {
  const token = cursor.any('a value');
  const { from, to, text } = token;
  if (text === '{') return { kind: 'object', from, fields: until(cursor, '}', () => argument(cursor)), to: endOf(cursor) };
  if (text === '[') return { kind: 'list', from, items: until(cursor, ']', () => value(cursor)), to: endOf(cursor) };
  if (token.kind === 'variable') return { kind: 'variable', name: text.slice(1), from, to };
  if (token.kind === 'number' || token.kind === 'string') return { kind: token.kind, text, from, to };
  if (token.kind !== 'name') throw new DocumentFault(`Expected a value, found ${text}.`, token);
  if (text === 'null') return { kind: 'null', from, to };
  return { kind: text === 'true' || text === 'false' ? 'boolean' : 'enum', text, from, to };
}

/** Reads items up to a closing mark, and the mark. */
function until<T>(cursor: TokenCursor, close: string, item: () => T): readonly T[] {
  const items: T[] = [];
  while (!cursor.skip(close)) items.push(item());
  return items;
}

function named({ text, from, to }: Token): NamedNode {
  return { name: text, from, to };
}

function endOf(cursor: TokenCursor): number {
  return cursor.last?.to ?? 0;
}
