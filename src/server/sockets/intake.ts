/** What has come of a message that is not complete yet: it may take neither much memory nor for ever. */
import type { Socket } from 'node:net';
import type { Uploads } from '../read-body.ts';

/** Bytes that a message may hold without asking. */
const SMALL = 65_536;
/** Bytes of a small frame of a client beside its data. */
const FRAME_HEAD = 6;

export class Intake {
  readonly #uploads: Uploads;
  readonly #socket: Socket;
  readonly #onData: (chunk: Buffer) => void;
  #bytes = 0;
  /** Of these, what was asked for. */
  #taken = 0;
  #beats = 0;

  /** @param onRefused there is no room for the message */
  constructor(socket: Socket, uploads: Uploads, onRefused: () => void) {
    this.#socket = socket;
    this.#uploads = uploads;
    this.#onData = (chunk) => {
      this.#bytes += chunk.length;
      if (this.#bytes <= SMALL + this.#taken) return;
      const more = Math.max(this.#bytes, SMALL);
      if (uploads.take(more)) this.#taken += more;
      else onRefused();
    };
    // Before the library hears of the chunk, which may be the end of a message.
    socket.prependListener('data', this.#onData);
  }

  /** A message is complete. */
  received(): void {
    this.#bytes = 0;
    this.#beats = 0;
    this.#give();
  }

  /** What has come was, in part, a frame of its own with so much data. */
  control(size: number): void {
    this.#bytes = Math.max(0, this.#bytes - size - FRAME_HEAD);
  }

  /** Called at every beat. @returns how many there have been since the message began */
  beats(): number {
    this.#beats = this.#bytes === 0 ? 0 : this.#beats + 1;
    return this.#beats;
  }

  end(): void {
    this.#socket.off('data', this.#onData);
    this.#give();
  }

  #give(): void {
    if (this.#taken === 0) return;
    this.#uploads.give(this.#taken);
    this.#taken = 0;
  }
}
