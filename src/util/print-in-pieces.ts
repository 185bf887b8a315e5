import { isJsonArray, isJsonObject, type Json, printJson } from './json.ts';
import type { Cooperative } from './cooperative.ts';

/** Levels that are printed part by part; deeper values are printed at once. */
const LEVELS = 32;
/** Minimum number of characters of a piece; each is followed by a pause. */
const PIECE = 16_384;
/** Maximum weight of a value that is printed at once: one per value inside, and one more for each 16 characters of a string. */
const MAX_WEIGHT = 1000;
const CHARACTERS_OF_VALUE = 16;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** Subtracts the weight of a value from `left`; stops below zero. */
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

/** `printJson` with pauses. @returns the text in pieces */
export function* printInPieces(json: Json): Cooperative<readonly string[]> {
  const pieces: string[] = [];
  let text = '';
  function* print(value: Json, level: number): Cooperative<void> {
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
  function* part(value: Json, level: number): Cooperative<void> {
    if (typeof value === 'string' && value.length > PIECE) yield* long(value);
    else if (level < LEVELS && (isJsonArray(value) || isJsonObject(value)) && weigh(value, MAX_WEIGHT, level) < 0)
      yield* print(value, level + 1);
    else text += printJson(value);
    if (text.length >= PIECE) yield* pause();
  }
  function* pause(): Cooperative<void> {
    pieces.push(text);
    text = '';
    yield;
  }
  function* long(value: string): Cooperative<void> {
    text += '"';
    for (let start = 0; start < value.length; ) {
      let end = start + PIECE;
      // Surrogate pairs are not split.
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
