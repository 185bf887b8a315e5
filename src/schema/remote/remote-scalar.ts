/** Scalars of other servers: accepted values, and the conversion of texts. */
import { SvcError } from '../../errors/svc-error.ts';
import { isJsonNumber, type Json, type JsonNumber, numberText, parseJson } from '../../util/json.ts';
import { BOOLEAN_SCALAR, FLOAT_SCALAR, INT_SCALAR, STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { describeValue, expected } from '../../graphql-engine/input/input-errors.ts';
import type { ScalarSchemaType } from '../../graphql-engine/types.ts';

const INTEGER = /^-?\d+$/;

/** Accepts texts and whole numbers. */
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
  [INT_SCALAR, FLOAT_SCALAR, STRING_SCALAR, BOOLEAN_SCALAR, ID].map((scalar) => [scalar.name, scalar]),
);

/** Returns a scalar of the server's own, which accepts any JSON: only the server can check it. */
export function customScalar(name: string, description: string | null): ScalarSchemaType {
  return { kind: 'scalar', name, description, enumLiterals: true, check: (json) => json };
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Converts the value of a session variable. @param type the server's name of the scalar
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

/** Converts a part of a join key: databases return numbers as texts. */
export function scalarOfKey(type: string, text: string): Json {
  if (type === 'Int' || type === 'Float') return NUMBER.test(text) ? (parseJson(text) as number | JsonNumber) : text;
  if (type === 'Boolean') return text === 'true' || text === 't' ? true : text === 'false' || text === 'f' ? false : text;
  return text;
}
