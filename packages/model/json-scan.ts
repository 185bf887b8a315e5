/** Scans JSON text before it is parsed: its cost, and the parser it needs. */

export interface JsonFacts {
  /** Levels of lists and objects. */
  readonly depth: number;
  /**
   * Cost of parsing and printing the text, in plain values (`WEIGHTS`). Measured in CPU time of a process that does it for the first time;
   * a plain value takes 0.1 to 0.2 microseconds.
   */
  readonly size: number;
  /** Every number prints as the same text after a conversion to an IEEE double. */
  readonly lossless: boolean;
}

/** Limits of a scan, which ends when the first one is exceeded. */
export interface JsonScanLimits {
  readonly depth: number;
  readonly size: number;
}

export const UNLIMITED: JsonScanLimits = { depth: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };

const WEIGHTS = {
  value: 1,
  list: 1,
  object: 4,
  /** Added for a text with escapes. */
  escapes: 1,
  /** Added for a number with a point. */
  fraction: 1,
  /** Added for a number that a double would change. */
  exactNumber: 2,
  /** Added for each character of a number beyond the first `USUAL_DIGITS`. */
  digit: 1,
  /**
   * Added for each key that gives its object a new shape (the list of its keys so far), after the first `USUAL_SHAPES`: V8 creates a
   * hidden class for it.
   */
  newShape: 10,
} as const;
/** Characters of a number that cost nothing. */
const USUAL_DIGITS = 100;
/** Shapes that a text may have at no cost. */
export const USUAL_SHAPES = 1000;
/** Number of shapes that are recognised; further ones count as new each time. */
const KNOWN_SHAPES = 16_384;

// Codes of characters are constants of each file that scans text: the scan takes a quarter longer with imported ones.
const QUOTE = 34;
const PLUS = 43;
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
const UPPER_E = 69;
const LOWER_E = 101;
const TRUE = 116;
const FALSE = 102;
const NULL = 110;

/** Number of digits up to which a double distinguishes all decimals. */
const EXACT_DIGITS = 15;
/** A number that begins with a zero and more zeros than this is printed with an exponent. */
const SMALL_ZEROS = 6;
/** Characters of a string that are read one by one: a search is faster for long strings and slower for short ones. */
const SHORT = 24;
/** Characters that are read one by one after an escaped quote. */
const ESCAPED_STRETCH = 4096;

/**
 * Slots for the hashes of shapes, and the scan that used each slot last. The table and the stack of hashes below are the scratch memory of
 * all scans, which are synchronous and leave nothing behind in it: a new table for each scan would triple the time for a text of 6 kB, from
 * 12 to 35 microseconds.
 */
const PLACES = 2 ** 16;
const lastSeen = new Uint32Array(PLACES);
let scans = 0;
/** Hash of the keys read so far of the open object, per level. */
let shapes = new Uint32Array(64);
/** Characters of a key that contribute to its shape; a text has few longer keys. */
const TELLING_CHARACTERS = 1024;
/** Random seed, so that clients cannot predict which shapes share a slot. */
const SEED = Math.floor(Math.random() * 2 ** 32);
const PRIME = 16_777_619;
/** Shapes of texts up to this length are not counted: there cannot be too many. */
const SHORTEST_TEXT_OF_SHAPES = USUAL_SHAPES * 6;

/**
 * Does not validate the syntax: the result for invalid JSON is arbitrary.
 * @returns the counts at the end of the text, or when the first limit was exceeded
 */
