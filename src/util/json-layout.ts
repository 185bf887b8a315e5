/**
 * Prints values of JSON text under several names: takes the text of objects whose values occur once, and returns the text with the keys of
 * a layout. Only the boundaries of values are parsed.
 */
import { type Bytes, bytesOfText, type GeneratedBytes, sliceBytes } from './bytes.ts';
import type { Cooperative } from './cooperative.ts';

/** Keys of an object, or of each object of a list, in printing order. */
export type JsonLayout = readonly LayoutEntry[];

export interface LayoutEntry {
  /** Key with its quotes and colon. */
  readonly key: Bytes;
  /** Index of the value in the input object. */
  readonly from: number;
  /** Layout of the value; `null` if it is printed unchanged. */
  readonly inner: JsonLayout | null;
}

export function layoutKey(name: string): Bytes {
  return bytesOfText(`${JSON.stringify(name)}:`);
}

/** Values up to this length are concatenated; longer ones stay slices of the text. */
const LONG = 16_384;
/** Size of a piece, and of the work between two pauses, in bytes read or printed. */
const PIECE = 65_536;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Applies a layout. The length of the result is measured at once; its pieces are generated on demand.
 * @param count called before each pause with the bytes measured since the previous one; an error that it throws ends the work
 */
export function* applyLayout(text: Bytes, layout: JsonLayout, count: (bytes: number) => void): Cooperative<GeneratedBytes> {
  const measure = new Walk(text, false);
  const pauses = measure.pieces(layout);
  for (let isDone = false, counted = 0; !isDone; ) {
    isDone = pauses.next().done === true;
    count(measure.length - counted);
    counted = measure.length;
    if (!isDone) yield;
  }
  return { length: measure.length, pieces: () => new Walk(text, true).pieces(layout) };
}

/** One pass through the text, which reads each value as often as it is printed. */
class Walk {
  readonly #text: Bytes;
  readonly #isPrinting: boolean;
  /** Number of printed bytes. */
  length = 0;
  #open = '';
  /** End of the last value. */
  #end = 0;
  /** Bytes read or printed since the last piece. */
  #work = 0;

  /** @param isPrinting if false, only the length is measured, and all pieces are empty */
  constructor(text: Bytes, isPrinting: boolean) {
    this.#text = text;
    this.#isPrinting = isPrinting;
  }

