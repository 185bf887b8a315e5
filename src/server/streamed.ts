/** Streams large responses: pieces are printed and written as the client reads, so that only a few wait. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import { type Body, piecesOf } from '../util/bytes.ts';
import type { PendingResponses, MemoryInUse } from './pending-responses.ts';

/** Minimum size of a streamed body, in bytes. */
export const STREAMED = 1_048_576;
/** Time between two pauses, in ms. */
const SLICE_MS = 4;

/**
 * Writes a body; resolves when the last piece is written or the client has disconnected.
 * @param through compresses the body; `null` to send it uncompressed
 * @param memory of the body: counts with the unread responses once there is room
 * @returns the number of written bytes
 */
export async function stream(
  body: Body,
  response: ServerResponse,
  socket: Socket,
  pending: PendingResponses,
  size: number,
  through: Transform | null,
  memory: MemoryInUse,
): Promise<number> {
  const tracked = pending.add(socket, 0, size, memory);
  const target = through ?? response;
  let written = 0;
  let pauseAt = performance.now() + SLICE_MS;
  const closed = new AbortController();
  const stop = (): void => closed.abort();
  response.once('close', stop);
  const drained = (of: Transform | ServerResponse): Promise<unknown> =>
    closed.signal.aborted ? Promise.resolve() : once(of, 'drain', { signal: closed.signal }).catch(() => undefined);
  const compressed =
    through === null
      ? null
      : (async () => {
          for await (const chunk of through as AsyncIterable<Buffer>) {
            written += chunk.length;
            if (closed.signal.aborted) break;
            if (!response.write(chunk)) await drained(response);
          }
        })();
  try {
    for (const piece of piecesOf(body)) {
      if (closed.signal.aborted) break;
      if (through === null) written += piece.length;
      const isFull = piece !== '' && !target.write(piece, 'latin1');
      if (isFull) await drained(target);
      // Yields to other requests, even if the client reads everything at once.
      else if (performance.now() > pauseAt) await new Promise((resolve) => setImmediate(resolve));
      tracked.onRead(piece.length);
      if (isFull || performance.now() > pauseAt) pauseAt = performance.now() + SLICE_MS;
    }
    if (through !== null) {
      through.end();
      if (closed.signal.aborted) through.destroy();
      await compressed?.catch(() => undefined);
    }
    response.end();
  } finally {
    response.off('close', stop);
    tracked.release();
  }
  return written;
}
