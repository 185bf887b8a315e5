/** Responses of the REST API, reduced to the members that the client uses. */
import {
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  objectsIn,
  parseJson,
  printJson,
} from '../../../util/json.ts';
import { StringDecoder } from 'node:string_decoder';
import { resultTooLarge, VALUE_OVERHEAD } from '../../shared/result-size.ts';
import type { Bytes } from '../../../util/bytes.ts';
import type { Cooperative } from '../../../util/cooperative.ts';
import { BigQueryError } from '../errors.ts';
import { BodyReader } from './body-reader.ts';

export interface ResultField {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  /** Fields of a STRUCT. */
  readonly fields: readonly ResultField[];
}

export interface JobName {
  readonly projectId: string;
  readonly jobId: string;
  readonly location: string | undefined;
}

/** Members of a query response other than its rows. */
export interface ResultPageHead {
  readonly job: JobName | null;
  readonly isComplete: boolean;
  /** `null` if the statement returns no rows. */
  readonly fields: readonly ResultField[] | null;
  readonly next: string | null;
  readonly processedBytes: number | null;
  readonly billedBytes: number | null;
  readonly affectedRows: number | null;
}

export interface ResultPage<Cell> extends ResultPageHead {
  readonly rows: readonly (readonly Cell[])[];
}

/** Reads the cells of a row. @throws SyntaxError */
export type RowReader<Cell> = (reader: BodyReader) => Cooperative<readonly Cell[]>;

/** UTF-8 of a text, in pieces; `null` if the cell is not a text. */
export type TextCell = readonly Bytes[] | null;

/** Maximum bytes of a response without rows, or of everything but the rows. */
export const MAX_HEAD = 4 * 1024 * 1024;