  /** Yields pieces; empty ones are pauses of a walk that has little to print. */
  *pieces(layout: JsonLayout): Generator<Bytes, void, undefined> {
    yield* this.#value(skipBlank(this.#text, 0), layout);
    if (this.#open !== '') yield this.#take();
  }

  *#value(start: number, layout: JsonLayout): Generator<Bytes, void, undefined> {
    const text = this.#text;
    const code = text.charCodeAt(start);
    if (code === OPEN_LIST) {
      this.#put('[');
      let at = skipBlank(text, start + 1);
      for (let count = 0; text.charCodeAt(at) !== CLOSE_LIST; count++) {
        if (count > 0) {
          at = skipBlank(text, expected(text, at, COMMA));
          this.#put(',');
        }
        yield* this.#value(at, layout);
        at = skipBlank(text, this.#end);
        if (this.#work >= PIECE) yield this.#take();
      }
      this.#put(']');
      this.#end = at + 1;
    } else if (code === OPEN_OBJECT) yield* this.#object(start, layout);
    else {
      yield* this.#skip(start);
      yield* this.#copy(start, this.#end);
    }
  }

  /** Finds values when the layout needs them, so that a value with a layout is not read before it is printed. */
  *#object(start: number, layout: JsonLayout): Generator<Bytes, void, undefined> {
    const text = this.#text;
    const starts: number[] = [];
    const ends: number[] = [];
    let next = skipBlank(text, start + 1);
    const enter = (): void => {
      if (starts.length > 0) next = skipBlank(text, expected(text, next, COMMA));
      next = skipBlank(text, endOfString(text, next));
      next = skipBlank(text, expected(text, next, COLON));
      starts.push(next);
    };
    for (const [index, { key, from, inner }] of layout.entries()) {
      this.#put(index === 0 ? `{${key}` : `,${key}`);
      while (starts.length <= from) {
        if (text.charCodeAt(next) === CLOSE_OBJECT) throw new Error('invariant: an object has the values of its layout');
        enter();
        if (starts.length <= from || inner === null) {
          yield* this.#skip(next);
          ends.push(this.#end);
          next = skipBlank(text, this.#end);
        }
      }
      const at = starts[from] as number;
      if (inner === null) yield* this.#copy(at, ends[from] as number);
      else {
        yield* this.#value(at, inner);
        if (ends.length === from) {
          ends.push(this.#end);
          next = skipBlank(text, this.#end);
        }
      }
      if (this.#work >= PIECE) yield this.#take();
    }
    this.#put(layout.length === 0 ? '{}' : '}');
    while (text.charCodeAt(next) !== CLOSE_OBJECT) {
      enter();
      yield* this.#skip(next);
      next = skipBlank(text, this.#end);
    }
    this.#end = next + 1;
  }

  /** Sets `#end` to the end of a value, with pauses in long lists and objects. */
  *#skip(start: number): Generator<Bytes, void, undefined> {
    const text = this.#text;
    const first = text.charCodeAt(start);
    if (first === QUOTE) {
      yield* this.#skipString(start);
      return;
    }
    if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
      this.#end = endOfWord(text, start);
      this.#work += this.#end - start;
      return;
    }
    const { length } = text;
    let depth = 0;
    let since = start;
    for (let at = start; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        yield* this.#skipString(at);
        at = this.#end - 1;
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
      else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
        depth -= 1;
        if (depth === 0) {
          this.#end = at + 1;
          this.#work += this.#end - since;
          return;
        }
      }
      if (at - since >= PIECE) {
        since = at;
        yield this.#take();
      }
    }
    throw new Error('invariant: JSON of a database ends');
  }

  /** Sets `#end` to the end of a string, with pauses in long ones. */
  *#skipString(start: number): Generator<Bytes, void, undefined> {
    const text = this.#text;
    /** Number of backslashes right before `at`. */
    let slashes = 0;
    for (let at = start + 1; ; ) {
      const piece = text.slice(at, at + PIECE);
      const found = piece.indexOf('"');
      if (found < 0 && piece.length < PIECE) throw new Error('invariant: a string ends');
      const length = found < 0 ? PIECE : found;
      let run = 0;
      while (run < length && piece.charCodeAt(length - 1 - run) === BACKSLASH) run += 1;
      slashes = run === length ? slashes + run : run;
      this.#work += length + 1;
      if (found < 0) at += PIECE;
      else if (slashes % 2 === 0) {
        this.#end = at + length + 1;
        return;
      } else {
        at += length + 1;
        slashes = 0;
      }
      if (this.#work >= PIECE) yield this.#take();
    }
  }

  *#copy(start: number, end: number): Generator<Bytes, void, undefined> {
    if (end - start < LONG) {
      this.#put(this.#isPrinting ? this.#text.slice(start, end) : '', end - start);
      return;
    }
    this.length += end - start;
    if (!this.#isPrinting) return;
    if (this.#open !== '') yield this.#take();
    for (let at = start; at < end; at += PIECE) yield sliceBytes(this.#text, at, Math.min(end, at + PIECE));
  }

  #put(piece: string, length = piece.length): void {
    this.length += length;
    this.#work += length;
    if (this.#isPrinting) this.#open += piece;
  }

  #take(): Bytes {
    const piece = this.#open as Bytes;
    this.#open = '';
    this.#work = 0;
    return piece;
  }
}

function expected(text: Bytes, at: number, code: number): number {
  if (text.charCodeAt(at) !== code) throw new Error(`invariant: JSON of a database has "${String.fromCharCode(code)}" at ${at}`);
  return at + 1;
}

function skipBlank(text: Bytes, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || code === 10 || code === 13 || code === 9; code = text.charCodeAt(at)) at += 1;
  return at;
}

/** End of a number, `true`, `false` or `null`. */
function endOfWord(text: Bytes, start: number): number {
  const { length } = text;
  for (let at = start; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST || code <= 32) return at;
  }
  return length;
}

/** End of a string, after its closing quote. @param start index of its opening quote */
function endOfString(text: Bytes, start: number): number {
  expected(text, start, QUOTE);
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) throw new Error('invariant: a string ends');
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}
