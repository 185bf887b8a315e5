/** Input checks that several kinds of database have in common: which JSON values a scalar takes. */
import { parseFailed, wrongType } from '../../metadata/codec.ts';
import { fitsDouble, integerText, parseDecimal, scientificText } from '../../util/decimal.ts';
import { isJsonNumber, type Json, JsonNumber, numberText } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';

/** @throws SvcError parse-failed at the path */
export type Check = (json: Json, at: Path) => Json;

/** Texts only; the database has the last word. @param name of the type, for messages */
export function stringCheck(name: string): Check {
  return (json, at) => {
    if (typeof json !== 'string') throw parseFailed(`A string is expected for type: ${name}`, at);
    return json;
  };
}

/** Texts, and integers between the two. */
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

/** Texts, and numbers that a double can be near to. */
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

/** Texts, and any number. */
export const numericCheck: Check = (json, at) => {
  if (typeof json !== 'string' && !isJsonNumber(json)) throw wrongType('Scientific', 'Number', json, at);
  return json;
};

/** Truth values, and texts that the database reads as one. */
export const booleanCheck: Check = (json, at) => {
  if (typeof json !== 'boolean' && typeof json !== 'string') throw wrongType('Bool', 'Bool', json, at);
  return json;
};

/** Texts. */
export const textCheck: Check = (json, at) => {
  if (typeof json !== 'string') throw wrongType('Text', 'String', json, at);
  return json;
};

/** Whatever it is. */
export const anyJson: Check = (json) => json;
