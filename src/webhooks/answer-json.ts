/** The JSON of an answer, within what it may cost. */
import { type Json, parseScannedJson } from '../util/json.ts';
import { type JsonScanLimits, scanJson } from '../model/json-scan.ts';
import { type ParsedInSlices, parseInSlices } from '../util/json-slices.ts';
import { inSlices } from '../util/sliced.ts';

/** Levels of lists and objects. */
const MAX_NESTING = 512;
/** Weight of the values of an answer for each of its bytes (`JsonFacts.size`); usual answers have a tenth of it. */
const MAX_WEIGHT_PER_BYTE = 2;
/** What an answer may weigh however small it is. */
const FREE_WEIGHT = 100_000;
/** What an answer may weigh however long it is: its values take ten times the memory of its text. */
const MAX_WEIGHT = 8_000_000;
/** Bytes that are parsed at once in some milliseconds. */
const LONG = 262_144;

/** Its message is the end of a sentence: `is not valid JSON`. */
export class AnswerFault extends Error {}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AnswerFault */
export function answerJson(body: Buffer): Json {
  const text = textOf(body);
  const limits = limitsFor(text);
  const found = scanJson(text, limits);
  checkFacts(found, limits);
  try {
    return parseScannedJson(text, found);
  } catch (cause) {
    throw new AnswerFault('is not valid JSON', { cause });
  }
}

/** The same; what is long is parsed in slices, with other work in between. */
export async function answerJsonInSlices(body: Buffer): Promise<Json> {
  if (body.length < LONG) return answerJson(body);
  const text = textOf(body);
  const limits = limitsFor(text);
  let found: ParsedInSlices;
  try {
    found = await inSlices(parseInSlices(text, limits));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new AnswerFault('is not valid JSON', { cause });
  }
  checkFacts(found, limits);
  return found.json as Json;
}

function limitsFor(text: string): JsonScanLimits {
  return { depth: MAX_NESTING, size: Math.min(FREE_WEIGHT + MAX_WEIGHT_PER_BYTE * text.length, MAX_WEIGHT) };
}

/** @throws AnswerFault */
function checkFacts(found: Pick<ParsedInSlices, 'depth' | 'size'>, { depth, size }: JsonScanLimits): void {
  if (found.depth > depth) throw new AnswerFault(`is nested deeper than ${depth} levels`);
  if (found.size > size) throw new AnswerFault(size < MAX_WEIGHT ? 'has too many values for its length' : 'has too many values');
}

/** The same; null where it is no JSON, or costs too much. */
export function answerJsonOrNull(body: Buffer): Json {
  try {
    return answerJson(body);
  } catch (error) {
    if (error instanceof AnswerFault) return null;
    throw error;
  }
}

function textOf(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch (cause) {
    throw new AnswerFault('is not valid JSON', { cause });
  }
}
