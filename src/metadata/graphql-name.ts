import { type Codec, leaf, parseFailed, text } from './codec.ts';

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;
const NAME_PART = /^[_0-9A-Za-z]+$/;

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

/** Names that the types of tables use themselves; columns and relationships with these names are omitted. */
const OWN_NAMES: ReadonlySet<string> = new Set(['_and', '_or', '_not']);

/** Returns true for names that a field of a table may have. */
export function isFieldName(name: string): boolean {
  return isSchemaName(name) && !OWN_NAMES.has(name);
}

function matching(codecName: string, pattern: RegExp, says: string): Codec<string> {
  return leaf(
    codecName,
    (json, path) => {
      const value = text.decode(json, path);
      if (!pattern.test(value)) throw parseFailed(`${value} is not valid GraphQL name`, path);
      return value;
    },
    (value) => value,
    { description: says },
  );
}

/** Name of something in the GraphQL schema. */
export const graphqlName: Codec<string> = matching('Name', NAME, 'A GraphQL name: letters, digits and `_`, not beginning with a digit.');

/** Suffix of a name: may begin with a digit. */
export const graphqlNameSuffix: Codec<string> = matching('Name', NAME_PART, 'Letters, digits and `_`, appended to a name.');
