/** Checks of JSON input that kinds share. */
import { SvcError } from '../../errors/svc-error.ts';
import { parseFailed, wrongType } from '../../metadata/codec.ts';
import { fitsDouble, integerText, parseDecimal, scientificText } from '../../util/decimal.ts';
import { isJsonNumber, type Json, JsonNumber, numberText } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import { checkGeoJson } from './geojson.ts';

/** @throws SvcError parse-failed at the path */
export type Check = (json: Json, at: Path) => Json;

/** Accepts texts, which the database checks. @param name of the type, for messages */
export function stringCheck(name: string): Check {
  return (json, at) => {
    if (typeof json !== 'string') throw parseFailed(`A string is expected for type: ${name}`, at);
    return json;
  };
}

/** Accepts texts, and integers in a range. */
export function integerCheck(sqlName: string, least: bigint, greatest: bigint): Check {
  const [low, high] = [Math.max(Number(least), -Number.MAX_SAFE_INTEGER), Math.min(Number(greatest), Number.MAX_SAFE_INTEGER)];
  return (json, at) => {
    if (typeof json === 'string') return json;
    if (Number.isInteger(json) && (json as number) <= high && (json as number) >= low) return json;
    if (!isJsonNumber(json)) throw parseFailed(`Integer expected for input type: ${sqlName}`, at);
    const decimal = parseDecimal(numberText(json));
    const text = integerText(decimal);
    if (text === null || BigInt(text) > greatest || BigInt(text) < least) {
      throw parseFailed(
        `The value ${scientificText(decimal)} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`,
        at,
      );
    }
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : new JsonNumber(text);
  };
}

/** Accepts texts, and numbers in the range of a double. */
export function floatCheck(sqlName: string): Check {
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

/** Accepts texts and numbers. */
export const numericCheck: Check = (json, at) => {
  if (typeof json !== 'string' && !isJsonNumber(json)) throw wrongType('Scientific', 'Number', json, at);
  return json;
};

/** Accepts booleans, and texts that the database reads as booleans. */
export const booleanCheck: Check = (json, at) => {
  if (typeof json !== 'boolean' && typeof json !== 'string') throw wrongType('Bool', 'Bool', json, at);
  return json;
};

/** Accepts texts. */
export const textCheck: Check = (json, at) => {
  if (typeof json !== 'string') throw wrongType('Text', 'String', json, at);
  return json;
};

/** Accepts any JSON value. */
export const anyJsonCheck: Check = (json) => json;

/** Accepts GeoJSON objects. */
export const geoJsonCheck: Check = (json, at) => {
  checkGeoJson(json, at);
  return json;
};

/** Adds to a check that the value is not null. @param graphql name of the type, for the message */
export function presentCheck(graphql: string, check: Check): Check {
  return (json, at) => {
    if (json === null) throw new SvcError('validation-failed', `unexpected null value for type '${graphql}'`, { path: at });
    return check(json, at);
  };
}
