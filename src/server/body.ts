/** Decodes JSON in bodies and parameters. */
import { isUtf8 } from 'node:buffer';
import { SvcError } from '../errors/svc-error.ts';
import { findDuplicateKey } from '../util/duplicate-keys.ts';
import { type Json, parseScannedJson } from '../util/json.ts';
import { scanJson } from '../model/json-scan.ts';
import { parseJsonCooperatively } from '../util/parse-json-cooperatively.ts';
import { type Path, ROOT } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';

const MAX_NESTING = 512;
/** Text length to which a size limit refers, in characters. */
const MEGABYTE = 1_000_000;

/** Administrators have no size limit. */
const ANY_SIZE = Number.POSITIVE_INFINITY;
/** Bodies of at least this many bytes are parsed cooperatively; shorter ones take some milliseconds. */
const COOPERATIVE_SIZE = 262_144;

const TOO_DEEP = `JSON is nested deeper than ${MAX_NESTING} levels`;

function refused(reason: string, path: Path, cause?: unknown): SvcError {
  return new SvcError('invalid-json', reason, { path, keepsStatus: true, ...(cause === undefined ? {} : { cause }) });
}

export interface MeasuredJson {
  readonly json: Json;
  /** Nesting of lists and objects. */
  readonly depth: number;
}

/**
 * Decodes JSON of a client.
 * @param what names the text in messages
 * @param maxSize limit of `JsonFacts.size` per megabyte: it grows with larger texts, but does not shrink with smaller ones
 * @throws SvcError invalid-json
 */
function decode(text: string, what: string, maxSize: number, path: Path): MeasuredJson {
  const size = Math.floor(maxSize * Math.max(1, text.length / MEGABYTE));
  const found = scanJson(text, { depth: MAX_NESTING, size });
  if (found.depth > MAX_NESTING) throw refused(TOO_DEEP, path);
  if (found.size > size) throw refused(`JSON has too many values: their weight exceeds the limit of ${size}`, path);
  try {
    return { json: parseScannedJson(text, found), depth: found.depth };
  } catch (error) {
    throw refused(`${what} is not valid JSON`, path, error);
  }
}

/** Decodes a URL parameter. @throws SvcError invalid-json */
export function decodeJsonParameter(text: string, name: string, maxSize: number, path: Path): Json {
  return decode(text, `the parameter "${name}"`, maxSize, path).json;
}

/**
 * Decodes the body of an administrator. Rejects duplicate keys, since the second value would silently replace the first.
 * @throws SvcError invalid-json, parse-failed with the path of the second key
 */
export async function decodeAdministratorsBody(body: Buffer): Promise<Json> {
  const text = textOf(body);
  const json = body.length < COOPERATIVE_SIZE ? decodeJsonBody(body, ANY_SIZE) : await decodeCooperatively(text);
  const repeated = await runCooperatively(findDuplicateKey(text));
  if (repeated !== null) {
    const message = `duplicate key ${JSON.stringify(repeated.key)} in an object`;
    throw new SvcError('parse-failed', message, { path: repeated, keepsStatus: true });
  }
  return json;
}

/** Parses a large document cooperatively. @throws SvcError invalid-json */
async function decodeCooperatively(text: string): Promise<Json> {
  try {
    const { json } = await runCooperatively(parseJsonCooperatively(text, { depth: MAX_NESTING, size: ANY_SIZE }));
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

/** Rejects bytes that are not UTF-8, which would silently become other characters. @throws SvcError invalid-json */
function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new SvcError('invalid-json', 'the request body is not encoded in UTF-8', { keepsStatus: true });
  return body.toString('utf8');
}

/** @param what names the text in messages @throws SvcError invalid-json */
export function decodeMeasured(text: string, what: string, maxSize: number): MeasuredJson {
  return decode(text, what, maxSize, ROOT);
}
