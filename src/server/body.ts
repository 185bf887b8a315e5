import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import { type Json, parseJson } from '../util/json.ts';
import { type Path, ROOT } from '../util/path.ts';

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

const MAX_NESTING = 512;
/** Of one object: parsers put keys into tables, which for very many costs as much as all the rest of a request. */
const MAX_KEYS = 30_000;
const keys = new Uint32Array(MAX_NESTING + 1);

/** Nesting and keys of JSON text, found before it is parsed; `undefined` when there is nothing to say against it. */
function faultOf(text: string): string | undefined {
  let depth = 0;
  keys[0] = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      for (i++; i < text.length && text.charCodeAt(i) !== 34; i++) if (text.charCodeAt(i) === 92) i++;
    } else if (c === 91 || c === 123) {
      if (++depth > MAX_NESTING) return `JSON is nested deeper than ${MAX_NESTING} levels`;
      keys[depth] = 0;
    } else if (c === 93 || c === 125) {
      if (depth > 0) depth--;
    } else if (c === 58) {
      const count = (keys[depth] ?? 0) + 1;
      if (count > MAX_KEYS) return `JSON has an object of more than ${MAX_KEYS} keys`;
      keys[depth] = count;
    }
  }
  return undefined;
}

/**
 * JSON of a client.
 * @param what as messages call it
 * @throws SvcError invalid-json
 */
export function decodeJson(text: string, what: string, path: Path = ROOT): Json {
  const fault = text.length > MAX_NESTING ? faultOf(text) : undefined;
  if (fault !== undefined) throw new SvcError('invalid-json', fault, { path, keepsStatus: true });
  try {
    return parseJson(text);
  } catch (error) {
    throw new SvcError('invalid-json', `${what} is not valid JSON`, { path, keepsStatus: true, cause: error });
  }
}

/** @throws SvcError invalid-json */
export function decodeJsonBody(body: Buffer): Json {
  if (body.length === 0) throw new SvcError('invalid-json', 'the request body is empty; expected JSON', { keepsStatus: true });
  return decodeJson(body.toString('utf8'), 'the request body');
}
