/**
 * Finished answers of introspection, compressed (they repeat themselves: a fortieth is left) and bounded in bytes
 * over all role schemas. Equal ones under way are shared. Compression works beside the event loop.
 */
import { once } from 'node:events';
import { createDeflateRaw, createInflateRaw } from 'node:zlib';
import { BoundedCache } from '../../util/bounded-cache.ts';
import { type Bytes, bufferOfBytes, bytesOfBuffer } from '../../util/bytes.ts';

export interface AnswerCache {
  /** The bytes of an answer, in pieces. */
  get(key: string, make: () => Promise<readonly Bytes[]>): Promise<readonly Bytes[]>;
}

/** More effort makes it little smaller. */
const LEVEL = 3;
const PIECE = 65_536;

/** @param maxBytes of all kept answers together, compressed */
export function createAnswerCache(maxBytes: number): AnswerCache {
  const answers = new BoundedCache<string, Buffer>({ bytes: maxBytes });
  const running = new Map<string, Promise<readonly Bytes[]>>();

  const find = async (key: string, make: () => Promise<readonly Bytes[]>): Promise<readonly Bytes[]> => {
    const known = answers.get(key);
    if (known !== undefined) return decompress(known);
    const made = await make();
    const compressed = await compress(made);
    answers.set(key, compressed, compressed.length);
    return made;
  };

  return {
    get(key, make) {
      let answer = running.get(key);
      if (answer === undefined) {
        answer = find(key, make).finally(() => running.delete(key));
        running.set(key, answer);
      }
      return answer;
    },
  };
}

async function compress(pieces: readonly Bytes[]): Promise<Buffer> {
  const stream = createDeflateRaw({ level: LEVEL });
  const compressed: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => compressed.push(chunk));
  const end = once(stream, 'end');
  for (const piece of pieces) if (!stream.write(bufferOfBytes([piece]))) await once(stream, 'drain');
  stream.end();
  await end;
  return Buffer.concat(compressed);
}

async function decompress(compressed: Buffer): Promise<readonly Bytes[]> {
  const stream = createInflateRaw({ chunkSize: PIECE });
  const answer: Bytes[] = [];
  stream.on('data', (chunk: Buffer) => answer.push(bytesOfBuffer(chunk, 0, chunk.length)));
  const end = once(stream, 'end');
  stream.end(compressed);
  await end;
  return answer;
}
