/** Parses long JSON text piece by piece, so that other work can be done in between. */
import { type Json, parseScannedJson } from './json.ts';
import { type JsonScanLimits, scanJson } from '../model/json-scan.ts';
import type { Sliced } from './sliced.ts';

export interface ParsedInSlices {
  /** As far as was looked. */
  readonly depth: number;
  readonly size: number;
  /** Undefined: one of the two is beyond its limit. */
  readonly json: Json | undefined;
}

/** Characters that are parsed at a time, where there is a comma. */
const CHUNK = 65_536;

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const BLANK = /^[ \t\n\r]*$/;
const ENDS_WITH_COMMA = /,[ \t\n\r]*$/;

/** A list or an object that has been opened. */
interface Open {
  /** Of its bracket. */
  readonly start: number;
  readonly isObject: boolean;
  /** Where what has not been parsed begins. */
  from: number;
  /** What has been parsed; null: nothing yet, and nothing will be if it turns out to be short. */
  parsed: Json[] | Record<string, Json> | null;
  /** What comes before `from`: nothing but the bracket, a comma, or a value that was parsed by itself. */
  before: 'bracket' | 'comma' | 'value';
  /** Where its last key begins, and whether the next string is one. */
  key: number;
  keyComes: boolean;
}

/** The scan ended with a limit. */
class Beyond {
  readonly depth: number;
  readonly size: number;
  constructor(depth: number, size: number) {
    this.depth = depth;
    this.size = size;
  }
}

/**
 * The same as `parseJson` of the text. What is long is parsed in pieces that end with a comma, and put together.
 * @throws SyntaxError
 */
export function* parseInSlices(text: string, limits: JsonScanLimits, chunk = CHUNK): Sliced<ParsedInSlices> {
  const reader = new Reader(text, limits);
  try {
    const { length } = text;
    const { open } = reader;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        const top = open[open.length - 1];
        if (top?.keyComes === true) {
          top.key = i;
          top.keyComes = false;
        }
        i = endOfString(text, i + 1);
      } else if (code === COMMA) {
        const top = open[open.length - 1];
        if (top === undefined) throw fault(i);
        if (top.isObject) top.keyComes = true;
        if (top.before === 'value') reader.passComma(top, i);
        else if (i - top.from >= chunk) {
          reader.take(top, i);
          yield;
        }
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
        reader.begin(i, code === OPEN_OBJECT);
      } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
        if (reader.end(i, code === CLOSE_OBJECT)) yield;
      }
    }
    return { json: reader.whole(), depth: reader.depth, size: reader.size };
  } catch (thrown) {
    if (thrown instanceof Beyond) return { json: undefined, depth: thrown.depth, size: thrown.size };
    throw thrown;
  }
}

class Reader {
  readonly open: Open[] = [];
  depth = 0;
  size = 0;
  readonly #text: string;
  readonly #limits: JsonScanLimits;
  /** The whole, where it was parsed in pieces, and where it stands. */
  #root: { readonly json: Json; readonly start: number; readonly end: number } | null = null;

  constructor(text: string, limits: JsonScanLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  begin(start: number, isObject: boolean): void {
    if (this.open.length >= this.#limits.depth) throw new Beyond(this.open.length + 1, this.size);
    this.open.push({ start, isObject, from: start + 1, parsed: null, before: 'bracket', key: -1, keyComes: isObject });
  }

  /** A comma behind a value that was parsed by itself. */
  passComma(top: Open, at: number): void {
    if (!this.#isBlank(top.from, at)) throw fault(at);
    top.from = at + 1;
    top.before = 'comma';
  }

  /** Parses what is there up to a comma. */
  take(top: Open, comma: number): void {
    this.#parseInto(top, this.#text.slice(top.from, comma));
    top.from = comma + 1;
    top.before = 'comma';
  }

  /** @returns whether it was one that has been parsed in pieces */
  end(at: number, isObject: boolean): boolean {
    const top = this.open.pop();
    if (top === undefined || top.isObject !== isObject) throw fault(at);
    // Short enough to be parsed as part of what it is in.
    if (top.parsed === null) return false;
    const isBlank = this.#isBlank(top.from, at);
    if (isBlank !== (top.before === 'value')) throw fault(at);
    if (!isBlank) this.#parseInto(top, this.#text.slice(top.from, at));
    const parent = this.open[this.open.length - 1];
    if (parent === undefined) this.#root = { json: top.parsed, start: top.start, end: at + 1 };
    else this.#adopt(parent, top.start, at, top.parsed);
    return true;
  }

  whole(): Json {
    if (this.open.length > 0) throw fault(this.#text.length);
    if (this.#root === null) return this.#parse(this.#text, 0);
    const { json, start, end } = this.#root;
    if (!this.#isBlank(0, start) || !this.#isBlank(end, this.#text.length)) throw fault(end);
    return json;
  }

  #adopt(parent: Open, start: number, end: number, value: Json): void {
    const cut = parent.isObject ? parent.key : start;
    if (parent.before === 'value' || cut < parent.from) throw fault(start);
    const pending = this.#text.slice(parent.from, cut);
    if (BLANK.test(pending)) {
      parent.parsed ??= parent.isObject ? {} : [];
    } else {
      if (!ENDS_WITH_COMMA.test(pending)) throw fault(start);
      this.#parseInto(parent, pending.slice(0, pending.lastIndexOf(',')));
    }
    if (Array.isArray(parent.parsed)) parent.parsed.push(value);
    else if (parent.parsed !== null) {
      const [key] = Object.keys(JSON.parse(`{${this.#text.slice(cut, start)}0}`) as object);
      put(parent.parsed, key ?? '', value);
    }
    parent.from = end + 1;
    parent.before = 'value';
  }

  /** @param inside of its brackets: one item or more */
  #parseInto(open: Open, inside: string): void {
    const above = this.open.length - (this.open.includes(open) ? 1 : 0);
    const part = this.#parse(open.isObject ? `{${inside}}` : `[${inside}]`, above);
    if (Array.isArray(part)) {
      if (part.length === 0) throw fault(open.from);
      open.parsed ??= [];
      const parsed = open.parsed as Json[];
      for (const item of part as readonly Json[]) parsed.push(item);
    } else {
      const entries = Object.entries(part as Record<string, Json>);
      if (entries.length === 0) throw fault(open.from);
      open.parsed ??= {};
      const parsed = open.parsed as Record<string, Json>;
      for (const [key, value] of entries) put(parsed, key, value);
    }
  }

  #parse(text: string, above: number): Json {
    const { depth, size } = this.#limits;
    const found = scanJson(text, { depth: depth - above, size: size - this.size });
    this.depth = Math.max(this.depth, above + found.depth);
    this.size += found.size;
    if (this.depth > depth || this.size > size) throw new Beyond(this.depth, this.size);
    return parseScannedJson(text, found);
  }

  #isBlank(from: number, to: number): boolean {
    return BLANK.test(this.#text.slice(from, to));
  }
}

function put(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

function fault(at: number): SyntaxError {
  return new SyntaxError(`unexpected text in JSON at position ${at}`);
}

/** Position of the quote that ends a string, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
