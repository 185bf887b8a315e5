import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import { type Json, parseScannedJson } from '../util/json.ts';
import { scanJson } from '../util/json-scan.ts';
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
/** Characters of text for which a limit on its size is meant. */
const MEGABYTE = 1_000_000;

/** For what administrators send. */
export const ANY_SIZE = Number.POSITIVE_INFINITY;

export interface MeasuredJson {
  readonly json: Json;
  /** Levels of lists and objects. */
  readonly depth: number;
}

/**
 * JSON of a client.
 * @param what as messages call it
 * @param maxSize `JsonFacts.size` of a megabyte: a larger text may have more in proportion, a smaller one not less
 * @throws SvcError invalid-json
 */
function decode(text: string, what: string, maxSize: number, path: Path): MeasuredJson {
  const size = Math.floor(maxSize * Math.max(1, text.length / MEGABYTE));
  const found = scanJson(text, { depth: MAX_NESTING, size });
  const refused = (reason: string, cause?: unknown): SvcError =>
    new SvcError('invalid-json', reason, { path, keepsStatus: true, ...(cause === undefined ? {} : { cause }) });
  if (found.depth > MAX_NESTING) throw refused(`JSON is nested deeper than ${MAX_NESTING} levels`);
  if (found.size > size) throw refused(`JSON has too many values: their weight is over the limit of ${size}`);
  try {
    return { json: parseScannedJson(text, found), depth: found.depth };
  } catch (error) {
    throw refused(`${what} is not valid JSON`, error);
  }
}

/** A parameter of a URL. @throws SvcError invalid-json */
export function decodeJsonParameter(text: string, name: string, maxSize: number, path: Path): Json {
  return decode(text, `the parameter "${name}"`, maxSize, path).json;
}

/** @throws SvcError invalid-json */
export function decodeJsonBody(body: Buffer, maxSize: number): Json {
  return decodeMeasuredBody(body, maxSize).json;
}

/** @throws SvcError invalid-json */
export function decodeMeasuredBody(body: Buffer, maxSize: number): MeasuredJson {
  if (body.length === 0) throw new SvcError('invalid-json', 'the request body is empty; expected JSON', { keepsStatus: true });
  return decode(body.toString('utf8'), 'the request body', maxSize, ROOT);
}
