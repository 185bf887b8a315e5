/** Parses long JSON text in chunks, with pauses in between. */
import { type Json, parseScannedJson } from './json.ts';
import { type JsonScanLimits, scanJson } from '../model/json-scan.ts';
import type { Cooperative } from './cooperative.ts';

/** Value, with its depth and size as counted by `scanJson`. */
export interface ParsedJson {
  readonly depth: number;
  readonly size: number;
  /** `undefined` if depth or size exceeds its limit. */
  readonly json: Json | undefined;
}

/** Minimum number of characters of a chunk, which ends at a comma. */
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

/** Open list or object. */
interface Open {
  /** Position of its bracket. */
  readonly start: number;
  readonly isObject: boolean;
  /** Start of the text that is not parsed yet. */
  from: number;
  /** Parsed items or members; `null` if there are none yet, because it may be short enough to be parsed with its parent. */
  parsed: Json[] | Record<string, Json> | null;
  /** Token before `from`; `value` for a value that was parsed separately. */
  before: 'bracket' | 'comma' | 'value';
  /** Position of its last key. */
  key: number;
  /** The next string is a key. */
  expectsKey: boolean;
}

/** Thrown when a limit is exceeded. */
class LimitExceeded {
  readonly depth: number;
  readonly size: number;
  constructor(depth: number, size: number) {
    this.depth = depth;
    this.size = size;
  }
}

/**
 * Returns the same value as `parseJson`. Long lists and objects are parsed in chunks that end with a comma.
 * @throws SyntaxError
 */
export function* parseJsonCooperatively(text: string, limits: JsonScanLimits, chunk = CHUNK): Cooperative<ParsedJson> {
  const reader = new Reader(text, limits);
  try {
    const { length } = text;
    const { open } = reader;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        const top = open[open.length - 1];
        if (top?.expectsKey === true) {
          top.key = i;
          top.expectsKey = false;
        }
        i = endOfString(text, i + 1);
      } else if (code === COMMA) {
        const top = open[open.length - 1];
        if (top === undefined) throw fault(i);
        if (top.isObject) top.expectsKey = true;
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
    if (thrown instanceof LimitExceeded) return { json: undefined, depth: thrown.depth, size: thrown.size };
    throw thrown;
  }
}

class Reader {
  readonly open: Open[] = [];
  depth = 0;
  size = 0;
  readonly #text: string;
  readonly #limits: JsonScanLimits;
  /** The root value if it was parsed in chunks, with its position. */
  #root: { readonly json: Json; readonly start: number; readonly end: number } | null = null;

  constructor(text: string, limits: JsonScanLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  begin(start: number, isObject: boolean): void {
    if (this.open.length >= this.#limits.depth) throw new LimitExceeded(this.open.length + 1, this.size);
    this.open.push({ start, isObject, from: start + 1, parsed: null, before: 'bracket', key: -1, expectsKey: isObject });
  }

  /** Handles the comma after a value that was parsed separately. */
  passComma(top: Open, at: number): void {
    if (!this.#isBlank(top.from, at)) throw fault(at);
    top.from = at + 1;
    top.before = 'comma';
  }

  /** Parses the text up to a comma. */
  take(top: Open, comma: number): void {
    this.#parseInto(top, this.#text.slice(top.from, comma));
    top.from = comma + 1;
    top.before = 'comma';
  }

  /** @returns true if the list or object was parsed in chunks */
  end(at: number, isObject: boolean): boolean {
    const top = this.open.pop();
    if (top === undefined || top.isObject !== isObject) throw fault(at);
    // Short enough to be parsed with its parent.
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

  /** @param inside text between the brackets, with at least one item */
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
    if (this.depth > depth || this.size > size) throw new LimitExceeded(this.depth, this.size);
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

/** Position of the closing quote of a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
