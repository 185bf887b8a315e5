/** What the REST interface answers, as far as it is read here; anything else in an answer is passed over. */
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../../../util/json.ts';
import { StringDecoder } from 'node:string_decoder';
import { resultTooLarge, VALUE_OVERHEAD } from '../../shared/result-size.ts';
import type { Bytes } from '../../../util/bytes.ts';
import type { Sliced } from '../../../util/sliced.ts';
import { BigQueryError } from '../errors.ts';
import { BodyReader } from './body-reader.ts';

export interface ResultField {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  /** Of a structure. */
  readonly fields: readonly ResultField[];
}

export interface JobName {
  readonly projectId: string;
  readonly jobId: string;
  readonly location: string | undefined;
}

/** What an answer says of a query, besides its rows. */
export interface PageHead {
  readonly job: JobName | null;
  readonly isComplete: boolean;
  /** Null: the statement gives no rows. */
  readonly fields: readonly ResultField[] | null;
  readonly next: string | null;
  readonly processedBytes: number | null;
  readonly billedBytes: number | null;
  readonly affectedRows: number | null;
}

/** A page of what a query gives. */
export interface Page<Cell> extends PageHead {
  readonly rows: readonly (readonly Cell[])[];
}

/** How the cells of a row are read. @throws SyntaxError */
export type RowReader<Cell> = (reader: BodyReader) => Sliced<readonly Cell[]>;

/** The UTF-8 of a text, in pieces; null for all that is no text. */
export type TextCell = readonly Bytes[] | null;

/** Bytes of an answer that has no rows, or of all but the rows of another one. */
export const MAX_HEAD = 4 * 1024 * 1024;

/** @throws BigQueryError for what is no JSON object, and for what BigQuery says went wrong */
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
  throw strange(status, typeof error === 'string' ? `: ${error.slice(0, 300)}` : '');
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function strange(status: number, reason = ''): BigQueryError {
  return new BigQueryError(status, '', `an answer of status ${status} that is none of BigQuery${reason}`);
}

/** @param status 0 where a job failed */
export function failureOf(error: JsonObject, status: number): BigQueryError {
  const [first] = listOf(error['errors']);
  const reason = textOf(first?.['reason']) ?? textOf(error['reason']) ?? textOf(error['status']) ?? '';
  return new BigQueryError(status, reason, textOf(error['message']) ?? textOf(first?.['message']) ?? 'no message');
}

/** @param piece of `BodyReader` @throws as `readAnswer` */
export function* readPage<Cell>(status: number, body: Buffer, readRow: RowReader<Cell>, piece?: number): Sliced<Page<Cell>> {
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
      if (bytes > MAX_HEAD) throw strange(status);
      head.set(key, parseJson(value.toString()));
    });
    reader.end();
    return { ...headOf(Object.fromEntries(head)), rows };
  } catch (error) {
    throw error instanceof SyntaxError ? strange(status) : error;
  }
}

function headOf(json: JsonObject): PageHead {
  const schema = json['schema'];
  const fields = isJsonObject(schema) ? fieldsOf(schema['fields']) : null;
  return {
    job: jobOf(json['jobReference']),
    isComplete: json['jobComplete'] !== false,
    fields: fields === null || fields.length === 0 ? null : fields,
    next: textOf(json['pageToken']),
    processedBytes: numberOf(json['totalBytesProcessed']),
    billedBytes: numberOf(json['totalBytesBilled']),
    affectedRows: numberOf(json['numDmlAffectedRows']),
  };
}

/**
 * The cells as they came.
 * @param mostBytes of the values of all rows that are read with the same reader; beyond them it throws `SvcError`
 */
export function valueCells(mostBytes: number): RowReader<Json> {
  let bytes = 0;
  return function* (reader) {
    const json = yield* jsonOf(reader, 0);
    const cells = isJsonObject(json) ? listOf(json['f']).map((cell) => cell['v'] ?? null) : [];
    for (const cell of cells) {
      bytes += yield* sizeOf(cell);
      if (bytes > mostBytes) throw resultTooLarge(mostBytes);
    }
    return cells;
  };
}

/** Structures in structures, with the objects and lists that they are written as: BigQuery has fifteen. */
const DEEPEST = 100;

