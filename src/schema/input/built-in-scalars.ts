/** The scalars of the GraphQL specification in their strict form: arguments of the engine's own fields and directives. */
import { isJsonNumber, type Json, numberText } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import type { ScalarSchemaType } from '../types.ts';
import { describeJson, expected } from './found.ts';

const INTEGER = /^-?\d+$/;

/** The number when it is an integer of 32 bits, also when written `5.0` or `5e0`. */
function int32(json: Json): number | undefined {
  if (!isJsonNumber(json)) return undefined;
  const text = numberText(json);
  if (!INTEGER.test(text) && !Number.isInteger(Number(text))) return undefined;
  const value = Number(text);
  return value >= -2147483648 && value <= 2147483647 ? value : undefined;
}

export const BOOLEAN: ScalarSchemaType = {
  kind: 'scalar',
  name: 'Boolean',
  description: null,
  check(json: Json, at: Path, found = describeJson(json)): Json {
    if (typeof json !== 'boolean') throw expected('a boolean', 'Boolean', found, at);
    return json;
  },
};

export const STRING: ScalarSchemaType = {
  kind: 'scalar',
  name: 'String',
  description: null,
  check(json: Json, at: Path, found = describeJson(json)): Json {
    if (typeof json !== 'string') throw expected('a string', 'String', found, at);
    return json;
  },
};

export const INT: ScalarSchemaType = {
  kind: 'scalar',
  name: 'Int',
  description: null,
  check(json: Json, at: Path, found = describeJson(json)): Json {
    const value = int32(json);
    if (value === undefined) throw expected('a 32-bit integer', 'Int', found, at);
    return value;
  },
};
