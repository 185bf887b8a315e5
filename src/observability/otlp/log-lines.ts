/** Lines of the log as the protocol has them: `ExportLogsServiceRequest`. */
import {
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  numberText,
  parseScannedJson,
  printJson,
} from '../../util/json.ts';
import { scanJson, UNLIMITED } from '../../model/json-scan.ts';
import type { Sized } from './batch-queue.ts';
import { encodeRequest, type TelemetryResource, writeKeyValue, writeValue, type Writer } from './wire.ts';

/** A line as it is written. */
export interface LogLine extends Sized {
  /** JSON. */
  readonly text: string;
  /** ms since the epoch */
  readonly time: number;
}

/** Where lines go that are written. */
export interface LineSink {
  /** Never throws. */
  take(line: LogLine): void;
}

const SEVERITIES: ReadonlyMap<string, number> = new Map([
  ['debug', 5],
  ['info', 9],
  ['warn', 13],
  ['error', 17],
]);
/** Characters of a text; of a longer one the beginning is told. */
const MOST_OF_TEXT = 32_768;
/** Characters of a line that is told with its structure; of a longer one the beginning is told as text. */
const MOST_OF_LINE = 1_048_576;
/** What is deeper is told as JSON: libraries of the protocol read messages to a depth of 100, and each object is three. */
const DEEPEST = 16;
/** Levels of a line that is told with its structure at all. */
const DEEPEST_LINE = 200;

export function encodeLines(lines: readonly LogLine[], resource: TelemetryResource): Buffer {
  return encodeRequest(resource, (to) => {
    for (const line of lines) to.message(2, () => writeLine(to, line));
  });
}

function writeLine(to: Writer, line: LogLine): void {
  const { level, type, detail, trace_id: traceId, span_id: spanId } = contentOf(line);
  to.time(1, line.time);
  if (typeof level === 'string') {
    to.int(2, SEVERITIES.get(level) ?? 0);
    to.text(3, level);
  }
  to.message(5, () => writeJson(to, detail ?? null, 0));
  if (typeof type === 'string') writeKeyValue(to, 6, 'type', () => writeValue(to, type));
  if (typeof traceId === 'string') to.hex(9, traceId);
  if (typeof spanId === 'string') to.hex(10, spanId);
  to.time(11, line.time);
}

function contentOf({ text }: LogLine): JsonObject {
  try {
    if (text.length <= MOST_OF_LINE) {
      const facts = scanJson(text, UNLIMITED);
      const line = facts.depth <= DEEPEST_LINE ? parseScannedJson(text, facts) : null;
      if (isJsonObject(line)) return line;
    }
  } catch {
    // it is told as text, as are those that are too long or too deep
  }
  // What all lines begin with.
  const [, level, type] = /^\{"level":"(\w+)","timestamp":"[^"]*","type":"([^"]*)"/.exec(text) ?? [];
  return { ...(level === undefined ? {} : { level }), ...(type === undefined ? {} : { type }), detail: text };
}

/** As `AnyValue`; null is an empty one. */
function writeJson(to: Writer, value: Json, depth: number): void {
  if (value === null) return;
  if (typeof value === 'boolean' || typeof value === 'number') writeValue(to, value);
  else if (typeof value === 'string') to.text(1, value.slice(0, MOST_OF_TEXT));
  else if (isJsonNumber(value)) writeNumber(to, numberText(value));
  else if (depth >= DEEPEST) to.text(1, printJson(value).slice(0, MOST_OF_TEXT));
  else if (isJsonArray(value)) to.message(5, () => writeItems(to, value, depth + 1));
  else if (isJsonObject(value)) to.message(6, () => writeMembers(to, value, depth + 1));
}

/** One that a double does not hold is told as text. */
function writeNumber(to: Writer, text: string): void {
  const number = Number(text);
  if (String(number) === text) writeValue(to, number);
  else to.text(1, text.slice(0, MOST_OF_TEXT));
}

function writeItems(to: Writer, items: readonly Json[], depth: number): void {
  for (const item of items) to.message(1, () => writeJson(to, item, depth));
}

function writeMembers(to: Writer, members: JsonObject, depth: number): void {
  for (const [key, value] of Object.entries(members)) writeKeyValue(to, 1, key, () => writeJson(to, value, depth));
}
