/**
 * SQL as a tree that separates text, identifiers and values. Text comes only from template literals in the source code; everything
 * else is an identifier, a literal or a parameter node, which only the printer of a dialect turns into characters.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { Operand } from '../ir/value.ts';

export type Sql =
  /** Texts before the first value, between values, and after the last value. */
  | { readonly kind: 'template'; readonly texts: readonly string[]; readonly values: readonly Sql[] }
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'parameter'; readonly parameter: Parameter }
  | { readonly kind: 'sequence'; readonly items: readonly Sql[] };

/** A parameter of a statement. `encode` turns a checked JSON value into the text that is sent. */
export interface Parameter {
  readonly operand: Operand;
  /** Parameters with the same key share a parameter marker. */
  readonly key: string;
  readonly encode: (json: Json) => string | null;
  /** Type to which the statement casts the value, if any. */
  readonly cast?: ValueCast;
  /** Number of places in which the database processes the whole value for each row, which makes long values slow. */
  readonly perRow?: number;
}

export interface ValueCast {
  readonly type: CatalogType;
  /** True if it is cast to an array of the type. */
  readonly array: boolean;
}

/** `` sql`select ${identifier('a')} from ${table}` `` */
export function sql(strings: TemplateStringsArray, ...values: readonly Sql[]): Sql {
  // Not copied: there are thousands of trees, and a template literal passes the same array at every call.
  return { kind: 'template', texts: strings, values };
}

export const EMPTY: Sql = { kind: 'sequence', items: [] };

/** Returns whether a joined list has no items. */
export function isEmpty(node: Sql): boolean {
  return node.kind === 'sequence' && node.items.length === 0;
}

export function identifier(name: string): Sql {
  return { kind: 'identifier', name };
}

/** A string literal, for values that are part of the plan, such as keys of JSON objects. */
export function string(value: string): Sql {
  return { kind: 'string', value };
}

/** An integer literal. */
export function integer(value: number): Sql {
  return { kind: 'integer', value };
}

export function parameter(parameter: Parameter): Sql {
  return { kind: 'parameter', parameter };
}

/** `a, b, c`, with any separator. */
export function join(items: readonly Sql[], separator: Sql): Sql {
  const joined: Sql[] = [];
  for (const item of items) {
    if (joined.length > 0) joined.push(separator);
    joined.push(item);
  }
  return { kind: 'sequence', items: joined };
}

/** Returns the tree with its parameters replaced by other nodes. */
export function replaceParameters(node: Sql, replace: (parameter: Parameter) => Sql): Sql {
  if (node.kind === 'parameter') return replace(node.parameter);
  const within = (items: readonly Sql[]): readonly Sql[] => items.map((item) => replaceParameters(item, replace));
  if (node.kind === 'template') return { ...node, values: within(node.values) };
  return node.kind === 'sequence' ? { kind: 'sequence', items: within(node.items) } : node;
}

/** Syntax of a database for the leaves of the tree. */
export interface Dialect {
  identifier(name: string): string;
  string(value: string): string;
  /** `$1`, `?`, `@p1`; `index` counts from 1. */
  parameterMarker(index: number): string;
  /** True if equal parameters may share a parameter marker. */
  readonly sharesParameterMarkers: boolean;
}

export interface Printed {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** Prints the tree; parameters are numbered in order of first appearance. */
export function print(root: Sql, dialect: Dialect): Printed {
  const parameters: Parameter[] = [];
  const indexes = new Map<string, number>();
  // Joined once at the end: V8 stores a string that was concatenated thousands of times piece by piece.
  const pieces: string[] = [];
  const visit = (node: Sql): void => {
    switch (node.kind) {
      case 'template': {
        const { texts, values } = node;
        for (let i = 0; i < texts.length; i++) {
          const text = texts[i] as string;
          if (text !== '') pieces.push(text);
          const value = values[i];
          if (value !== undefined) visit(value);
        }
        return;
      }
      case 'identifier':
        pieces.push(dialect.identifier(node.name));
        return;
      case 'string':
        pieces.push(dialect.string(node.value));
        return;
      case 'integer':
        if (!Number.isSafeInteger(node.value)) throw new Error(`not an integer: ${node.value}`);
        pieces.push(String(node.value));
        return;
      case 'parameter': {
        const known = dialect.sharesParameterMarkers ? indexes.get(node.parameter.key) : undefined;
        if (known !== undefined) {
          const first = parameters[known - 1] as Parameter;
          const perRow = (first.perRow ?? 0) + (node.parameter.perRow ?? 0);
          if (perRow > 0) parameters[known - 1] = { ...first, perRow };
          pieces.push(dialect.parameterMarker(known));
          return;
        }
        parameters.push(node.parameter);
        indexes.set(node.parameter.key, parameters.length);
        pieces.push(dialect.parameterMarker(parameters.length));
        return;
      }
      case 'sequence':
        for (const item of node.items) visit(item);
    }
  };
  visit(root);
  return { text: pieces.join(''), parameters };
}
