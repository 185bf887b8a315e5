import { isGraphqlName, isSchemaName } from '../model/graphql-name.ts';
import { type Codec, leaf, parseFailed, text } from './codec.ts';

const NAME_PART = /^[_0-9A-Za-z]+$/;

/** Names that the types of tables use themselves; columns and relationships with these names are omitted. */
const OWN_NAMES: ReadonlySet<string> = new Set(['_and', '_or', '_not']);

/** Returns true for names that a field of a table may have. */
export function isFieldName(name: string): boolean {
  return isSchemaName(name) && !OWN_NAMES.has(name);
}

function matching(codecName: string, isValid: (name: string) => boolean, says: string): Codec<string> {
  return leaf(
    codecName,
    (json, path) => {
      const value = text.decode(json, path);
      if (!isValid(value)) throw parseFailed(`${value} is not valid GraphQL name`, path);
      return value;
    },
    (value) => value,
    { description: says },
  );
}

/** Name of something in the GraphQL schema. */
export const graphqlName: Codec<string> = matching(
  'Name',
  isGraphqlName,
  'A GraphQL name: letters, digits and `_`, not beginning with a digit.',
);

/** Suffix of a name: may begin with a digit. */
export const graphqlNameSuffix: Codec<string> = matching(
  'Name',
  (name) => NAME_PART.test(name),
  'Letters, digits and `_`, appended to a name.',
);
