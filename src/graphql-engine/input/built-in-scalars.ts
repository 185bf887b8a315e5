/**
 * The scalars of the GraphQL specification in their strict form, for `limit` or `distinct`, directives and introspection. Columns of type
 * `Int` have a different scalar with the same name, which accepts what the database accepts.
 */
import { isJsonNumber, type Json, numberText } from '../../util/json.ts';
import { typeRef, type ScalarSchemaType, type TypeRef } from '../types.ts';
import { describeValue, expected } from './input-errors.ts';

const INTEGER = /^-?\d+$/;
const MAX_INT = 2 ** 31 - 1;
const MAX_BIGINT = 2n ** 63n - 1n;

/** @param accept returns the value to use, or undefined to reject it */
function scalar(name: string, what: string, accept: (json: Json) => Json | undefined): ScalarSchemaType {
  return {
    kind: 'scalar',
    name,
    description: null,
    check(json, at, found = describeValue(json)) {
      const value = accept(json);
      if (value === undefined) throw expected(what, name, found, at);
      return value;
    },
  };
}

/** Returns the number if it is an integer of 32 bits, including `5.0` and `5e0`. */
function int32(json: Json): number | undefined {
  if (!isJsonNumber(json)) return undefined;
  const text = numberText(json);
  if (!INTEGER.test(text) && !Number.isInteger(Number(text))) return undefined;
  const value = Number(text);
  return value >= -MAX_INT - 1 && value <= MAX_INT ? value : undefined;
}

export const BOOLEAN_SCALAR = scalar('Boolean', 'a boolean', (json) => (typeof json === 'boolean' ? json : undefined));
export const STRING_SCALAR = scalar('String', 'a string', (json) => (typeof json === 'string' ? json : undefined));
export const INT_SCALAR = scalar('Int', 'a 32-bit integer', int32);
export const FLOAT_SCALAR = scalar('Float', 'a float', (json) => (isJsonNumber(json) ? json : undefined));

/** `limit`: a number from 0 to 2^31 - 1. */
export const NON_NEGATIVE_INT = scalar('Int', 'a non-negative 32-bit integer', (json) => {
  const value = int32(json);
  return value === undefined || value < 0 ? undefined : value;
});

const BIG_INT = scalar('Int', 'a 32-bit integer, or a 64-bit integer represented as a string', (json) => {
  const text = bigIntText(json);
  return /^\d{1,19}$/.test(text) && BigInt(text) <= MAX_BIGINT ? json : undefined;
});
const NOT_NEGATIVE = scalar('Int', 'a non-negative 32-bit integer, or a 64-bit integer represented as a string', (json) =>
  /^-\d+$/.test(bigIntText(json)) ? undefined : json,
);

function bigIntText(json: Json): string {
  if (isJsonNumber(json)) return numberText(json);
  return typeof json === 'string' ? json : '';
}

/** `offset`: up to 64 bits, also as a string of digits; large values stay text. */
export const OFFSET_INT: ScalarSchemaType = {
  ...BIG_INT,
  check: (json, at, found) => BIG_INT.check(NOT_NEGATIVE.check(json, at, found), at, found),
};

/** Returns a reference to one of the scalars above. */
export function builtin(type: ScalarSchemaType, nonNull = false): TypeRef<ScalarSchemaType> {
  return typeRef(type.name, () => type, nonNull);
}
