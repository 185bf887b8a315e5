/** Receives the bodies of requests: what a client sends costs no more memory and time than its bytes are worth. */
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';

/** Bytes that a body may hold without asking, and what the buffer of a larger one begins with. */
const SMALL = 65_536;
/** Chunks that may be of any size; beyond them, the average has to be `MIN_CHUNK`. */
const FREE_CHUNKS = 10_000;
const MIN_CHUNK = 256;
const NOTHING = Buffer.alloc(0);

/** What all bodies that are on their way hold together. */
export class Uploads {
  readonly #limit: number;
  #held = 0;
  /** Bytes of all bodies that were read to their end. */
  received = 0;

  /** @param limit bytes; small bodies do not count */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether so many bytes are free; then they are taken. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** The log's way to say that nobody waits for the answer. */
const CLIENT_CLOSED = 499;

function clientClosed(): SvcError {
  const message = 'the client closed the connection before its request was complete';
  return new SvcError('bad-request', message, { status: CLIENT_CLOSED, keepsStatus: true });
}

/**
 * Reads a whole request body.
 * @param limit bytes
 * @throws SvcError bad-request: 415 when it is compressed, 413 when it is over the limit, 400 when it comes in crumbs, 503 when too much is on its way
 *   to the service already, 499 when the client goes away
 */
export function readBody(request: IncomingMessage, limit: number, uploads: Uploads): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      reject(clientClosed());
      return;
    }
    const announced = Number(request.headers['content-length'] ?? 0);
    let body: Buffer = NOTHING;
    let size = 0;
    let chunks = 0;
    let held = 0;

    const done = (): void => {
      uploads.give(held);
      held = 0;
    };
    const refuse = (message: string, status: number): void => {
      request.off('data', onData);
      request.resume();
      body = NOTHING;
      done();
      reject(new SvcError('bad-request', message, { status, keepsStatus: true }));
    };
    const tooLarge = (): void => refuse(`request body is larger than ${limit} bytes`, 413);
    /** Makes room; false when there is none. */
    const grow = (needed: number): boolean => {
      const room = Math.max(needed, Math.min(limit, Math.max(SMALL, 2 * body.length, Math.min(announced, 4 * body.length))));
      if (room > SMALL) {
        if (!uploads.take(room - held)) return false;
        held = room;
      }
      const longer = Buffer.allocUnsafeSlow(room);
      body.copy(longer, 0, 0, size);
      body = longer;
      return true;
    };
    const onData = (chunk: Buffer): void => {
      const end = size + chunk.length;
      chunks += 1;
      if (end > limit) tooLarge();
      else if (chunks > FREE_CHUNKS + end / MIN_CHUNK) refuse('the request body comes in too many small chunks', 400);
      else if (chunks === 1) {
        // Most bodies come in one piece, which is not copied.
        body = chunk;
        size = end;
      } else if (end > body.length && !grow(end)) refuse('too many large request bodies are on their way to the service', 503);
      else {
        chunk.copy(body, size);
        size = end;
      }
    };

    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity') {
      refuse(`a request body with the content encoding ${JSON.stringify(encoding.slice(0, 100))} is not accepted: send it as it is`, 415);
      return;
    }
    if (announced > limit) {
      tooLarge();
      return;
    }
    request.on('data', onData);
    request.on('end', () => {
      done();
      uploads.received += size;
      resolve(size === body.length ? body : body.subarray(0, size));
    });
    const onGone = (): void => {
      done();
      if (!request.complete) reject(clientClosed());
    };
    request.on('error', onGone);
    request.on('close', onGone);
  });
}
