import { isJsonArray, isJsonObject, type Json, printJson } from './json.ts';
import type { Sliced } from './sliced.ts';

/** Levels that are printed part by part; what lies deeper is printed at once. */
const LEVELS = 5;
/** Characters of a piece, at least; a pause comes after each. */
const PIECE = 16_384;

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
    if (level < LEVELS && (isJsonArray(value) || isJsonObject(value))) yield* print(value, level + 1);
    else text += printJson(value);
    if (text.length < PIECE) return;
    pieces.push(text);
    text = '';
    yield;
  }
  yield* part(json, 0);
  pieces.push(text);
  return pieces;
}
