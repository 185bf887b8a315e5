/**
 * Input coercion: which JSON values a scalar takes. What passes is sent to the database as text, so
 * for nearly every type a string passes too and the database has the last word.
 */
import { SvcError } from '../../../errors/svc-error.ts';
import { parseFailed, wrongType } from '../../../metadata/codec.ts';
import { isJsonNumber, type Json, JsonNumber, numberText } from '../../../util/json.ts';
import type { Path } from '../../../util/path.ts';
import { fitsDouble, integerText, parseDecimal, plainText, scientificText } from './decimal.ts';
import { checkGeoJson } from './geojson.ts';
import { isTimeOfDay } from './time-of-day.ts';

export type Check = (json: Json, at: Path) => Json;

/**
 * The check of one catalog type.
 * @param name catalog name of the (element) type
 * @param graphql its GraphQL name, for messages
 */
export function scalarCheck(name: string, graphql: string, known: boolean): Check {
  const check = (known ? CHECKS[name] : undefined) ?? stringOnly(name);
  return (json, at) => {
    if (json === null) throw new SvcError('validation-failed', `unexpected null value for type '${graphql}'`, { path: at });
    return check(json, at);
  };
}

function stringOnly(name: string): Check {
  return (json, at) => {
    if (typeof json !== 'string') throw parseFailed(`A string is expected for type: ${name}`, at);
    return json;
  };
}

function integer(sqlName: string, bits: number): Check {
  const limit = 2n ** BigInt(bits - 1);
  const most = Math.min(2 ** (bits - 1) - 1, Number.MAX_SAFE_INTEGER);
  return (json, at) => {
    if (typeof json === 'string') return json;
    if (Number.isInteger(json) && (json as number) <= most && (json as number) >= -most) return json;
    if (!isJsonNumber(json)) throw parseFailed(`Integer expected for input type: ${sqlName}`, at);
    const decimal = parseDecimal(numberText(json));
    const text = integerText(decimal);
    if (text === null || BigInt(text) >= limit || BigInt(text) < -limit) {
      throw parseFailed(
        `The value ${scientificText(decimal)} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`,
        at,
      );
    }
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : new JsonNumber(text);
  };
}

function float(sqlName: string): Check {
  return (json, at) => {
    if (typeof json === 'string') return json;
    if (!isJsonNumber(json)) throw parseFailed(`Float expected for input type: ${sqlName}`, at);
    const text = numberText(json);
    if (!fitsDouble(text)) {
      throw parseFailed(`The value ${scientificText(parseDecimal(text))} lies outside the bounds. Is it overflowing the float bounds?`, at);
    }
    return json;
  };
}

const numeric: Check = (json, at) => {
  if (typeof json !== 'string' && !isJsonNumber(json)) throw wrongType('Scientific', 'Number', json, at);
  return json;
};

/** The money type's input knows no exponents. */
const money: Check = (json, at) => {
  const value = numeric(json, at);
  if (typeof value === 'string') return value;
  const text = plainText(parseDecimal(numberText(value as number | JsonNumber)));
  if (text === null) throw parseFailed(`The value ${numberText(value as number | JsonNumber)} lies outside the bounds of money`, at);
  return new JsonNumber(text);
};

const boolean: Check = (json, at) => {
  if (typeof json !== 'boolean' && typeof json !== 'string') throw wrongType('Bool', 'Bool', json, at);
  return json;
};

const text: Check = (json, at) => {
  if (typeof json !== 'string') throw wrongType('Text', 'String', json, at);
  return json;
};

const timetz: Check = (json, at) => {
  const value = stringOnly('timetz')(json, at) as string;
  if (!isTimeOfDay(value)) throw parseFailed('could not parse timetz: not a time of day, such as 13:00:00+02', at);
  return value;
};

const anyJson: Check = (json) => json;

const geometry: Check = (json, at) => {
  if (typeof json !== 'string') checkGeoJson(json, at);
  return json;
};

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

const CHECKS: Readonly<Record<string, Check>> = {
  int2: integer('smallint', 16),
  int4: integer('integer', 32),
  int8: integer('bigint', 64),
  float4: float('real'),
  float8: float('double precision'),
  numeric,
  money,
  bool: boolean,
  text,
  varchar: text,
  bpchar: text,
  citext: text,
  timetz,
  json: anyJson,
  jsonb: anyJson,
  geometry,
  geography: geometry,
  raster,
  ltree,
};
