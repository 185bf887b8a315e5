import { isJsonArray, isJsonObject, type Json, printJson } from './json.ts';
import type { Sliced } from './sliced.ts';

/** Levels that are printed part by part; what lies deeper is printed at once. */
const LEVELS = 32;
/** Characters of a piece, at least; a pause comes after each. */
const PIECE = 16_384;
/** Values inside a value that is printed at once; a text counts once more for each 16 characters. */
const AT_ONCE = 1000;
const CHARACTERS_OF_VALUE = 16;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** Returns what is left of a number of values after those of a value; below zero if there are more. Stops there. */
function weigh(value: Json, left: number, level: number): number {
  left -= 1;
  if (typeof value === 'string') return left - value.length / CHARACTERS_OF_VALUE;
  if (level === LEVELS) return left;
  if (isJsonArray(value)) {
    for (const item of value) {
      left = weigh(item, left, level + 1);
      if (left < 0) return left;
    }
  } else if (isJsonObject(value)) {
    for (const key in value) {
      left = weigh(value[key] as Json, left - key.length / CHARACTERS_OF_VALUE, level + 1);
      if (left < 0) return left;
    }
  }
  return left;
}

/** `printJson` with pauses, for values that may be large. @returns the text, in pieces */
export function* printInPieces(json: Json): Sliced<readonly string[]> {
  const pieces: string[] = [];
  let text = '';
  function* print(value: Json, level: number): Sliced<void> {
    if (isJsonArray(value)) {
      text += '[';
      for (const [i, item] of value.entries()) {
        if (i > 0) text += ',';
        yield* part(item, level);
      }
      text += ']';
    } else if (isJsonObject(value)) {
      text += '{';
      let isFirst = true;
      for (const [key, item] of Object.entries(value)) {
        if (item === undefined) continue;
        text += `${isFirst ? '' : ','}${JSON.stringify(key)}:`;
        isFirst = false;
        yield* part(item, level);
      }
      text += '}';
    }
  }
  function* part(value: Json, level: number): Sliced<void> {
    if (typeof value === 'string' && value.length > PIECE) yield* long(value);
    else if (level < LEVELS && (isJsonArray(value) || isJsonObject(value)) && weigh(value, AT_ONCE, level) < 0)
      yield* print(value, level + 1);
    else text += printJson(value);
    if (text.length >= PIECE) yield* pause();
  }
  function* pause(): Sliced<void> {
    pieces.push(text);
    text = '';
    yield;
  }
  function* long(value: string): Sliced<void> {
    text += '"';
    for (let start = 0; start < value.length; ) {
      let end = start + PIECE;
      // Two halves of a character are printed together.
      if (isHighSurrogate(value.charCodeAt(end - 1))) end += 1;
      text += JSON.stringify(value.slice(start, end)).slice(1, -1);
      start = end;
      if (start < value.length) yield* pause();
    }
    text += '"';
  }
  yield* part(json, 0);
  pieces.push(text);
  return pieces;
}
