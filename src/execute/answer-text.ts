/** JSON that is put together here from the answers of servers and handlers: in pieces, and of a bounded length. */
import { SvcError } from '../errors/svc-error.ts';
import { type Bytes, bytesOfText, sizeOfBytes } from '../util/bytes.ts';
import { type Json, JsonNumber } from '../util/json.ts';
import { printInPieces } from '../util/print-in-pieces.ts';
import type { Sliced } from '../util/sliced.ts';
import type { JoinBounds } from './holes.ts';

/** A string that grows keeps each of its parts until it is read as one: so long may it become. */
const PIECE_LENGTH = 65_536;
/** Shorter texts are made anew and copied: what a client asks for under many names is made once where it is longer. */
const SHORT = 1024;

export class AnswerText {
  readonly #bounds: Required<JoinBounds>;
  #pieces: Bytes[] = [];
  #open = '';
  /** The texts of long values. */
  readonly #texts = new Map<Json, readonly Bytes[]>();

  /** @param bounds of the request: what a client asks for under many names is printed as often, however little was answered */
  constructor(bounds: Required<JoinBounds>) {
    this.#bounds = bounds;
  }

  write(text: string): void {
    this.#open += text;
    if (this.#open.length > PIECE_LENGTH) this.#close();
  }

  /** Writes a scalar that needs no pause. @returns false for any other value, which is left to `value` */
  plain(value: Json): boolean {
    if (typeof value === 'string' ? value.length >= SHORT : typeof value === 'object' && value !== null) {
      if (!(value instanceof JsonNumber)) return false;
      this.write(value.text);
    } else this.write(typeof value === 'string' ? JSON.stringify(value) : String(value));
    return true;
  }

  /** Writes the JSON text of a value with pauses. The text of a long one is made once, and its pieces are not copied. */
  *value(value: Json): Sliced<void> {
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

  /** What has been written since the last call. @throws SvcError where the request has written too much */
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

  /** @throws SvcError where the request has written too much */
  add(piece: Bytes): void {
    const { use, maxBytes } = this.#bounds;
    use.written += piece.length;
    if (use.written > maxBytes) {
      const message = `the answers of remote schemas and actions have more than ${maxBytes} bytes`;
      throw new SvcError('unexpected', message, { status: 400 });
    }
    this.#pieces.push(piece);
  }
}
