/**
 * Reads the bytes of an answer piece by piece, so that other work can be done in between: an answer may be tens of megabytes long, and
 * one row of it nearly all of that. Its texts become bytes for clients without being decoded.
 */
import { type Bytes, bytesOfBuffer } from '../../../util/bytes.ts';
import type { Sliced } from '../../../util/sliced.ts';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
/** What follows a backslash, and what both mean; `u` is another matter. */
const ESCAPES: ReadonlyMap<number | undefined, number> = new Map(
  [...'"\\/bfnrt'].map((written, i) => [written.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(i)]),
);
const LOWER_U = 117;
const REPLACEMENT = 0xfffd;
/** Some tens of microseconds. */
const PIECE = 65_536;
/** Of one character. */
const MOST_BYTES = 4;
/** Of a key. */
const LONGEST_KEY = 200;

export class BodyReader {
  #at = 0;
  readonly #body: Buffer;
  readonly #piece: number;
  readonly #out: Buffer;

  /** @param piece bytes that are read at once, and that a piece of a text has, give or take a character */
  constructor(body: Buffer, piece = PIECE) {
    this.#body = body;
    this.#piece = piece;
    this.#out = Buffer.allocUnsafe(Math.min(piece, body.length) + MOST_BYTES);
  }

  /**
   * An object, member by member; `read` has to read the value.
   * @throws SyntaxError
   */
  *object(read: (key: string) => Sliced<void>): Sliced<void> {
    this.#expect(OPEN_OBJECT);
    if (this.#passed(CLOSE_OBJECT)) return;
    do {
      const key = this.#key();
      this.#expect(COLON);
      yield* read(key);
    } while (this.#passed(COMMA));
    this.#expect(CLOSE_OBJECT);
  }

  /** The same of a list. @throws SyntaxError */
  *list(read: () => Sliced<void>): Sliced<void> {
    this.#expect(OPEN_LIST);
    if (this.#passed(CLOSE_LIST)) return;
    do yield* read();
    while (this.#passed(COMMA));
    this.#expect(CLOSE_LIST);
  }

  get isList(): boolean {
    return this.#next() === OPEN_LIST;
  }

  get isText(): boolean {
    return this.#next() === QUOTE;
  }

  get isObject(): boolean {
    return this.#next() === OPEN_OBJECT;
  }

  /** A reader of bytes that have been passed, in pieces of the same size; null: they are no more than one. */
  within(bytes: Buffer): BodyReader | null {
    return bytes.length > this.#piece ? new BodyReader(bytes, this.#piece) : null;
  }

  /** A text, in UTF-8, in pieces. @throws SyntaxError */
  *text(): Sliced<readonly Bytes[]> {
    this.#expect(QUOTE);
    const pieces: Bytes[] = [];
    while (!this.#readPiece(pieces)) yield;
    return pieces;
  }

  /** Passes a value, which is no more than found to have an end. @returns the bytes that it has been written with. @throws SyntaxError */
  *value(): Sliced<Buffer> {
    this.#next();
    const start = this.#at;
    let depth = 0;
    let read = start;
    for (;;) {
      const byte = this.#next();
      if (byte === QUOTE) yield* this.#passText();
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.#at++;
        depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (depth === 0) throw this.#fault();
        this.#at++;
        depth--;
      } else if (byte === COMMA || byte === COLON) {
        if (depth === 0) throw this.#fault();
        this.#at++;
        continue;
      } else this.#passWord();
      if (depth === 0) return this.#body.subarray(start, this.#at);
      if (this.#at - read > this.#piece) {
        read = this.#at;
        yield;
      }
    }
  }

  /** @throws SyntaxError where anything but blanks comes */
  end(): void {
    if (this.#next() !== undefined) throw this.#fault();
  }

  /** The next byte that is no blank. */
  #next(): number | undefined {
    for (;;) {
      const byte = this.#body[this.#at];
      if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return byte;
      this.#at++;
    }
  }

  #passed(byte: number): boolean {
    if (this.#next() !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#passed(byte)) throw this.#fault();
  }

  #key(): string {
    if (this.#next() !== QUOTE) throw this.#fault();
    const start = this.#at + 1;
    let end = start;
    let isPlain = true;
    for (let byte = this.#body[end]; byte !== QUOTE; byte = this.#body[++end]) {
      if (byte === undefined || end - start > LONGEST_KEY) throw this.#fault();
      if (byte === BACKSLASH) end++;
      if (byte === BACKSLASH || byte < 32 || byte > 126) isPlain = false;
    }
    this.#at = end + 1;
    if (isPlain) return bytesOfBuffer(this.#body, start, end);
    return JSON.parse(this.#body.toString('utf8', start - 1, this.#at)) as string;
  }

  /** A number, or a word. */
  #passWord(): void {
    const start = this.#at;
    for (let byte = this.#body[this.#at]; byte !== undefined && isOfWord(byte); byte = this.#body[this.#at]) this.#at++;
    if (this.#at === start) throw this.#fault();
  }

  *#passText(): Sliced<void> {
    this.#at++;
    while (!this.#passPiece()) yield;
  }

  /** @returns whether the text has ended */
  #passPiece(): boolean {
    const body = this.#body;
    let at = this.#at;
    for (const most = at + this.#piece; at < most; at++) {
      const byte = body[at];
      if (byte === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (byte === undefined) throw this.#fault();
      if (byte === BACKSLASH) at++;
    }
    this.#at = at;
    return false;
  }

  /** @returns whether the text has ended */
  #readPiece(pieces: Bytes[]): boolean {
    const body = this.#body;
    const out = this.#out;
    const most = out.length - MOST_BYTES;
    let at = this.#at;
    let to = 0;
    let isEnded = false;
    while (to <= most) {
      const byte = body[at];
      if (byte === QUOTE) {
        at++;
        isEnded = true;
        break;
      }
      if (byte === undefined || byte < 32) {
        this.#at = at;
        throw this.#fault();
      }
      if (byte !== BACKSLASH) {
        out[to++] = byte;
        at++;
      } else if (body[at + 1] === LOWER_U) {
        const code = this.#codePoint(at);
        at += code > 0xffff ? 12 : 6;
        to = putUtf8(out, to, code);
      } else {
        const meant = ESCAPES.get(body[at + 1]);
        if (meant === undefined) throw this.#fault();
        out[to++] = meant;
        at += 2;
      }
    }
    this.#at = at;
    if (to > 0 || pieces.length === 0) pieces.push(bytesOfBuffer(out, 0, to));
    return isEnded;
  }

  /** Of one escape or a pair of them; halves of pairs have none. */
  #codePoint(at: number): number {
    const code = this.#hex(at + 2);
    if (code < 0xd800 || code > 0xdfff) return code;
    if (code > 0xdbff || this.#body[at + 6] !== BACKSLASH || this.#body[at + 7] !== LOWER_U) return REPLACEMENT;
    const low = this.#hex(at + 8);
    return low < 0xdc00 || low > 0xdfff ? REPLACEMENT : 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }

  #hex(start: number): number {
    let code = 0;
    for (let at = start; at < start + 4; at++) {
      const digit = digitOf(this.#body[at]);
      if (digit < 0) throw this.#fault();
      code = code * 16 + digit;
    }
    return code;
  }

  #fault(): SyntaxError {
    return new SyntaxError(`unexpected bytes in JSON at position ${this.#at}`);
  }
}

/** Digits, letters, and the signs of numbers. */
function isOfWord(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte === 45 || byte === 43 || byte === 46 || byte === 69;
}

/** Of a hexadecimal digit; -1: it is none. */
function digitOf(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  // Small letters.
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** @returns where the next character goes */
function putUtf8(out: Buffer, start: number, code: number): number {
  let to = start;
  if (code < 0x80) out[to++] = code;
  else if (code < 0x800) {
    out[to++] = 0xc0 | (code >> 6);
    out[to++] = 0x80 | (code & 63);
  } else if (code < 0x10000) {
    out[to++] = 0xe0 | (code >> 12);
    out[to++] = 0x80 | ((code >> 6) & 63);
    out[to++] = 0x80 | (code & 63);
  } else {
    out[to++] = 0xf0 | (code >> 18);
    out[to++] = 0x80 | ((code >> 12) & 63);
    out[to++] = 0x80 | ((code >> 6) & 63);
    out[to++] = 0x80 | (code & 63);
  }
  return to;
}
