/** Hash of an operation without its names, values and spelling. */
import { createHash } from 'node:crypto';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type ValueNode,
} from 'graphql';

/** Maximum number of hashed parts of an operation, fragments expanded; only the start of a larger one counts. */
const MAX_PARTS = 10_000;

/**
 * Returns the hash, 40 hexadecimal digits. Fragments are expanded first. Aliases, directives, names of variables and values do not affect
 * the hash; the keys of objects in arguments do.
 * @param query a valid document
 */
export function operationHash(query: string, operationName: string | null): string {
  const { definitions } = parse(query, { noLocation: true });
  const fragments = new Map<string, FragmentDefinitionNode>();
  let operation: OperationDefinitionNode | undefined;
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    else if (definition.kind === Kind.OPERATION_DEFINITION && (operationName === null || definition.name?.value === operationName)) {
      operation ??= definition;
    }
  }
  const hash = createHash('sha1');
  if (operation === undefined) return hash.update(query).digest('hex');
  let left = MAX_PARTS;
  const write = (text: string): void => {
    hash.update(text);
    left -= 1;
  };
  const selections = (nodes: readonly SelectionNode[]): void => {
    for (const node of nodes) {
      if (left <= 0) return;
      if (node.kind === Kind.FIELD) field(node);
      else if (node.kind === Kind.INLINE_FRAGMENT) selections(node.selectionSet.selections);
      else selections(fragments.get(node.name.value)?.selectionSet.selections ?? []);
    }
  };
  const field = (node: FieldNode): void => {
    write(`${node.name.value} `);
    for (const argument of node.arguments ?? []) {
      write(`(${argument.name.value}:`);
      value(argument.value);
      write(')');
    }
    if (node.selectionSet === undefined) return;
    write('{');
    selections(node.selectionSet.selections);
    write('}');
  };
  const value = (node: ValueNode): void => {
    if (left <= 0) return;
    if (node.kind === Kind.OBJECT) {
      write('{');
      for (const entry of node.fields) {
        write(`${entry.name.value}:`);
        value(entry.value);
      }
      write('}');
    } else if (node.kind === Kind.LIST) {
      write('[');
      for (const item of node.values) value(item);
      write(']');
    } else write('null ');
  };
  write(`${operation.operation}{`);
  selections(operation.selectionSet.selections);
  write('}');
  return hash.digest('hex');
}
