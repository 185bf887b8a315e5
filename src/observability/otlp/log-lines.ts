/** Encodes log lines as `ExportLogsServiceRequest`. */
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
import { encodeRequest, type TelemetryResource, writeKeyValue, writeValue, type ProtobufWriter } from './wire.ts';

export interface LogLine extends Sized {
  /** JSON text of the line. */
  readonly text: string;
  /** In epoch milliseconds. */
  readonly time: number;
}

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
/** Maximum length of a string, in characters; longer ones are cut. */
const MAX_STRING_LENGTH = 32_768;
/** Maximum length of a line that is sent with its structure, in characters; of longer ones, the beginning is sent as text. */
const MAX_LINE_LENGTH = 1_048_576;
/** Maximum depth of the structure; deeper parts are sent as JSON text. Protobuf libraries read 100 levels, and each object needs three. */
const MAX_DEPTH = 16;
/** Maximum depth of a line that is parsed at all. */
const MAX_PARSED_DEPTH = 200;

export function encodeLines(lines: readonly LogLine[], resource: TelemetryResource): Buffer {
  return encodeRequest(resource, (to) => {
    for (const line of lines) to.message(2, () => writeLine(to, line));
  });
}

function writeLine(to: ProtobufWriter, line: LogLine): void {
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
    if (text.length <= MAX_LINE_LENGTH) {
      const facts = scanJson(text, UNLIMITED);
      const line = facts.depth <= MAX_PARSED_DEPTH ? parseScannedJson(text, facts) : null;
      if (isJsonObject(line)) return line;
    }
  } catch {
    // Sent as text, like lines that are too long or too deep.
  }
  // The beginning of all lines.
  const [, level, type] = /^\{"level":"(\w+)","timestamp":"[^"]*","type":"([^"]*)"/.exec(text) ?? [];
  return { ...(level === undefined ? {} : { level }), ...(type === undefined ? {} : { type }), detail: text };
}

/** Writes an `AnyValue`; null is an empty one. */
function writeJson(to: ProtobufWriter, value: Json, depth: number): void {
  if (value === null) return;
  if (typeof value === 'boolean' || typeof value === 'number') writeValue(to, value);
  else if (typeof value === 'string') to.text(1, value.slice(0, MAX_STRING_LENGTH));
  else if (isJsonNumber(value)) writeNumber(to, numberText(value));
  else if (depth >= MAX_DEPTH) to.text(1, printJson(value).slice(0, MAX_STRING_LENGTH));
  else if (isJsonArray(value)) to.message(5, () => writeItems(to, value, depth + 1));
  else if (isJsonObject(value)) to.message(6, () => writeMembers(to, value, depth + 1));
}

/** Numbers that a double cannot hold exactly are sent as text. */
function writeNumber(to: ProtobufWriter, text: string): void {
  const number = Number(text);
  if (String(number) === text) writeValue(to, number);
  else to.text(1, text.slice(0, MAX_STRING_LENGTH));
}

function writeItems(to: ProtobufWriter, items: readonly Json[], depth: number): void {
  for (const item of items) to.message(1, () => writeJson(to, item, depth));
}

function writeMembers(to: ProtobufWriter, members: JsonObject, depth: number): void {
  for (const [key, value] of Object.entries(members)) writeKeyValue(to, 1, key, () => writeJson(to, value, depth));
}