export function scanJson(text: string, limits: JsonScanLimits): JsonFacts {
  const { length } = text;
  const { depth: maxDepth, size: maxSize } = limits;
  const looksAtShapes = length > SHORTEST_TEXT_OF_SHAPES && maxSize < Number.POSITIVE_INFINITY;
  let depth = 0;
  let deepest = 0;
  let known = 0;
  let size = 0;
  let lossless = true;
  let stringStart = 0;
  let stringEnd = 0;
  if (looksAtShapes) startScan();

  for (let i = 0; i < length && size <= maxSize; i++) {
    const code = text.charCodeAt(i);
    // Blanks, commas and invalid characters. A text may consist almost entirely of them.
    if (code < MINUS && code !== QUOTE) continue;
    if (code === QUOTE) {
      stringStart = i + 1;
      i = endOfString(text, stringStart);
      stringEnd = i < 0 ? ~i : i;
      size += i < 0 ? WEIGHTS.value + WEIGHTS.escapes : WEIGHTS.value;
      i = stringEnd;
    } else if ((code >= ZERO && code <= NINE) || code === MINUS) {
      size += WEIGHTS.value;
      // Digits before the point and after it, and leading zeros of the fraction.
      const start = code === MINUS ? i + 1 : i;
      const whole = text.charCodeAt(start);
      let next = whole;
      i = start;
      while (next >= ZERO && next <= NINE) next = text.charCodeAt(++i);
      let digits = i - start;
      let exact = code !== MINUS || whole !== ZERO || next === POINT;
      if (next === POINT) {
        const point = i;
        let last = POINT;
        next = text.charCodeAt(++i);
        if (whole === ZERO) while (next === ZERO) next = text.charCodeAt(++i);
        if (i - point > SMALL_ZEROS) exact = false;
        while (next >= ZERO && next <= NINE) {
          last = next;
          next = text.charCodeAt(++i);
        }
        digits += i - point - 1;
        if (last === POINT || last === ZERO) exact = false;
        size += WEIGHTS.fraction;
      }
      if (next === LOWER_E || next === UPPER_E) {
        exact = false;
        next = text.charCodeAt(++i);
        if (next === PLUS || next === MINUS) next = text.charCodeAt(++i);
        while (next >= ZERO && next <= NINE) next = text.charCodeAt(++i);
      }
      if (!exact || digits > EXACT_DIGITS) {
        lossless = false;
        size += WEIGHTS.exactNumber;
      }
      if (i - start > USUAL_DIGITS) size += (i - start - USUAL_DIGITS) * WEIGHTS.digit;
      i -= 1;
    } else if (code === COLON) {
      // The string before it was a key.
      size -= WEIGHTS.value;
      if (looksAtShapes && isNewShape(text, stringStart, stringEnd, depth, known < KNOWN_SHAPES)) {
        known += 1;
        if (known > USUAL_SHAPES) size += WEIGHTS.newShape;
      }
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      size += code === OPEN_LIST ? WEIGHTS.list : WEIGHTS.object;
      if (++depth > deepest) {
        deepest = depth;
        if (depth > maxDepth) break;
      }
      if (looksAtShapes && code === OPEN_OBJECT) startObject(depth);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (depth > 0) depth -= 1;
    } else if (code === TRUE || code === FALSE || code === NULL) {
      size += WEIGHTS.value;
      i += code === FALSE ? 4 : 3;
    } else break; // no JSON: the parser stops here too
  }
  return { depth: deepest, size, lossless };
}

function startScan(): void {
  scans = (scans + 1) >>> 0;
  if (scans > 0) return;
  lastSeen.fill(0);
  scans = 1;
}

function startObject(depth: number): void {
  if (depth >= shapes.length) {
    const longer = new Uint32Array(2 * depth);
    longer.set(shapes);
    shapes = longer;
  }
  shapes[depth] = SEED;
}

/** Returns whether this key gives its object a shape that is new in this scan, or was evicted. */
function isNewShape(text: string, start: number, end: number, depth: number, keep: boolean): boolean {
  let hash = shapes[depth] as number;
  const last = Math.min(end, start + TELLING_CHARACTERS);
  for (let i = start; i < last; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  // The end of a key is part of the shape.
  hash = Math.imul(hash ^ (hash >>> 13) ^ QUOTE, PRIME);
  shapes[depth] = hash;
  const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
  if (lastSeen[place] === scans) return false;
  if (keep) lastSeen[place] = scans;
  return true;
}

/** Position of the closing quote of a string, or the length of the text; its complement if the string has escapes. */
function endOfString(text: string, start: number): number {
  const short = Math.min(start + SHORT, text.length);
  let escapes = false;
  let i = start;
  for (; i < short; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return escapes ? ~i : i;
    if (code === BACKSLASH) {
      escapes = true;
      i += 1;
    }
  }
  for (;;) {
    const end = text.indexOf('"', i);
    if (end < 0) return text.length;
    let slashes = 0;
    while (end - 1 - slashes >= i && text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return escapes ? ~end : end;
    // After one escaped quote, more are likely: a search for each takes longer than reading all characters.
    const stop = Math.min(end + ESCAPED_STRETCH, text.length);
    for (i = end + 1; i < stop; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) return escapes ? ~i : i;
      if (code === BACKSLASH) i += 1;
    }
  }
}
