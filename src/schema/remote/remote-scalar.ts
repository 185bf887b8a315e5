/** Scalars of other servers: what they take, and what texts become on their way to them. */
import { SvcError } from '../../errors/svc-error.ts';
import { isJsonNumber, type Json, type JsonNumber, numberText, parseJson } from '../../util/json.ts';
import { BOOLEAN, FLOAT, INT, STRING } from '../../graphql-engine/input/built-in-scalars.ts';
import { describeValue, expected } from '../../graphql-engine/input/found.ts';
import type { ScalarSchemaType } from '../../graphql-engine/types.ts';

const INTEGER = /^-?\d+$/;

/** Takes texts and whole numbers. */
const ID: ScalarSchemaType = {
  kind: 'scalar',
  name: 'ID',
  description: null,
  check(json, path, found = describeValue(json)) {
    if (typeof json === 'string' || (isJsonNumber(json) && INTEGER.test(numberText(json)))) return json;
    throw expected('a string or an integer', 'ID', found, path);
  },
};

export const REMOTE_BUILT_IN: ReadonlyMap<string, ScalarSchemaType> = new Map(
  [INT, FLOAT, STRING, BOOLEAN, ID].map((scalar) => [scalar.name, scalar]),
);

/** A scalar of the server's own: any JSON, only the server knows. */
export function customScalar(name: string, description: string | null): ScalarSchemaType {
  return { kind: 'scalar', name, description, enumLiterals: true, check: (json) => json };
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The value of a session variable for a scalar. @param type the server's name of it
 * @throws SvcError coercion-error
 */
export function scalarOfText(type: string, text: string): Json {
  switch (type) {
    case 'Int':
      if (!INTEGER.test(text)) throw notCoerced(text, 'an Int');
      return parseJson(text);
    case 'Float':
      if (!NUMBER.test(text)) throw notCoerced(text, 'a Float');
      return parseJson(text);
    case 'Boolean':
      if (text !== 'true' && text !== 'false') throw notCoerced(text, 'a Boolean');
      return text === 'true';
    default:
      return text;
  }
}

function notCoerced(text: string, type: string): SvcError {
  return new SvcError('coercion-error', `${JSON.stringify(text)} cannot be coerced into ${type} value`);
}

/** A part of the key of a join for a scalar: numbers of databases come as texts. */
export function scalarOfKey(type: string, text: string): Json {
  if (type === 'Int' || type === 'Float') return NUMBER.test(text) ? (parseJson(text) as number | JsonNumber) : text;
  if (type === 'Boolean') return text === 'true' || text === 't' ? true : text === 'false' || text === 'f' ? false : text;
  return text;
}
