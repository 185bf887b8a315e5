/** Reads request bodies, with limits for memory and time. */
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';

/** Size up to which a body does not count, and initial buffer size of a larger one, in bytes. */
const SMALL = 65_536;
/** Number of chunks of any size; with more, the average size must be at least `MIN_CHUNK`. */
const FREE_CHUNKS = 10_000;
const MIN_CHUNK = 256;
const NOTHING = Buffer.alloc(0);

/** Memory of all bodies that are being received. */
export class Uploads {
  readonly #limit: number;
  #used = 0;
  /** Size of all complete bodies since the start, in bytes. */
  received = 0;

  /** @param limit in bytes; small bodies do not count */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the bytes and returns true if they are free. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#limit) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Status in the log for a client that has disconnected. */
const CLIENT_CLOSED = 499;

function clientClosed(): SvcError {
  const message = 'the client closed the connection before its request was complete';
  return new SvcError('bad-request', message, { status: CLIENT_CLOSED, keepsStatus: true });
}

/** The part of a body that has arrived. */
class ReceivedBody {
  readonly #limit: number;
  readonly #announced: number;
  readonly #uploads: Uploads;
  #buffer: Buffer = NOTHING;
  #held = 0;
  size = 0;

  /** @param announced size of the body, if the client knows it */
  constructor(limit: number, announced: number, uploads: Uploads) {
    this.#limit = limit;
    this.#announced = announced;
    this.#uploads = uploads;
  }

  /** Adds a chunk; returns false if there is no memory. */
  add(chunk: Buffer): boolean {
    const end = this.size + chunk.length;
    // Most bodies arrive in one chunk, which is not copied.
    if (this.size === 0) this.#buffer = chunk;
    else if (end > this.#buffer.length && !this.#grow(end)) return false;
    else chunk.copy(this.#buffer, this.size);
    this.size = end;
    return true;
  }

  #grow(needed: number): boolean {
    const { length } = this.#buffer;
    const capacity = Math.max(needed, Math.min(this.#limit, Math.max(SMALL, 2 * length, Math.min(this.#announced, 4 * length))));
    if (capacity > SMALL) {
      if (!this.#uploads.take(capacity - this.#held)) return false;
      this.#held = capacity;
    }
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(grown, 0, 0, this.size);
    this.#buffer = grown;
    return true;
  }

  /** Ends the reservation of memory. */
  release(): void {
    this.#uploads.release(this.#held);
    this.#held = 0;
  }

  /** Drops what has arrived. */
  drop(): void {
    this.#buffer = NOTHING;
    this.release();
  }

  complete(): Buffer {
    this.release();
    this.#uploads.received += this.size;
    return this.size === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.size);
  }
}

/**
 * Reads a whole request body.
 * @param limit in bytes
 * @throws SvcError bad-request: 415 if it is compressed, 413 if it is too large, 400 if its chunks are too small, 503 if too many large
 *   bodies are being received, 499 if the client disconnects
 */
export function readBody(request: IncomingMessage, limit: number, uploads: Uploads): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      reject(clientClosed());
      return;
    }
    const announced = Number(request.headers['content-length'] ?? 0);
    const body = new ReceivedBody(limit, announced, uploads);
    let chunks = 0;

    const refuse = (message: string, status: number): void => {
      request.off('data', onData);
      request.resume();
      body.drop();
      reject(new SvcError('bad-request', message, { status, keepsStatus: true }));
    };
    const tooLarge = (): void => refuse(`request body is larger than ${limit} bytes`, 413);
    const onData = (chunk: Buffer): void => {
      const end = body.size + chunk.length;
      chunks += 1;
      if (end > limit) tooLarge();
      else if (chunks > FREE_CHUNKS + end / MIN_CHUNK) refuse('the request body arrives in too many small chunks', 400);
      else if (!body.add(chunk)) refuse('too many large request bodies are being received', 503);
    };

    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity') {
      refuse(
        `a request body with the content encoding ${JSON.stringify(encoding.slice(0, 100))} is not accepted: send it uncompressed`,
        415,
      );
      return;
    }
    if (announced > limit) {
      tooLarge();
      return;
    }
    request.on('data', onData);
    request.on('end', () => resolve(body.complete()));
    // Also after an error, which Node only reports to listeners.
    request.on('close', () => {
      body.release();
      if (!request.complete) reject(clientClosed());
    });
  });
}
