/** Prints JSON values that contain `JsonNumber`s, character by character into a buffer, because concatenating strings costs more. */
import { type Json, JsonNumber } from '../model/json.ts';

/** Characters of the buffer. */
const SIZE = 16_384;
const MAX_NARROW = 255;
/** Maximum number of cached keys; rows have the same keys over and over. */
const MAX_CACHED_KEYS = 200;

const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Buffers of all calls, which are synchronous: they leave nothing behind in them, and allocate none. */
const narrow = Buffer.alloc(SIZE);
const wideBytes = Buffer.alloc(2 * SIZE);
const wide = new Uint16Array(wideBytes.buffer, wideBytes.byteOffset, SIZE);

// One closure, as in `parseExactJson`: the position in the buffers is a variable of the function.
export function printExactJson(json: Json): string {
  const keys = new Map<string, string>();
  let done = '';
  let used = 0;
  // Until the first character that needs more than a byte.
  let isNarrow = true;

  const flush = (): void => {
    done += isNarrow ? narrow.toString('latin1', 0, used) : wideBytes.toString('utf16le', 0, 2 * used);
    used = 0;
  };

  const character = (code: number): void => {
    if (used === SIZE) flush();
    if (isNarrow) narrow[used++] = code;
    else wide[used++] = code;
  };

  const put = (text: string): void => {
    const { length } = text;
    if (length > SIZE - used) {
      flush();
      if (length > SIZE) {
        done += text;
        return;
      }
    }
    let i = 0;
    if (isNarrow) {
      for (; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code > MAX_NARROW) break;
        narrow[used + i] = code;
      }
      used += i;
      if (i === length) return;
      flush();
      isNarrow = false;
    }
    for (; i < length; i++) wide[used++] = text.charCodeAt(i);
  };

  const putKey = (key: string): void => {
    let text = keys.get(key);
    if (text === undefined) {
      text = `${JSON.stringify(key)}:`;
      if (keys.size < MAX_CACHED_KEYS) keys.set(key, text);
    }
    put(text);
  };

  const putValue = (value: unknown): void => {
    if (typeof value === 'string') {
      put(JSON.stringify(value));
      return;
    }
    if (typeof value !== 'object' || value === null) {
      put(String(value));
      return;
    }
    if (Array.isArray(value)) {
      character(OPEN_LIST);
      for (let i = 0; i < value.length; i++) {
        if (i > 0) character(COMMA);
        putValue(value[i]);
      }
      character(CLOSE_LIST);
      return;
    }
    if (value instanceof JsonNumber) put(value.text);
    else putObject(value as Readonly<Record<string, unknown>>);
  };

  const putObject = (value: Readonly<Record<string, unknown>>): void => {
    character(OPEN_OBJECT);
    let first = true;
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item === undefined) continue;
      if (!first) character(COMMA);
      first = false;
      putKey(key);
      putValue(item);
    }
    character(CLOSE_OBJECT);
  };

  putValue(json);
  flush();
  return done;
}
