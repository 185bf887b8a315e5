/**
 * SQL as a tree that keeps text, identifiers and values apart. Text comes only from template
 * literals in our own sources; everything else is an identifier, a literal or a parameter node,
 * and only the printer of a dialect turns it into characters.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { Operand } from '../ir/value.ts';

export type Sql =
  /** A text before the first value, between each two, and after the last. */
  | { readonly kind: 'template'; readonly texts: readonly string[]; readonly values: readonly Sql[] }
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'parameter'; readonly parameter: Parameter }
  | { readonly kind: 'sequence'; readonly items: readonly Sql[] };

/** What a placeholder stands for. `encode` turns the checked JSON value into the wire text. */
export interface Parameter {
  readonly operand: Operand;
  /** Equal keys share one placeholder. */
  readonly key: string;
  readonly encode: (json: Json) => string | null;
  /** The type that the statement casts the value to; undefined where it casts to none. */
  readonly cast?: ValueCast;
  /** The database goes through the whole value for each row, so that long ones are slow; in how many places it does. */
  readonly perRow?: number;
}

export interface ValueCast {
  readonly type: CatalogType;
  /** To an array of the type. */
  readonly array: boolean;
}

/** `` sql`select ${identifier('a')} from ${table}` `` */
export function sql(strings: TemplateStringsArray, ...values: readonly Sql[]): Sql {
  // Trees are made by the thousand: the strings are those of the source text, the same at every call.
  return { kind: 'template', texts: strings, values };
}

export const EMPTY: Sql = { kind: 'sequence', items: [] };

/** Whether a list that was joined has nothing in it. */
export function isEmpty(node: Sql): boolean {
  return node.kind === 'sequence' && node.items.length === 0;
}

export function identifier(name: string): Sql {
  return { kind: 'identifier', name };
}

/** A string literal; for values that are part of the plan, such as keys of JSON objects. */
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

/** The tree with other nodes in the place of its parameters. */
export function replaceParameters(node: Sql, replace: (parameter: Parameter) => Sql): Sql {
  if (node.kind === 'parameter') return replace(node.parameter);
  const within = (items: readonly Sql[]): readonly Sql[] => items.map((item) => replaceParameters(item, replace));
  if (node.kind === 'template') return { ...node, values: within(node.values) };
  return node.kind === 'sequence' ? { kind: 'sequence', items: within(node.items) } : node;
}

/** How one database writes the leaves. */
export interface Dialect {
  identifier(name: string): string;
  string(value: string): string;
  /** `$1`, `?`, `@p1`; `index` counts from 1. */
  placeholder(index: number): string;
  /** Whether equal parameters may share a placeholder. */
  readonly sharesPlaceholders: boolean;
}

export interface Printed {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** Prints the tree; parameters are numbered in order of first appearance. */
export function print(root: Sql, dialect: Dialect): Printed {
  const parameters: Parameter[] = [];
  const indexes = new Map<string, number>();
  // One text at the end: a chain of thousands of additions is kept in memory piece by piece.
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
        const known = dialect.sharesPlaceholders ? indexes.get(node.parameter.key) : undefined;
        if (known !== undefined) {
          const first = parameters[known - 1] as Parameter;
          const perRow = (first.perRow ?? 0) + (node.parameter.perRow ?? 0);
          if (perRow > 0) parameters[known - 1] = { ...first, perRow };
          pieces.push(dialect.placeholder(known));
          return;
        }
        parameters.push(node.parameter);
        indexes.set(node.parameter.key, parameters.length);
        pieces.push(dialect.placeholder(parameters.length));
        return;
      }
      case 'sequence':
        for (const item of node.items) visit(item);
    }
  };
  visit(root);
  return { text: pieces.join(''), parameters };
}
