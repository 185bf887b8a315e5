/** The JSON in bodies and parameters. */
import { isUtf8 } from 'node:buffer';
import { SvcError } from '../errors/svc-error.ts';
import { findDuplicateKey } from '../util/duplicate-keys.ts';
import { type Json, parseScannedJson } from '../util/json.ts';
import { scanJson } from '../model/json-scan.ts';
import { parseInSlices } from '../util/json-slices.ts';
import { type Path, ROOT } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';

const MAX_NESTING = 512;
/** Characters of text for which a limit on its size is meant. */
const MEGABYTE = 1_000_000;

/** For what administrators send. */
const ANY_SIZE = Number.POSITIVE_INFINITY;
/** Bytes that are parsed at once in some milliseconds. */
const LONG = 262_144;

const TOO_DEEP = `JSON is nested deeper than ${MAX_NESTING} levels`;

function refused(reason: string, path: Path, cause?: unknown): SvcError {
  return new SvcError('invalid-json', reason, { path, keepsStatus: true, ...(cause === undefined ? {} : { cause }) });
}

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
  if (found.depth > MAX_NESTING) throw refused(TOO_DEEP, path);
  if (found.size > size) throw refused(`JSON has too many values: their weight is over the limit of ${size}`, path);
  try {
    return { json: parseScannedJson(text, found), depth: found.depth };
  } catch (error) {
    throw refused(`${what} is not valid JSON`, path, error);
  }
}

/** A parameter of a URL. @throws SvcError invalid-json */
export function decodeJsonParameter(text: string, name: string, maxSize: number, path: Path): Json {
  return decode(text, `the parameter "${name}"`, maxSize, path).json;
}

/**
 * What an administrator sends: a key that is there twice would win over the first without a word.
 * @throws SvcError invalid-json, parse-failed with the path of the second key
 */
export async function decodeAdministratorsBody(body: Buffer): Promise<Json> {
  const text = textOf(body);
  const json = body.length < LONG ? decodeJsonBody(body, ANY_SIZE) : await decodeInSlices(text);
  const repeated = await inSlices(findDuplicateKey(text));
  if (repeated !== null) {
    const message = `the key ${JSON.stringify(repeated.key)} is there twice in one object`;
    throw new SvcError('parse-failed', message, { path: repeated, keepsStatus: true });
  }
  return json;
}

/** A large document takes long to parse: others get their turn in between. @throws SvcError invalid-json */
async function decodeInSlices(text: string): Promise<Json> {
  try {
    const { json } = await inSlices(parseInSlices(text, { depth: MAX_NESTING, size: ANY_SIZE }));
    if (json !== undefined) return json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refused('the request body is not valid JSON', ROOT, error);
  }
  throw refused(TOO_DEEP, ROOT);
}

/** @throws SvcError invalid-json */
export function decodeJsonBody(body: Buffer, maxSize: number): Json {
  return decodeMeasuredBody(body, maxSize).json;
}

/** @throws SvcError invalid-json */
export function decodeMeasuredBody(body: Buffer, maxSize: number): MeasuredJson {
  if (body.length === 0) throw new SvcError('invalid-json', 'the request body is empty; expected JSON', { keepsStatus: true });
  return decode(textOf(body), 'the request body', maxSize, ROOT);
}

/** What is no UTF-8 would become other characters without a word. @throws SvcError invalid-json */
function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new SvcError('invalid-json', 'the request body is not encoded in UTF-8', { keepsStatus: true });
  return body.toString('utf8');
}

/** @param what as messages call it @throws SvcError invalid-json */
export function decodeMeasured(text: string, what: string, maxSize: number): MeasuredJson {
  return decode(text, what, maxSize, ROOT);
}
