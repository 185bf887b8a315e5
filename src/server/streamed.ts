/** Large answers: their pieces are made and written as the client takes them, so that no more than a few wait for it. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import { type Body, piecesOf } from '../util/bytes.ts';
import type { Answers, MemoryInUse } from './answers.ts';

/** Bodies of more bytes are streamed. */
export const STREAMED = 1_048_576;
/** Time between two pauses, in ms. */
const SLICE_MS = 4;

/**
 * Resolves when the last piece is written or the client is gone.
 * @param through compresses it; `null`: as it is
 * @param memory of the body: it counts among what waits for clients once there is room for it there
 * @returns the bytes that were written
 */
export async function stream(
  body: Body,
  response: ServerResponse,
  socket: Socket,
  answers: Answers,
  size: number,
  through: Transform | null,
  memory: MemoryInUse,
): Promise<number> {
  const held = answers.hold(socket, 0, size, memory);
  const target = through ?? response;
  let written = 0;
  let pauseAt = performance.now() + SLICE_MS;
  const gone = new AbortController();
  const stop = (): void => gone.abort();
  response.once('close', stop);
  const drained = (of: Transform | ServerResponse): Promise<unknown> =>
    gone.signal.aborted ? Promise.resolve() : once(of, 'drain', { signal: gone.signal }).catch(() => undefined);
  const passed =
    through === null
      ? null
      : (async () => {
          for await (const chunk of through as AsyncIterable<Buffer>) {
            written += chunk.length;
            if (gone.signal.aborted) break;
            if (!response.write(chunk)) await drained(response);
          }
        })();
  try {
    for (const piece of piecesOf(body)) {
      if (gone.signal.aborted) break;
      if (through === null) written += piece.length;
      const isFull = piece !== '' && !target.write(piece, 'latin1');
      if (isFull) await drained(target);
      // Other requests get their turn even if the client takes everything at once.
      else if (performance.now() > pauseAt) await new Promise((resolve) => setImmediate(resolve));
      held.took(piece.length);
      if (isFull || performance.now() > pauseAt) pauseAt = performance.now() + SLICE_MS;
    }
    if (through !== null) {
      through.end();
      if (gone.signal.aborted) through.destroy();
      await passed?.catch(() => undefined);
    }
    response.end();
  } finally {
    response.off('close', stop);
    held.release();
  }
  return written;
}
