import { type Codec, leaf, parseFailed, text } from './codec.ts';

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;
const NAME_PART = /^[_0-9A-Za-z]+$/;

export function isGraphqlName(name: string): boolean {
  return NAME.test(name);
}

/** A name that a type or a root field may have; those that begin with `__` are introspection's (the GraphQL specification reserves them). */
export function isSchemaName(name: string): boolean {
  return isGraphqlName(name) && !name.startsWith('__');
}

/** Names that a table's types use themselves: a column or relationship of that name is left out of them. */
const OWN_NAMES: ReadonlySet<string> = new Set(['_and', '_or', '_not']);

/** A name that a field of a table may have. */
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
    { says },
  );
}

/** A name that the metadata gives to something in the GraphQL schema. */
export const graphqlName: Codec<string> = matching('Name', NAME, 'A name of GraphQL: letters, digits and `_`, no digit at its beginning.');

/** What may follow a name: digits may come first. */
export const graphqlNameSuffix: Codec<string> = matching('Name', NAME_PART, 'Letters, digits and `_`, to be put behind a name.');
