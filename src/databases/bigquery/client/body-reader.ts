/**
 * Reads JSON responses in pieces, so that other work can run in between: a response can have tens of megabytes, nearly all of them in
 * one row. Texts are passed on to clients without being decoded.
 */
import { type Bytes, bytesOfBuffer } from '../../../util/bytes.ts';
import type { Cooperative } from '../../../util/cooperative.ts';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
/** Characters after a backslash and what they stand for, except `u`. */
const ESCAPES: ReadonlyMap<number | undefined, number> = new Map(
  [...'"\\/bfnrt'].map((written, i) => [written.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(i)]),
);
const LOWER_U = 117;
const REPLACEMENT = 0xfffd;
/** Bytes read at once. Reading them takes some tens of microseconds. */
const PIECE_BYTES = 65_536;
/** Maximum UTF-8 bytes of a character. */
const MAX_CHARACTER_BYTES = 4;
/** Maximum bytes of a key. */
const MAX_KEY_BYTES = 200;

export class BodyReader {
  #at = 0;
  readonly #body: Buffer;
  readonly #piece: number;
  readonly #out: Buffer;

  /** @param piece bytes that are read at once; also the size of the pieces of a text, give or take a character */
  constructor(body: Buffer, piece = PIECE_BYTES) {
    this.#body = body;
    this.#piece = piece;
    this.#out = Buffer.allocUnsafe(Math.min(piece, body.length) + MAX_CHARACTER_BYTES);
  }

  /** Reads an object; `read` is called for each member and has to read its value. @throws SyntaxError */
  *object(read: (key: string) => Cooperative<void>): Cooperative<void> {
    this.#expect(OPEN_OBJECT);
    if (this.#accept(CLOSE_OBJECT)) return;
    do {
      const key = this.#key();
      this.#expect(COLON);
      yield* read(key);
    } while (this.#accept(COMMA));
    this.#expect(CLOSE_OBJECT);
  }

  /** Reads a list; `read` is called for each item and has to read it. @throws SyntaxError */
  *list(read: () => Cooperative<void>): Cooperative<void> {
    this.#expect(OPEN_LIST);
    if (this.#accept(CLOSE_LIST)) return;
    do yield* read();
    while (this.#accept(COMMA));
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

  /** Returns a reader for bytes that `value` returned, or `null` if they fit in one piece. */
  nested(bytes: Buffer): BodyReader | null {
    return bytes.length > this.#piece ? new BodyReader(bytes, this.#piece) : null;
  }

  /** Reads a text as UTF-8. @throws SyntaxError */
  *text(): Cooperative<readonly Bytes[]> {
    this.#expect(QUOTE);
    const pieces: Bytes[] = [];
    while (!this.#readPiece(pieces)) yield;
    return pieces;
  }

  /** Skips a value, checking no more than that it ends. @returns its bytes @throws SyntaxError */
  *value(): Cooperative<Buffer> {
    this.#next();
    const start = this.#at;
    let depth = 0;
    let read = start;
    for (;;) {
      const byte = this.#next();
      if (byte === QUOTE) yield* this.#skipText();
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.#at++;
        depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (depth === 0) throw this.#unexpected();
        this.#at++;
        depth--;
      } else if (byte === COMMA || byte === COLON) {
        if (depth === 0) throw this.#unexpected();
        this.#at++;
        continue;
      } else this.#skipWord();
      if (depth === 0) return this.#body.subarray(start, this.#at);
      if (this.#at - read > this.#piece) {
        read = this.#at;
        yield;
      }
    }
  }

  /** @throws SyntaxError if anything but white space follows */
  end(): void {
    if (this.#next() !== undefined) throw this.#unexpected();
  }

  /** Skips white space and returns the next byte. */
  #next(): number | undefined {
    for (;;) {
      const byte = this.#body[this.#at];
      if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return byte;
      this.#at++;
    }
  }

  #accept(byte: number): boolean {
    if (this.#next() !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#accept(byte)) throw this.#unexpected();
  }

  #key(): string {
    if (this.#next() !== QUOTE) throw this.#unexpected();
    const start = this.#at + 1;
    let end = start;
    let isPlain = true;
    for (let byte = this.#body[end]; byte !== QUOTE; byte = this.#body[++end]) {
      if (byte === undefined || end - start > MAX_KEY_BYTES) throw this.#unexpected();
      if (byte === BACKSLASH) end++;
      if (byte === BACKSLASH || byte < 32 || byte > 126) isPlain = false;
    }
    this.#at = end + 1;
    if (isPlain) return bytesOfBuffer(this.#body, start, end);
    return JSON.parse(this.#body.toString('utf8', start - 1, this.#at)) as string;
  }

  /** Skips a number or a literal name. */
  #skipWord(): void {
    const start = this.#at;
    for (let byte = this.#body[this.#at]; byte !== undefined && isWordByte(byte); byte = this.#body[this.#at]) this.#at++;
    if (this.#at === start) throw this.#unexpected();
  }

  *#skipText(): Cooperative<void> {
    this.#at++;
    while (!this.#skipPiece()) yield;
  }

  /** @returns whether the text has ended */
  #skipPiece(): boolean {
    const body = this.#body;
    let at = this.#at;
    for (const limit = at + this.#piece; at < limit; at++) {
      const byte = body[at];
      if (byte === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (byte === undefined) throw this.#unexpected();
      if (byte === BACKSLASH) at++;
    }
    this.#at = at;
    return false;
  }

  /** @returns whether the text has ended */
  #readPiece(pieces: Bytes[]): boolean {
    const body = this.#body;
    const out = this.#out;
    const limit = out.length - MAX_CHARACTER_BYTES;
    let at = this.#at;
    let to = 0;
    let isEnded = false;
    while (to <= limit) {
      const byte = body[at];
      if (byte === QUOTE) {
        at++;
        isEnded = true;
        break;
      }
      if (byte === undefined || byte < 32) {
        this.#at = at;
        throw this.#unexpected();
      }
      if (byte !== BACKSLASH) {
        out[to++] = byte;
        at++;
      } else if (body[at + 1] === LOWER_U) {
        const code = this.#codePoint(at);
        at += code > 0xffff ? 12 : 6;
        to = putUtf8(out, to, code);
      } else {
        const unescaped = ESCAPES.get(body[at + 1]);
        if (unescaped === undefined) throw this.#unexpected();
        out[to++] = unescaped;
        at += 2;
      }
    }
    this.#at = at;
    if (to > 0 || pieces.length === 0) pieces.push(bytesOfBuffer(out, 0, to));
    return isEnded;
  }

  /** Reads one escape or a surrogate pair; lone surrogates become U+FFFD. */
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
      if (digit < 0) throw this.#unexpected();
      code = code * 16 + digit;
    }
    return code;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`unexpected bytes in JSON at position ${this.#at}`);
  }
}

/** Matches digits, lower-case letters and the signs of numbers. */
function isWordByte(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte === 45 || byte === 43 || byte === 46 || byte === 69;
}

/** Returns the value of a hexadecimal digit, or -1. */
function digitOf(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  // To lower case.
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Writes a character. @returns the offset after it */
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
