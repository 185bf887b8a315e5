/** The JSON of an answer, within what it may cost. */
import { type Json, parseScannedJson } from '../util/json.ts';
import { scanJson } from '../util/json-scan.ts';

/** Levels of lists and objects. */
const MAX_NESTING = 512;
/** Weight of the values of an answer for each of its bytes (`JsonFacts.size`); usual answers have a tenth of it. */
const MAX_WEIGHT_PER_BYTE = 2;
/** What an answer may weigh however small it is. */
const FREE_WEIGHT = 100_000;
/** What an answer may weigh however long it is: nothing else is done while it is parsed and printed, which takes a second or two. */
const MAX_WEIGHT = 8_000_000;

/** Its message is the end of a sentence: `is not valid JSON`. */
export class AnswerFault extends Error {}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AnswerFault */
export function answerJson(body: Buffer): Json {
  const text = textOf(body);
  const size = Math.min(FREE_WEIGHT + MAX_WEIGHT_PER_BYTE * text.length, MAX_WEIGHT);
  const found = scanJson(text, { depth: MAX_NESTING, size });
  if (found.depth > MAX_NESTING) throw new AnswerFault(`is nested deeper than ${MAX_NESTING} levels`);
  if (found.size > size) throw new AnswerFault(size < MAX_WEIGHT ? 'has too many values for its length' : 'has too many values');
  try {
    return parseScannedJson(text, found);
  } catch (cause) {
    throw new AnswerFault('is not valid JSON', { cause });
  }
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