/** A value; a large one is put together of its parts. @throws SyntaxError */
function* jsonOf(reader: BodyReader, depth: number): Sliced<Json> {
  if (depth > DEEPEST) throw new SyntaxError('values are nested too deeply');
  const bytes = yield* reader.value();
  const within = reader.within(bytes);
  if (within === null) return parseJson(bytes.toString());
  if (within.isText) {
    const decoder = new StringDecoder();
    let text = '';
    for (const piece of yield* within.text()) {
      text += decoder.write(Buffer.from(piece, 'latin1'));
      yield;
    }
    return text + decoder.end();
  }
  if (within.isList) {
    const items: Json[] = [];
    yield* within.list(function* () {
      items.push(yield* jsonOf(within, depth + 1));
      yield;
    });
    return items;
  }
  if (!within.isObject) return parseJson(bytes.toString());
  const members: [string, Json][] = [];
  yield* within.object(function* (key) {
    members.push([key, yield* jsonOf(within, depth + 1)]);
    yield;
  });
  return Object.fromEntries(members);
}

/** Bytes that a value takes, more or less. */
function* sizeOf(json: Json): Sliced<number> {
  if (typeof json === 'string') return Buffer.byteLength(json) + VALUE_OVERHEAD;
  let bytes = VALUE_OVERHEAD;
  const parts = isJsonArray(json) ? json : isJsonObject(json) ? Object.values(json) : [];
  for (const part of parts) bytes += yield* sizeOf(part ?? null);
  if (parts.length > 0) yield;
  return bytes;
}

/** The texts of the cells, which are not decoded. */
export function* textCells(reader: BodyReader): Sliced<readonly TextCell[]> {
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

export function jobOf(json: Json | undefined): JobName | null {
  if (!isJsonObject(json)) return null;
  const [projectId, jobId] = [textOf(json['projectId']), textOf(json['jobId'])];
  return projectId === null || jobId === null ? null : { projectId, jobId, location: textOf(json['location']) ?? undefined };
}

function fieldsOf(json: Json | undefined): readonly ResultField[] {
  return listOf(json).map((field) => ({
    name: textOf(field['name']) ?? '',
    type: textOf(field['type']) ?? 'STRING',
    repeated: field['mode'] === 'REPEATED',
    fields: fieldsOf(field['fields']),
  }));
}

export function listOf(json: Json | undefined): readonly JsonObject[] {
  return isJsonArray(json) ? json.filter(isJsonObject) : [];
}

export function textOf(json: Json | undefined): string | null {
  return typeof json === 'string' && json !== '' ? json : null;
}

/** Counts come as texts. */
export function numberOf(json: Json | undefined): number | null {
  if (typeof json !== 'string' && !isJsonNumber(json)) return null;
  const number = Number(typeof json === 'string' ? json : String(json));
  return Number.isFinite(number) ? number : null;
}

/** The text of a cell for people: structures and arrays as JSON, moments as dates and times. Null is SQL NULL. */
export function* cellText(field: ResultField, cell: Json): Sliced<string | null> {
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

function* jsonText(field: ResultField, cell: Json): Sliced<string> {
  if (cell === null) return 'null';
  const parts: string[] = [];
  if (field.repeated) {
    const one = { ...field, repeated: false };
    for (const item of isJsonArray(cell) ? cell : []) parts.push(yield* jsonText(one, isJsonObject(item) ? (item['v'] ?? null) : item));
    yield;
    return `[${parts.join(',')}]`;
  }
  if (!isJsonObject(cell)) return JSON.stringify(plainText(field, cell));
  const cells = listOf(cell['f']);
  for (const [i, inner] of field.fields.entries()) {
    parts.push(`${JSON.stringify(inner.name)}:${yield* jsonText(inner, cells[i]?.['v'] ?? null)}`);
  }
  yield;
  return `{${parts.join(',')}}`;
}

/** Of microseconds since 1970. */
function momentText(micros: string): string {
  if (!/^-?\d{1,18}$/.test(micros)) return micros;
  const all = BigInt(micros);
  const part = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((all - part) / 1000n)).toISOString().slice(0, 19);
  return part === 0n ? `${seconds}Z` : `${seconds}.${String(part).padStart(6, '0')}Z`;
}
