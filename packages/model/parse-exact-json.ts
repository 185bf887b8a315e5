/** Parser of JSON text that preserves every number. */

/** `N` is the type of numbers that a double would change. */
export type ExactJson<N> = null | boolean | number | string | N | ExactJson<N>[] | { [key: string]: ExactJson<N> };

// Not imported, for speed: see `json-scan.ts`.
const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
/** Number of digits up to which a double distinguishes all decimals. */
const EXACT_DIGITS = 15;
/** Numbers below 10 to the power of minus this are printed with an exponent. */
const SMALLEST_PLAIN = 6;
const POWERS_OF_TEN = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);
/** Characters of a string that are read one by one: a search is faster for long strings and slower for short ones. */
const SHORT = 24;
/** Minimum length of a string that V8 keeps as a part of another one. */
const SLICED = 13;
/** Size of the table of cached keys, a power of two. */
const CACHED_KEYS = 64;
/** Characters that a string cannot contain literally: backslashes begin escapes, control characters are not allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const NOT_PLAIN = /[\\\u0000-\u001f]/;

export class JsonFault extends SyntaxError {
  /** Position of the error, in characters. */
  readonly at: number;
  constructor(at: number) {
    super(`unexpected text in JSON at position ${at}`);
    this.at = at;
  }
}

/** Returns a copy. V8 keeps the whole text in memory as long as a slice of 13 or more characters is used; flattening a concatenation copies. */
function ownText(slice: string): string {
  return slice.length < SLICED ? slice : ` ${slice}`.slice(1);
}

/**
 * Parses JSON text. Numbers that JavaScript prints as they are written become numbers: those of up to 15 digits, without an exponent or
 * zeros at the end of the fraction. Of duplicate keys, the last one counts.
 * @param exactNumber creates the representation of any other number
 * @throws JsonFault, or another SyntaxError for a bad escape and for text that is nested deeper than the stack allows
 */
// One closure on purpose: the text and the position are variables of the function, which its parts read faster than fields of an object.
export function parseExactJson<N>(text: string, exactNumber: (text: string) => N): ExactJson<N> {
  let at = 0;
  const cachedKeys = new Array<string>(CACHED_KEYS).fill('');

  const fault = (): JsonFault => new JsonFault(at);

  const skipSpace = (): number => {
    let code = text.charCodeAt(at);
    while (code === SPACE || code === NEWLINE || code === RETURN || code === TAB) code = text.charCodeAt(++at);
    return code;
  };

  const longString = (from: number): string => {
    const start = at + 1;
    let end = text.indexOf('"', from);
    for (; end >= 0; end = text.indexOf('"', end + 1)) {
      let slashes = 0;
      while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
      if (slashes % 2 === 0) break;
    }
    if (end < 0) throw fault();
    at = end + 1;
    const raw = text.slice(start, end);
    return NOT_PLAIN.test(raw) ? (JSON.parse(text.slice(start - 1, end + 1)) as string) : ownText(raw);
  };

  const string = (): string => {
    const start = at + 1;
    for (let i = start; i < start + SHORT; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        at = i + 1;
        return ownText(text.slice(start, i));
      }
      if (code === BACKSLASH || code < SPACE) break;
    }
    return longString(start);
  };

  /** Rows repeat their keys: a known key need not be copied and looked up again. */
  const key = (): string => {
    const start = at + 1;
    let hash = 0;
    for (let i = start; i < start + SHORT; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        at = i + 1;
        const place = hash & (CACHED_KEYS - 1);
        const known = cachedKeys[place] as string;
        if (known.length === i - start && text.startsWith(known, start)) return known;
        const fresh = ownText(text.slice(start, i));
        cachedKeys[place] = fresh;
        return fresh;
      }
      if (code === BACKSLASH || code < SPACE) break;
      hash = (hash * 31 + code) | 0;
    }
    return longString(start);
  };

  const digits = (): number => {
    const start = at;
    let code = text.charCodeAt(at);
    while (code >= ZERO && code <= NINE) code = text.charCodeAt(++at);
    if (at === start) throw fault();
    return code;
  };

  const number = (first: number): number | N => {
    const start = at;
    const whole = first === MINUS ? start + 1 : start;
    let i = whole;
    let code = text.charCodeAt(i);
    let value = 0;
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + (code - ZERO);
      code = text.charCodeAt(++i);
    }
    let count = i - whole;
    at = i;
    if (count === 0 || (count > 1 && text.charCodeAt(whole) === ZERO)) throw fault();
    let exact = !(value === 0 && first === MINUS && code !== POINT);
    let decimals = 0;
    if (code === POINT) {
      let last = POINT;
      code = text.charCodeAt(++i);
      while (code >= ZERO && code <= NINE) {
        value = value * 10 + (code - ZERO);
        last = code;
        code = text.charCodeAt(++i);
      }
      decimals = i - at - 1;
      count += decimals;
      at = i;
      if (decimals === 0) throw fault();
      // JavaScript prints it without the zero, or with an exponent.
      if (last === ZERO || value < 10 ** (decimals - SMALLEST_PLAIN)) exact = false;
    }
    if (code === 101 || code === 69) {
      exact = false;
      code = text.charCodeAt(++at);
      if (code === PLUS || code === MINUS) at += 1;
      digits();
    }
    if (!exact || count > EXACT_DIGITS) return exactNumber(ownText(text.slice(start, at)));
    // Both are exact integers, so the quotient is the double closest to the number.
    if (decimals > 0) value /= POWERS_OF_TEN[decimals] as number;
    return first === MINUS ? -value : value;
  };

  const word = <T>(expected: string, meaning: T): T => {
    if (!text.startsWith(expected, at)) throw fault();
    at += expected.length;
    return meaning;
  };

  const list = (): ExactJson<N>[] => {
    const items: ExactJson<N>[] = [];
    at += 1;
    if (skipSpace() === CLOSE_LIST) {
      at += 1;
      return items;
    }
    for (;;) {
      items.push(value());
      const code = skipSpace();
      if (code !== COMMA && code !== CLOSE_LIST) throw fault();
      at += 1;
      if (code === CLOSE_LIST) return items;
    }
  };

  const object = (): ExactJson<N> => {
    const out: Record<string, ExactJson<N>> = {};
    at += 1;
    if (skipSpace() === CLOSE_OBJECT) {
      at += 1;
      return out;
    }
    for (;;) {
      if (skipSpace() !== QUOTE) throw fault();
      const name = key();
      if (skipSpace() !== COLON) throw fault();
      at += 1;
      const item = value();
      if (name === '__proto__') Object.defineProperty(out, name, { value: item, enumerable: true, configurable: true, writable: true });
      else out[name] = item;
      const code = skipSpace();
      if (code !== COMMA && code !== CLOSE_OBJECT) throw fault();
      at += 1;
      if (code === CLOSE_OBJECT) return out;
    }
  };

  const value = (): ExactJson<N> => {
    const code = skipSpace();
    switch (code) {
      case QUOTE:
        return string();
      case OPEN_LIST:
        return list();
      case OPEN_OBJECT:
        return object();
      case 116:
        return word('true', true);
      case 102:
        return word('false', false);
      case 110:
        return word('null', null);
      default:
        return number(code);
    }
  };

  let whole: ExactJson<N>;
  try {
    whole = value();
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError('JSON is nested too deeply');
    throw error;
  }
  skipSpace();
  if (at < text.length) throw fault();
  return whole;
}