/** @throws BigQueryError if the body is not a JSON object or reports an error */
export function readAnswer(status: number, body: Buffer): JsonObject {
  let json: Json;
  try {
    json = body.length > MAX_HEAD ? null : parseJson(body.toString());
  } catch {
    json = null;
  }
  if (isSuccess(status) && isJsonObject(json)) return json;
  const error = isJsonObject(json) ? json['error'] : undefined;
  if (isJsonObject(error)) throw failureOf(error, status);
  throw unexpectedResponse(status, typeof error === 'string' ? `: ${error.slice(0, 300)}` : '');
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function unexpectedResponse(status: number, reason = ''): BigQueryError {
  return new BigQueryError(status, '', `BigQuery returned an unexpected response (status ${status})${reason}`);
}

/** @param status 0 if a job failed */
export function failureOf(error: JsonObject, status: number): BigQueryError {
  const [first] = objectsIn(error['errors']);
  const reason = nonEmptyString(first?.['reason']) ?? nonEmptyString(error['reason']) ?? nonEmptyString(error['status']) ?? '';
  return new BigQueryError(status, reason, nonEmptyString(error['message']) ?? nonEmptyString(first?.['message']) ?? 'no message');
}

/** @param piece see `BodyReader` @throws as `readAnswer` */
export function* readPage<Cell>(status: number, body: Buffer, readRow: RowReader<Cell>, piece?: number): Cooperative<ResultPage<Cell>> {
  if (!isSuccess(status)) return { ...headOf(readAnswer(status, body)), rows: [] };
  try {
    const reader = new BodyReader(body, piece);
    const head = new Map<string, Json>();
    const rows: (readonly Cell[])[] = [];
    let bytes = 0;
    yield* reader.object(function* (key) {
      if (key === 'rows' && reader.isList) {
        yield* reader.list(function* () {
          rows.push(yield* readRow(reader));
          yield;
        });
        return;
      }
      const value = yield* reader.value();
      bytes += value.length;
      if (bytes > MAX_HEAD) throw unexpectedResponse(status);
      head.set(key, parseJson(value.toString()));
    });
    reader.end();
    return { ...headOf(Object.fromEntries(head)), rows };
  } catch (error) {
    throw error instanceof SyntaxError ? unexpectedResponse(status) : error;
  }
}

function headOf(json: JsonObject): ResultPageHead {
  const schema = json['schema'];
  const fields = isJsonObject(schema) ? fieldsOf(schema['fields']) : null;
  return {
    job: jobOf(json['jobReference']),
    isComplete: json['jobComplete'] !== false,
    fields: fields === null || fields.length === 0 ? null : fields,
    next: nonEmptyString(json['pageToken']),
    processedBytes: finiteNumber(json['totalBytesProcessed']),
    billedBytes: finiteNumber(json['totalBytesBilled']),
    affectedRows: finiteNumber(json['numDmlAffectedRows']),
  };
}

/** Reads cells as JSON. @param mostBytes limit for the values of all rows read with one reader; beyond it, `SvcError` is thrown */
export function valueCells(mostBytes: number): RowReader<Json> {
  let bytes = 0;
  return function* (reader) {
    const json = yield* jsonOf(reader, 0);
    const cells = isJsonObject(json) ? objectsIn(json['f']).map((cell) => cell['v'] ?? null) : [];
    for (const cell of cells) {
      bytes += yield* sizeOf(cell);
      if (bytes > mostBytes) throw resultTooLarge(mostBytes);
    }
    return cells;
  };
}

/** Maximum nesting of the JSON of a cell. BigQuery allows fifteen levels of STRUCT, each of which takes several levels of JSON. */
const MAX_DEPTH = 100;

/** Parses a value; large ones piece by piece. @throws SyntaxError */
function* jsonOf(reader: BodyReader, depth: number): Cooperative<Json> {
  if (depth > MAX_DEPTH) throw new SyntaxError('values are nested too deeply');
  const bytes = yield* reader.value();
  const nested = reader.nested(bytes);
  if (nested === null) return parseJson(bytes.toString());
  if (nested.isText) {
    const decoder = new StringDecoder();
    let text = '';
    for (const piece of yield* nested.text()) {
      text += decoder.write(Buffer.from(piece, 'latin1'));
      yield;
    }
    return text + decoder.end();
  }
  if (nested.isList) {
    const items: Json[] = [];
    yield* nested.list(function* () {
      items.push(yield* jsonOf(nested, depth + 1));
      yield;
    });
    return items;
  }
  if (!nested.isObject) return parseJson(bytes.toString());
  const members: [string, Json][] = [];
  yield* nested.object(function* (key) {
    members.push([key, yield* jsonOf(nested, depth + 1)]);
    yield;
  });
  return Object.fromEntries(members);
}

/** Estimates the memory that a value takes, in bytes. */
function* sizeOf(json: Json): Cooperative<number> {
  if (typeof json === 'string') return Buffer.byteLength(json) + VALUE_OVERHEAD;
  let bytes = VALUE_OVERHEAD;
  const parts = isJsonArray(json) ? json : isJsonObject(json) ? Object.values(json) : [];
  for (const part of parts) bytes += yield* sizeOf(part ?? null);
  if (parts.length > 0) yield;
  return bytes;
}

/** Reads the texts of cells without decoding them. */
export function* textCells(reader: BodyReader): Cooperative<readonly TextCell[]> {
  const cells: TextCell[] = [];
  yield* reader.object(function* (key) {
    if (key !== 'f' || !reader.isList) {
      yield* reader.value();
      return;
    }
    yield* reader.list(function* () {
      let cell: TextCell = null;
      yield* reader.object(function* (part) {
        if (part === 'v' && reader.isText) cell = yield* reader.text();
        else yield* reader.value();
      });
      cells.push(cell);
    });
  });
  return cells;
}

function jobOf(json: Json | undefined): JobName | null {
  if (!isJsonObject(json)) return null;
  const [projectId, jobId] = [nonEmptyString(json['projectId']), nonEmptyString(json['jobId'])];
  return projectId === null || jobId === null ? null : { projectId, jobId, location: nonEmptyString(json['location']) ?? undefined };
}

function fieldsOf(json: Json | undefined): readonly ResultField[] {
  return objectsIn(json).map((field) => ({
    name: nonEmptyString(field['name']) ?? '',
    type: nonEmptyString(field['type']) ?? 'STRING',
    repeated: field['mode'] === 'REPEATED',
    fields: fieldsOf(field['fields']),
  }));
}

export function nonEmptyString(json: Json | undefined): string | null {
  return typeof json === 'string' && json !== '' ? json : null;
}

/** Reads a count, which the API writes as a string. */
export function finiteNumber(json: Json | undefined): number | null {
  if (typeof json !== 'string' && !isJsonNumber(json)) return null;
  const number = Number(typeof json === 'string' ? json : String(json));
  return Number.isFinite(number) ? number : null;
}

/** Formats a cell for display: STRUCT and ARRAY as JSON, timestamps in ISO 8601. Returns `null` for SQL NULL. */
export function* cellText(field: ResultField, cell: Json): Cooperative<string | null> {
  if (cell === null) return null;
  return isPlain(field, cell) ? plainText(field, cell) : yield* jsonText(field, cell);
}

function isPlain({ repeated }: ResultField, cell: Json): cell is string | number | boolean {
  return !repeated && !isJsonObject(cell);
}

function plainText(field: ResultField, cell: Json): string {
  if (typeof cell !== 'string') return printJson(cell);
  return field.type === 'TIMESTAMP' ? momentText(cell) : cell;
}

function* jsonText(field: ResultField, cell: Json): Cooperative<string> {
  if (cell === null) return 'null';
  const parts: string[] = [];
  if (field.repeated) {
    const one = { ...field, repeated: false };
    for (const item of isJsonArray(cell) ? cell : []) parts.push(yield* jsonText(one, isJsonObject(item) ? (item['v'] ?? null) : item));
    yield;
    return `[${parts.join(',')}]`;
  }
  if (!isJsonObject(cell)) return JSON.stringify(plainText(field, cell));
  const cells = objectsIn(cell['f']);
  for (const [i, inner] of field.fields.entries()) {
    parts.push(`${JSON.stringify(inner.name)}:${yield* jsonText(inner, cells[i]?.['v'] ?? null)}`);
  }
  yield;
  return `{${parts.join(',')}}`;
}

/** @param micros microseconds since 1970 */
function momentText(micros: string): string {
  if (!/^-?\d{1,18}$/.test(micros)) return micros;
  const all = BigInt(micros);
  const part = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((all - part) / 1000n)).toISOString().slice(0, 19);
  return part === 0n ? `${seconds}Z` : `${seconds}.${String(part).padStart(6, '0')}Z`;
}
