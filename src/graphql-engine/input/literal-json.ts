/** Literals as JSON, and as text for comparison; the document check limits the recursion. */
import { type FieldNode, Kind, type ValueNode } from 'graphql';
import { invariant } from '../../errors/svc-error.ts';
import { type Json, parseJson } from '../../util/json.ts';

const SHORT_INTEGER = /^-?[1-9]\d{0,14}$|^0$/;

/** Parses a number: GraphQL's numbers are a subset of JSON's. */
function jsonOfNumber(text: string): Json {
  return SHORT_INTEGER.test(text) ? Number(text) : parseJson(text);
}

/**
 * Enum values become strings.
 * @param variable returns the value of a variable inside the literal, or undefined to omit its key; absent if the grammar allows no
 *   variables
 */
export function literalJson(node: ValueNode, variable?: (name: string) => Json | undefined): Json {
  return jsonOf(node, variable) ?? null;
}

function jsonOf(node: ValueNode, variable: ((name: string) => Json | undefined) | undefined): Json | undefined {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return jsonOfNumber(node.value);
    case Kind.BOOLEAN:
    case Kind.STRING:
    case Kind.ENUM:
      return node.value;
    case Kind.LIST:
      return node.values.map((item) => literalJson(item, variable));
    case Kind.OBJECT: {
      // Entries instead of assignment: `__proto__` is a valid GraphQL name.
      const entries = node.fields.map((field) => [field.name.value, jsonOf(field.value, variable)] as const);
      return Object.fromEntries(entries.filter((entry): entry is readonly [string, Json] => entry[1] !== undefined));
    }
    case Kind.VARIABLE: {
      invariant(variable !== undefined, 'a constant literal holds no variable');
      return variable(node.name.value);
    }
  }
}

/** Returns a text that is equal for two literals if and only if they mean the same; the order of object keys does not matter. */
function canonicalLiteral(node: ValueNode): string {
  switch (node.kind) {
    case Kind.NULL:
      return 'null';
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.ENUM:
      return node.value;
    case Kind.BOOLEAN:
      return String(node.value);
    case Kind.STRING:
      return JSON.stringify(node.value);
    case Kind.VARIABLE:
      return `$${node.name.value}`;
    case Kind.LIST: {
      let text = '[';
      for (const item of node.values) text += `${canonicalLiteral(item)},`;
      return `${text}]`;
    }
    case Kind.OBJECT: {
      const fields = node.fields.map((field) => `${field.name.value}:${canonicalLiteral(field.value)}`);
      return `{${fields.sort().join()}}`;
    }
  }
}

/** Returns a text that is equal for equal arguments of a field, in any order. */
export function canonicalArguments(node: FieldNode): string {
  return (node.arguments ?? [])
    .map(({ name, value }) => `${name.value}:${canonicalLiteral(value)}`)
    .sort()
    .join();
}

export function holdsVariable(node: ValueNode): boolean {
  switch (node.kind) {
    case Kind.VARIABLE:
      return true;
    case Kind.LIST:
      return node.values.some(holdsVariable);
    case Kind.OBJECT:
      return node.fields.some((field) => holdsVariable(field.value));
    default:
      return false;
  }
}
