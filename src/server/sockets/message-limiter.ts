/** Limits incomplete messages, in memory and time. */
import type { Socket } from 'node:net';
import type { Uploads } from '../read-body.ts';

/** Size up to which a message does not count, in bytes. */
const SMALL = 65_536;
/** Size of a small client frame without its data, in bytes. */
const FRAME_HEAD = 6;

export class MessageLimiter {
  readonly #uploads: Uploads;
  readonly #socket: Socket;
  readonly #onData: (chunk: Buffer) => void;
  #bytes = 0;
  /** Bytes that are taken from the uploads. */
  #taken = 0;
  #beats = 0;

  /** @param onRefused called if there is no memory for the message */
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
    // Before the library's listener: the chunk may complete a message.
    socket.prependListener('data', this.#onData);
  }

  /** Called when a message is complete. */
  received(): void {
    this.#bytes = 0;
    this.#beats = 0;
    this.#release();
  }

  /** Called for a control frame, whose bytes do not belong to a message. */
  control(size: number): void {
    this.#bytes = Math.max(0, this.#bytes - size - FRAME_HEAD);
  }

  /** Called at every heartbeat. Returns the number of heartbeats since the message started. */
  beats(): number {
    this.#beats = this.#bytes === 0 ? 0 : this.#beats + 1;
    return this.#beats;
  }

  end(): void {
    this.#socket.off('data', this.#onData);
    this.#release();
  }

  #release(): void {
    if (this.#taken === 0) return;
    this.#uploads.release(this.#taken);
    this.#taken = 0;
  }
}
