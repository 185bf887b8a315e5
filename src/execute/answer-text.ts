/** JSON that is put together here from the answers of servers and handlers: in pieces, and of a bounded length. */
import { SvcError } from '../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import type { JoinBounds } from './holes.ts';

/** A string that grows keeps each of its parts until it is read as one: so long may it become. */
const PIECE_LENGTH = 65_536;

export class AnswerText {
  readonly #bounds: Required<JoinBounds>;
  #pieces: Bytes[] = [];
  #open = '';

  /** @param bounds of the request: what a client asks for under many names is printed as often, however little was answered */
  constructor(bounds: Required<JoinBounds>) {
    this.#bounds = bounds;
  }

  write(text: string): void {
    this.#open += text;
    if (this.#open.length > PIECE_LENGTH) this.#close();
  }

  /** What has been written since the last call. @throws SvcError where the request has written too much */
  take(): readonly Bytes[] {
    this.#close();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #close(): void {
    const piece = bytesOfText(this.#open);
    const { use, maxBytes } = this.#bounds;
    use.written += piece.length;
    if (use.written > maxBytes) {
      const message = `the answers of remote schemas and actions have more than ${maxBytes} bytes`;
      throw new SvcError('unexpected', message, { status: 400 });
    }
    this.#pieces.push(piece);
    this.#open = '';
  }
}
