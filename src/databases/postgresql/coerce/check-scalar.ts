/** Checks of JSON input. Values are sent to the database as texts, so most types accept strings, which the database checks. */
import { parseFailed, wrongType } from '../../../metadata/codec.ts';
import { JsonNumber, numberText } from '../../../util/json.ts';
import {
  anyJsonCheck,
  booleanCheck,
  type Check,
  floatCheck,
  geoJsonCheck,
  integerCheck,
  numericCheck,
  presentCheck,
  stringCheck,
  textCheck,
} from '../../shared/scalar-check.ts';
import { parseDecimal, plainText } from '../../../util/decimal.ts';
import { isTimeOfDay } from './time-of-day.ts';

/**
 * Returns the check of a catalog type.
 * @param name catalog name of the (element) type
 * @param graphql its GraphQL name, for messages
 */
export function scalarCheck(name: string, graphql: string, known: boolean): Check {
  return presentCheck(graphql, (known ? CHECKS[name] : undefined) ?? stringCheck(name));
}

/** The input of `money` accepts no exponents. */
const money: Check = (json, at) => {
  const value = numericCheck(json, at);
  if (typeof value === 'string') return value;
  const text = plainText(parseDecimal(numberText(value as number | JsonNumber)));
  if (text === null) throw parseFailed(`The value ${numberText(value as number | JsonNumber)} lies outside the bounds of money`, at);
  return new JsonNumber(text);
};

const timetz: Check = (json, at) => {
  const value = stringCheck('timetz')(json, at) as string;
  if (!isTimeOfDay(value)) throw parseFailed('could not parse timetz: not a time of day, such as 13:00:00+02', at);
  return value;
};

const geometry: Check = (json, at) => (typeof json === 'string' ? json : geoJsonCheck(json, at));

const raster: Check = (json, at) => {
  if (typeof json !== 'string' || !/^(?:[0-9a-f]{2})+$/i.test(json)) {
    throw parseFailed('invalid hexadecimal representation of raster well known binary format', at);
  }
  return json;
};

const ltree: Check = (json, at) => {
  if (typeof json !== 'string') throw wrongType('Text', 'String', json, at);
  if (json !== '' && !/^[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*$/u.test(json)) {
    throw parseFailed('Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3', at);
  }
  return json;
};

function integer(sqlName: string, bits: number): Check {
  const limit = 2n ** BigInt(bits - 1);
  return integerCheck(sqlName, -limit, limit - 1n);
}

const CHECKS: Readonly<Record<string, Check>> = {
  int2: integer('smallint', 16),
  int4: integer('integer', 32),
  int8: integer('bigint', 64),
  float4: floatCheck('real'),
  float8: floatCheck('double precision'),
  numeric: numericCheck,
  money,
  bool: booleanCheck,
  text: textCheck,
  varchar: textCheck,
  bpchar: textCheck,
  citext: textCheck,
  timetz,
  json: anyJsonCheck,
  jsonb: anyJsonCheck,
  geometry,
  geography: geometry,
  raster,
  ltree,
};
