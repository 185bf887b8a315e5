/** Names of the GraphQL language. */

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

export function isGraphqlName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Returns true for names that a type or a root field may have. Names that begin with `__` are reserved for introspection by the GraphQL
 * specification.
 */
export function isSchemaName(name: string): boolean {
  return isGraphqlName(name) && !name.startsWith('__');
}
