import { Kind, type ValueNode } from 'graphql';
import type { WrittenJson } from '../../ir/input-validation.ts';
import { literalJson } from './literal-json.ts';

/** Returns a literal of the request; enum values become strings. */
export function writtenLiteral(node: ValueNode): WrittenJson {
  switch (node.kind) {
    case Kind.VARIABLE:
      return { kind: 'variable', name: node.name.value, path: [] };
    case Kind.LIST:
      return { kind: 'list', items: node.values.map(writtenLiteral) };
    case Kind.OBJECT:
      return { kind: 'object', entries: node.fields.map(({ name, value }) => [name.value, writtenLiteral(value)]) };
    default:
      return { kind: 'json', json: literalJson(node) };
  }
}
