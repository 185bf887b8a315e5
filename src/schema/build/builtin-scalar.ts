/**
 * The strict scalars of GraphQL itself, for arguments such as `limit` or `distinct`. Columns of
 * type `Int` have another scalar of the same name, which takes what the database takes.
 */
import { isJsonNumber, type Json, numberText } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import type { ScalarSchemaType } from '../types.ts';
import { named, type TypeRef } from '../types.ts';
import { describeJson } from '../input/found.ts';
import { invalid } from './input.ts';

const MAX_INT = 2 ** 31 - 1;
const MAX_BIGINT = 2n ** 63n - 1n;

function scalar(name: string, check: ScalarSchemaType['check']): ScalarSchemaType {
  return { kind: 'scalar', name, description: null, check };
}

function refuse(expected: string, name: string, json: Json, at: Path, found: string | undefined): never {
  throw invalid(`expected ${expected} for type '${name}', but found ${found ?? describeJson(json)}`, at);
}

export const BOOLEAN = scalar('Boolean', (json, at, found) =>
  typeof json === 'boolean' ? json : refuse('a boolean', 'Boolean', json, at, found),
);

export const STRING = scalar('String', (json, at, found) =>
  typeof json === 'string' ? json : refuse('a string', 'String', json, at, found),
);

/** `Float` and `Int` results of aggregates; never an input. */
export const FLOAT = scalar('Float', (json, at, found) => (isJsonNumber(json) ? json : refuse('a float', 'Float', json, at, found)));

/** `limit`: a number from 0 to 2^31 - 1. */
export const NON_NEGATIVE_INT = scalar('Int', (json, at, found) => {
  const value = isJsonNumber(json) ? Number(numberText(json)) : Number.NaN;
  return Number.isInteger(value) && value >= 0 && value <= MAX_INT
    ? value
    : refuse('a non-negative 32-bit integer', 'Int', json, at, found);
});

/** `offset`: up to 64 bits, also as a string of digits; kept as text when it is large. */
export const OFFSET_INT = scalar('Int', (json, at, found) => {
  const text = isJsonNumber(json) ? numberText(json) : typeof json === 'string' ? json : '';
  const expected = 'a 32-bit integer, or a 64-bit integer represented as a string';
  if (/^-\d+$/.test(text)) refuse(`a non-negative ${expected.slice(2)}`, 'Int', json, at, found);
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > MAX_BIGINT) refuse(expected, 'Int', json, at, found);
  return json;
});

/** A reference to one of the scalars above. */
export function builtin(type: ScalarSchemaType, nonNull = false): TypeRef<ScalarSchemaType> {
  return named(type.name, () => type, nonNull);
}

/** `count`; never an input. */
export const RESULT_INT = scalar('Int', (json, at, found) =>
  isJsonNumber(json) ? json : refuse('a 32-bit integer', 'Int', json, at, found),
);
