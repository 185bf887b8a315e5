/**
 * Caches introspection answers, compressed to about a fortieth of their size and limited in bytes over all role schemas. Concurrent
 * requests for equal answers share one. Compression does not block the event loop.
 */
import { once } from 'node:events';
import { createDeflateRaw, createInflateRaw } from 'node:zlib';
import { BoundedCache } from '../../util/bounded-cache.ts';
import { type Bytes, bufferOfBytes, bytesOfBuffer } from '../../util/bytes.ts';

/** Answers of several schemas, which share one limit. */
export interface AnswerCache {
  /** Returns the cache for the answers of one more schema. */
  forSchema(): IntrospectionAnswers;
}

export interface IntrospectionAnswers {
  /** Returns the bytes of an answer, in pieces. */
  get(key: string, make: () => Promise<readonly Bytes[]>): Promise<readonly Bytes[]>;
}

/** Higher levels hardly reduce the size. */
const LEVEL = 3;
const PIECE = 65_536;

/** @param maxBytes maximum total size of compressed answers */
export function createAnswerCache(maxBytes: number): AnswerCache {
  const answers = new BoundedCache<string, Buffer>({ bytes: maxBytes });
  const running = new Map<string, Promise<readonly Bytes[]>>();
  let schemas = 0;

  const find = async (key: string, make: () => Promise<readonly Bytes[]>): Promise<readonly Bytes[]> => {
    const known = answers.get(key);
    if (known !== undefined) return decompress(known);
    const pieces = await make();
    const compressed = await compress(pieces);
    answers.set(key, compressed, compressed.length);
    return pieces;
  };

  const get = (key: string, make: () => Promise<readonly Bytes[]>): Promise<readonly Bytes[]> => {
    let answer = running.get(key);
    if (answer === undefined) {
      answer = find(key, make).finally(() => running.delete(key));
      running.set(key, answer);
    }
    return answer;
  };

  return {
    forSchema() {
      schemas += 1;
      const prefix = `${schemas} `;
      return { get: (key, make) => get(prefix + key, make) };
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
