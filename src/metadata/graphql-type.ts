/** Types in GraphQL notation: `[Point!]!`. */
import { type Path, ROOT } from '../util/path.ts';
import { type Codec, leaf, parseFailed, text } from './codec.ts';

export type GraphqlType =
  | { readonly kind: 'named'; readonly name: string; readonly nonNull: boolean }
  | { readonly kind: 'list'; readonly item: GraphqlType; readonly nonNull: boolean };

const TOKEN = /[ \t\r\n,]*(?:(\[)|(\])|(!)|([_A-Za-z][_0-9A-Za-z]*)|$)/y;
const MAX_LISTS = 16;

/** @throws SvcError parse-failed */
function parseGraphqlType(written: string, path: Path = ROOT): GraphqlType {
  const failed = () => parseFailed(`not a valid GraphQL type: ${written}`, path);
  let position = 0;
  const next = (): string => {
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(written);
    if (match === null) throw failed();
    position = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3] ?? match[4] ?? '';
  };
  const nonNull = (): boolean => {
    const before = position;
    if (next() === '!') return true;
    position = before;
    return false;
  };
  const type = (lists: number): GraphqlType => {
    const token = next();
    if (token === '[') {
      if (lists === MAX_LISTS) throw failed();
      const item = type(lists + 1);
      if (next() !== ']') throw failed();
      return { kind: 'list', item, nonNull: nonNull() };
    }
    if (token === '' || token === ']' || token === '!') throw failed();
    return { kind: 'named', name: token, nonNull: nonNull() };
  };
  const made = type(0);
  if (next() !== '') throw failed();
  return made;
}

export function printGraphqlType(type: GraphqlType): string {
  return (type.kind === 'list' ? `[${printGraphqlType(type.item)}]` : type.name) + (type.nonNull ? '!' : '');
}

/** Returns the name of the type inside all lists. */
export function namedTypeIn(type: GraphqlType): string {
  return type.kind === 'list' ? namedTypeIn(type.item) : type.name;
}

export const graphqlType: Codec<GraphqlType> = leaf(
  'GraphQLType',
  (json, path) => parseGraphqlType(text.decode(json, path), path),
  printGraphqlType,
  { description: 'A type in GraphQL notation: `String`, `[Int!]!`.' },
);
