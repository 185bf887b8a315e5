import { Kind, type TypeNode } from 'graphql';
import type { RemoteTypeRef } from '../model.ts';

/** Converts a type of an SDL document. */
export function typeRefOf(node: TypeNode): RemoteTypeRef {
  if (node.kind === Kind.NON_NULL_TYPE) return { ...typeRefOf(node.type), nonNull: true };
  if (node.kind === Kind.LIST_TYPE) return { kind: 'list', item: typeRefOf(node.type), nonNull: false };
  return { kind: 'named', name: node.name.value, nonNull: false };
}
