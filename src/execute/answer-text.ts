/** JSON printed from the responses of servers and handlers: in pieces, and of limited length. */
import { SvcError } from '../errors/svc-error.ts';
import { type Bytes, bytesOfText, sizeOfBytes } from '../util/bytes.ts';
import { type Json, JsonNumber } from '../util/json.ts';
import { printInPieces } from '../util/print-in-pieces.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { JoinBounds } from './placeholders.ts';

/** Maximum length of the open piece: V8 keeps all parts of a concatenated string until it is flattened. */
const PIECE_LENGTH = 65_536;
/**
 * Texts of at least this length are printed once and shared between all names that a client selects them under; shorter ones are copied.
 */
const SHORT = 1024;

export class AnswerText {
  readonly #bounds: Required<JoinBounds>;
  #pieces: Bytes[] = [];
  #open = '';
  /** Printed texts of long values. */
  readonly #texts = new Map<Json, readonly Bytes[]>();

  /** @param bounds limits of the request: a value is printed once for each name that it is selected under, however short the response */
  constructor(bounds: Required<JoinBounds>) {
    this.#bounds = bounds;
  }

  write(text: string): void {
    this.#open += text;
    if (this.#open.length > PIECE_LENGTH) this.#close();
  }

  /** Writes a short scalar and returns true; returns false for any other value, which needs `value`. */
  plain(value: Json): boolean {
    if (typeof value === 'string' ? value.length >= SHORT : typeof value === 'object' && value !== null) {
      if (!(value instanceof JsonNumber)) return false;
      this.write(value.text);
    } else this.write(typeof value === 'string' ? JSON.stringify(value) : String(value));
    return true;
  }

  /** Writes the JSON text of a value cooperatively. A long text is made once, and its pieces are not copied. */
  *value(value: Json): Cooperative<void> {
    if (this.plain(value)) return;
    let pieces = this.#texts.get(value);
    if (pieces === undefined) {
      pieces = (yield* printInPieces(value)).map(bytesOfText);
      if (sizeOfBytes(pieces) < SHORT) {
        for (const piece of pieces) this.write(piece);
        return;
      }
      this.#texts.set(value, pieces);
    }
    this.#close();
    for (const piece of pieces) this.add(piece);
    yield;
  }

  /** Returns the pieces written since the last call. @throws SvcError if the request has printed more than its limit */
  take(): readonly Bytes[] {
    this.#close();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #close(): void {
    if (this.#open === '') return;
    this.add(bytesOfText(this.#open));
    this.#open = '';
  }

  /** @throws SvcError if the request has printed more than its limit */
  add(piece: Bytes): void {
    const { usage, maxBytes } = this.#bounds;
    usage.written += piece.length;
    if (usage.written > maxBytes) {
      const message = `the responses of remote schemas and actions exceed ${maxBytes} bytes`;
      throw new SvcError('unexpected', message, { status: 400 });
    }
    this.#pieces.push(piece);
  }
}
