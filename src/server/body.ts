import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import { type Json, parseJson } from '../util/json.ts';

/** Reads a whole request body. @throws SvcError bad-request, status 413, when it is over `limit` bytes */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | null = null;
    let rest: Buffer[] | null = null;
    let size = 0;
    const tooLarge = (): void => {
      request.removeAllListeners('data');
      request.resume();
      reject(new SvcError('bad-request', `request body is larger than ${limit} bytes`, { status: 413, keepsStatus: true }));
    };
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      tooLarge();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) tooLarge();
      else if (first === null) first = chunk;
      else if (rest === null) rest = [first, chunk];
      else rest.push(chunk);
    });
    request.on('end', () => resolve(rest !== null ? Buffer.concat(rest, size) : (first ?? Buffer.alloc(0))));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new SvcError('bad-request', 'the request was closed before its body was complete'));
    });
  });
}

/** Deepest nesting of arrays and objects in JSON text, or the first depth over `limit`; strings are skipped. */
export function nesting(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      for (i++; i < text.length && text.charCodeAt(i) !== 34; i++) if (text.charCodeAt(i) === 92) i++;
    } else if (c === 91 || c === 123) {
      if (++depth > deepest) deepest = depth;
      if (deepest > limit) return deepest;
    } else if (c === 93 || c === 125) depth--;
  }
  return deepest;
}

export const MAX_NESTING = 512;

/** @throws SvcError invalid-json */
export function decodeJsonBody(body: Buffer): Json {
  const text = body.toString('utf8');
  if (text.length > MAX_NESTING && nesting(text, MAX_NESTING) > MAX_NESTING) {
    throw new SvcError('invalid-json', `JSON is nested deeper than ${MAX_NESTING} levels`, { keepsStatus: true });
  }
  try {
    return parseJson(text);
  } catch (error) {
    throw new SvcError(
      'invalid-json',
      body.length === 0 ? 'the request body is empty; expected JSON' : 'the request body is not valid JSON',
      {
        keepsStatus: true,
        cause: error,
      },
    );
  }
}
