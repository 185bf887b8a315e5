/** Parses the JSON of a response, within limits of depth and size. */
import { type Json, parseScannedJson } from '../util/json.ts';
import { type JsonScanLimits, scanJson } from '../model/json-scan.ts';
import { type ParsedJson, parseJsonCooperatively } from '../util/parse-json-cooperatively.ts';
import { runCooperatively } from '../util/cooperative.ts';

/** Maximum levels of lists and objects. */
const MAX_NESTING = 512;
/** Maximum weight of the values (`JsonFacts.size`) per byte of the response; usual responses have a tenth of it. */
const MAX_WEIGHT_PER_BYTE = 2;
/** Weight that is always allowed, however short the response is. */
const FREE_WEIGHT = 100_000;
/** Maximum weight of the values of a response: they take ten times the memory of its text. */
const MAX_WEIGHT = 8_000_000;
/** Responses of at least this many bytes are parsed cooperatively; shorter ones take some milliseconds. */
const COOPERATIVE_SIZE = 262_144;

/** An invalid response. The message completes a sentence: `is not valid JSON`. */
export class ResponseFault extends Error {}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws ResponseFault */
export function responseJson(body: Buffer): Json {
  const text = textOf(body);
  const limits = limitsFor(text);
  const found = scanJson(text, limits);
  checkFacts(found, limits);
  try {
    return parseScannedJson(text, found);
  } catch (cause) {
    throw new ResponseFault('is not valid JSON', { cause });
  }
}

/** Like `responseJson`, but parses a long response cooperatively. */
export async function responseJsonCooperatively(body: Buffer): Promise<Json> {
  if (body.length < COOPERATIVE_SIZE) return responseJson(body);
  const text = textOf(body);
  const limits = limitsFor(text);
  let found: ParsedJson;
  try {
    found = await runCooperatively(parseJsonCooperatively(text, limits));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ResponseFault('is not valid JSON', { cause });
  }
  checkFacts(found, limits);
  return found.json as Json;
}

function limitsFor(text: string): JsonScanLimits {
  return { depth: MAX_NESTING, size: Math.min(FREE_WEIGHT + MAX_WEIGHT_PER_BYTE * text.length, MAX_WEIGHT) };
}

/** @throws ResponseFault */
function checkFacts(found: Pick<ParsedJson, 'depth' | 'size'>, { depth, size }: JsonScanLimits): void {
  if (found.depth > depth) throw new ResponseFault(`is nested deeper than ${depth} levels`);
  if (found.size > size) throw new ResponseFault(size < MAX_WEIGHT ? 'has too many values for its length' : 'has too many values');
}

/** Like `responseJson`; `null` if the body is not JSON or exceeds a limit. */
export function responseJsonOrNull(body: Buffer): Json {
  try {
    return responseJson(body);
  } catch (error) {
    if (error instanceof ResponseFault) return null;
    throw error;
  }
}

function textOf(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch (cause) {
    throw new ResponseFault('is not valid JSON', { cause });
  }
}
