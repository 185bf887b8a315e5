import { type Codec, leaf, parseFailed, text } from './codec.ts';

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;
const NAME_PART = /^[_0-9A-Za-z]+$/;

export function isGraphqlName(name: string): boolean {
  return NAME.test(name);
}

function matching(codecName: string, pattern: RegExp): Codec<string> {
  return leaf(
    codecName,
    (json, path) => {
      const value = text.decode(json, path);
      if (!pattern.test(value)) throw parseFailed(`${value} is not valid GraphQL name`, path);
      return value;
    },
    (value) => value,
  );
}

/** A name that the metadata gives to something in the GraphQL schema. */
export const graphqlName: Codec<string> = matching('Name', NAME);

/** What may follow a name: digits may come first. */
export const graphqlNameSuffix: Codec<string> = matching('Name', NAME_PART);
