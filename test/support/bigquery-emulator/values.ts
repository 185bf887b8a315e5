/** Converts values between the engine, JSON fixtures, parameters and cells of the REST API. */
import type { Tree } from './engine.ts';
import { placeOfText, textOfPlace } from './geography.ts';
import { type Type, typeName } from './types.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A parameter value in the REST API. */
export interface ParameterValue {
  readonly value?: string | null;
  readonly arrayValues?: readonly ParameterValue[];
  readonly structValues?: Readonly<Record<string, ParameterValue>>;
}

/** A cell of a result row. */
export type Cell = { readonly v: string | null | readonly Cell[] | { readonly f: readonly Cell[] } };

const NULL: Tree = {};

function wrong(type: Type, text: string): never {
  throw new Error(`Invalid value for type ${typeName(type)}: '${text}'`);
}

/** Parses a scalar. @throws Error if the text is not valid for the type */
function scalar(type: Type, text: string): Tree {
  switch (type.kind) {
    case 'INT64': {
      if (!/^[+-]?\d{1,19}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) wrong(type, text);
      return { int64Value: BigInt(text).toString() };
    }
    case 'FLOAT64': {
      const special = /^([+-]?)(nan|inf|infinity)$/i.exec(text);
      if (special !== null) {
        return { doubleValue: special[2]?.toLowerCase() === 'nan' ? Number.NaN : special[1] === '-' ? -Infinity : Infinity };
      }
      if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) wrong(type, text);
      return { doubleValue: Number(text) };
    }
    case 'NUMERIC':
      return { numericValue: decimal(type, text, 9, 38) };
    case 'BIGNUMERIC':
      return { bignumericValue: decimal(type, text, 38, 77) };
    case 'BOOL': {
      const lower = text.toLowerCase();
      if (lower !== 'true' && lower !== 'false') wrong(type, text);
      return { boolValue: lower === 'true' };
    }
    case 'STRING':
      return { stringValue: text };
    case 'BYTES': {
      if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) wrong(type, text);
      return { bytesValue: Buffer.from(text, 'base64') };
    }
    case 'DATE': {
      const { days } = date(type, text);
      return { dateValue: days };
    }
    case 'DATETIME': {
      const match = /^(\d{4}-\d{1,2}-\d{1,2})(?:[T ](.*))?$/i.exec(text);
      if (match === null) wrong(type, text);
      const { year, month, day } = date(type, match[1] ?? '');
      const { seconds, nanos } = clock(type, match[2] ?? '0:0:0');
      const bits = (BigInt(year) << 26n) | (BigInt(month) << 22n) | (BigInt(day) << 17n) | seconds;
      return { datetimeValue: { bitFieldDatetimeSeconds: bits.toString(), nanos } };
    }
    case 'TIME': {
      const { seconds, nanos } = clock(type, text);
      return { timeValue: ((seconds << 30n) | BigInt(nanos)).toString() };
    }
    case 'TIMESTAMP': {
      const micros = timestampMicros(type, text);
      const seconds = (micros - (((micros % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n;
      return { timestampValue: { seconds: seconds.toString(), nanos: Number(micros - seconds * 1_000_000n) * 1000 } };
    }
    case 'JSON':
      try {
        JSON.parse(text);
      } catch {
        wrong(type, text);
      }
      return { jsonValue: text };
    case 'GEOGRAPHY':
      return { stringValue: placeOfText(text) };
    default:
      throw new Error(`values of type ${typeName(type)} cannot be given to the emulator; use SQL`);
  }
}

function decimal(type: Type, text: string, scale: number, precision: number): Uint8Array {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text);
  if (match === null || `${match[2]}${match[3] ?? ''}` === '') wrong(type, text);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const shift = scale - fraction.length + Number(exponent);
  if (shift > 200) wrong(type, text);
  let digits = BigInt(`${whole}${fraction}`);
  if (shift >= 0) {
    digits *= 10n ** BigInt(shift);
  } else {
    const divisor = 10n ** BigInt(-shift);
    digits = (digits + divisor / 2n) / divisor;
  }
  if (digits.toString().length > precision) wrong(type, text);
  return littleEndian(sign === '-' ? -digits : digits);
}

/** The shortest two's complement. */
function littleEndian(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const byte = Number(BigInt.asUintN(8, rest));
    bytes.push(byte);
    rest >>= 8n;
    if ((rest === 0n && byte < 128) || (rest === -1n && byte >= 128)) return Uint8Array.from(bytes);
  }
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let index = bytes.length - 1; index >= 0; index--) value = (value << 8n) | BigInt(bytes[index] ?? 0);
  return BigInt.asIntN(bytes.length * 8, value);
}

const DAY = 86_400_000;

function date(type: Type, text: string): { readonly year: number; readonly month: number; readonly day: number; readonly days: number } {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (match === null) wrong(type, text);
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  if (year < 1 || at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) wrong(type, text);
  return { year, month, day, days: at.getTime() / DAY };
}

function clock(type: Type, text: string): { readonly seconds: bigint; readonly nanos: number; readonly ofDay: number } {
  const match = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) wrong(type, text);
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number);
  if (hour > 23 || minute > 59 || second > 59) wrong(type, text);
  return {
    seconds: (BigInt(hour) << 12n) | (BigInt(minute) << 6n) | BigInt(second),
    nanos: Number((match[4] ?? '').padEnd(9, '0')),
    ofDay: hour * 3600 + minute * 60 + second,
  };
}

function timestampMicros(type: Type, text: string): bigint {
  // Older clients send integers and decimals of seconds.
  if (/^[+-]?\d+(\.\d{1,6})?$/.test(text)) {
    const [whole = '0', fraction = ''] = text.split('.');
    const micros = BigInt(fraction.padEnd(6, '0'));
    return BigInt(whole) * 1_000_000n + (text.startsWith('-') ? -micros : micros);
  }
  const match = /^(\d{4}-\d{1,2}-\d{1,2})(?:[T ](\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{1,6})?))?\s*(Z|UTC|[+-]\d{1,2}(?::?\d{2})?)?$/i.exec(text);
  if (match === null) wrong(type, text);
  const { days } = date(type, match[1] ?? '');
  const { ofDay, nanos } = clock(type, match[2] ?? '0:0:0');
  const zone = match[3] ?? 'Z';
  let offset = 0;
  if (/^[+-]/.test(zone)) {
    const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone) ?? [];
    offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60);
    if (Number(hours) > 14 || Number(minutes) > 59) wrong(type, text);
  }
  return BigInt(days * 86_400 + ofDay - offset) * 1_000_000n + BigInt(nanos / 1000);
}

/** Decodes a parameter value. @throws Error if it does not match the type */
export function parameterValue(type: Type, given: ParameterValue): Tree {
  switch (type.kind) {
    case 'ARRAY':
      // BigQuery has no NULL array parameters: a missing value is an empty array.
      return { arrayValue: { element: (given.arrayValues ?? []).map((one) => parameterValue(type.element, one)) } };
    case 'STRUCT':
      if (given.structValues === undefined || given.structValues === null) return NULL;
      return { structValue: { field: type.fields.map(({ name, type: of }) => parameterValue(of, given.structValues?.[name] ?? {})) } };
    default:
      return given.value === undefined || given.value === null ? NULL : scalar(type, String(given.value));
  }
}

/** Decodes a fixture value. @throws Error if it does not match the type */
export function jsonValue(type: Type, given: Json | undefined): Tree {
  if (given === undefined || given === null) return stored(type, NULL);
  switch (type.kind) {
    case 'ARRAY':
      if (!Array.isArray(given)) wrong(type, JSON.stringify(given));
      return { arrayValue: { element: (given as readonly Json[]).map((one) => jsonValue(type.element, one)) } };
    case 'STRUCT': {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) wrong(type, JSON.stringify(given));
      const fields = given as { readonly [key: string]: Json };
      return { structValue: { field: type.fields.map(({ name, type: of }) => jsonValue(of, fields[name])) } };
    }
    case 'JSON':
      return scalar(type, JSON.stringify(given));
    default:
      if (typeof given === 'object') wrong(type, JSON.stringify(given));
      return scalar(type, String(given));
  }
}

/** A value as stored in a table, where NULL arrays become empty. */
export function stored(type: Type, value: Tree): Tree {
  if (type.kind === 'ARRAY') {
    const elements = ((value['arrayValue'] as Tree | undefined)?.['element'] ?? []) as readonly Tree[];
    return { arrayValue: { element: elements.map((element) => stored(type.element, element)) } };
  }
  if (type.kind !== 'STRUCT' || isNull(value)) return value;
  const fields = ((value['structValue'] as Tree)['field'] ?? []) as readonly Tree[];
  return { structValue: { field: type.fields.map((field, index) => stored(field.type, fields[index] ?? NULL)) } };
}

/** The first field with a NULL array element, which neither results nor tables allow. */
export function fieldWithNullElement(name: string, type: Type, value: Tree): string | undefined {
  if (type.kind === 'ARRAY') {
    for (const element of ((value['arrayValue'] as Tree | undefined)?.['element'] ?? []) as readonly Tree[]) {
      const found = isNull(element) ? name : fieldWithNullElement(name, type.element, element);
      if (found !== undefined) return found;
    }
  } else if (type.kind === 'STRUCT') {
    const fields = ((value['structValue'] as Tree | undefined)?.['field'] ?? []) as readonly Tree[];
    for (const [index, field] of type.fields.entries()) {
      const found = fieldWithNullElement(field.name, field.type, fields[index] ?? NULL);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Format of timestamps in results: microseconds as an integer, or seconds as a decimal. */
export interface CellFormat {
  readonly useInt64Timestamp: boolean;
}

/** Encodes a value for a result row. */
export function cellOf(type: Type, value: Tree, format: CellFormat): Cell {
  if (type.kind === 'ARRAY') {
    const elements = ((value['arrayValue'] as Tree | undefined)?.['element'] ?? []) as readonly Tree[];
    return { v: elements.map((element) => cellOf(type.element, element, format)) };
  }
  if (isNull(value)) return { v: null };
  if (type.kind === 'STRUCT') {
    const fields = ((value['structValue'] as Tree)['field'] ?? []) as readonly Tree[];
    return { v: { f: type.fields.map((field, index) => cellOf(field.type, fields[index] ?? NULL, format)) } };
  }
  if (type.kind === 'RANGE') {
    const range = value['rangeValue'] as Tree;
    const [start, end] = ['start', 'end'].map((side) => {
      const cell = cellOf(type.element, (range[side] ?? NULL) as Tree, format).v;
      return cell === null ? 'UNBOUNDED' : String(cell);
    });
    return { v: `[${start}, ${end})` };
  }
  return { v: textOf(type, value, format) };
}

export function isNull(value: Tree): boolean {
  return value['value'] === undefined || value['value'] === null ? Object.keys(value).every((key) => key === 'value') : false;
}

function textOf(type: Type, value: Tree, { useInt64Timestamp }: CellFormat): string {
  switch (type.kind) {
    case 'INT64':
      return value['int64Value'] as string;
    case 'FLOAT64':
      return doubleText(value['doubleValue'] as number);
    case 'NUMERIC':
      return decimalText(fromLittleEndian(value['numericValue'] as Uint8Array), 9);
    case 'BIGNUMERIC':
      return decimalText(fromLittleEndian(value['bignumericValue'] as Uint8Array), 38);
    case 'BOOL':
      return String(value['boolValue']);
    case 'STRING':
      return value['stringValue'] as string;
    case 'BYTES':
      return Buffer.from(value['bytesValue'] as Uint8Array).toString('base64');
    case 'DATE':
      return dateText(value['dateValue'] as number);
    case 'DATETIME': {
      const { bitFieldDatetimeSeconds, nanos } = value['datetimeValue'] as Tree;
      const bits = BigInt((bitFieldDatetimeSeconds ?? '0') as string);
      const [year, month, day] = [bits >> 26n, (bits >> 22n) & 15n, (bits >> 17n) & 31n];
      return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${clockText(bits & 0x1ffffn, Number(nanos ?? 0))}`;
    }
    case 'TIME': {
      const bits = BigInt(value['timeValue'] as string);
      return clockText(bits >> 30n, Number(bits & 0x3fffffffn));
    }
    case 'TIMESTAMP': {
      const { seconds, nanos } = value['timestampValue'] as Tree;
      const micros = BigInt((seconds ?? '0') as string) * 1_000_000n + BigInt(Math.floor(Number(nanos ?? 0) / 1000));
      return useInt64Timestamp ? micros.toString() : secondsText(micros);
    }
    case 'JSON':
      return value['jsonValue'] as string;
    case 'GEOGRAPHY':
      return textOfPlace(value['stringValue'] as string);
    case 'INTERVAL':
      return intervalText(Buffer.from(value['intervalValue'] as Uint8Array));
    default:
      throw new Error(`the emulator cannot show values of type ${typeName(type)}`);
  }
}

function padded(value: bigint | number, width: number): string {
  return value.toString().padStart(width, '0');
}

function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return Number.isInteger(value) && Math.abs(value) < 1e15
    ? `${Object.is(value, -0) ? '-0' : value}.0`
    : String(value).replace('e+', 'E').replace('e', 'E');
}

function decimalText(value: bigint, scale: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`;
}

function dateText(days: number): string {
  return new Date(days * DAY).toISOString().slice(0, 10);
}

function clockText(bits: bigint, nanos: number): string {
  const text = `${padded(bits >> 12n, 2)}:${padded((bits >> 6n) & 63n, 2)}:${padded(bits & 63n, 2)}`;
  return nanos === 0 ? text : `${text}.${padded(Math.floor(nanos / 1000), 6)}`;
}

/** Format `1.704164645123456E9`. */
function secondsText(micros: bigint): string {
  const sign = micros < 0n ? '-' : '';
  const digits = (micros < 0n ? -micros : micros).toString();
  if (/^0+$/.test(digits)) return '0.0';
  const exponent = digits.length - 7;
  const fraction = digits.slice(1).replace(/0+$/, '');
  return `${sign}${digits[0]}.${fraction === '' ? '0' : fraction}${exponent === 0 ? '' : `E${exponent}`}`;
}

function intervalText(bytes: Buffer): string {
  const micros = bytes.readBigInt64LE(0);
  const days = bytes.readInt32LE(8);
  // The last four bytes hold the months above 10 bits of nanoseconds and their sign.
  const last = bytes.readUInt32LE(12);
  const months = (last & 0x80000000) === 0 ? last >>> 13 : -((last & 0x7fffffff) >>> 13);
  const part = (value: bigint): string => (value < 0n ? '-' : '');
  const size = micros < 0n ? -micros : micros;
  const seconds = size / 1_000_000n;
  const fraction = size % 1_000_000n;
  const shown = `${part(micros)}${seconds / 3600n}:${(seconds / 60n) % 60n}:${seconds % 60n}`;
  const total = Math.abs(months);
  const tail = fraction === 0n ? '' : `.${padded(fraction, 6).replace(/0+$/, '')}`;
  return `${months < 0 ? '-' : ''}${Math.floor(total / 12)}-${total % 12} ${days} ${shown}${tail}`;
}

/** Bytes that BigQuery counts for a value. */
export function sizeOf(type: Type, value: Tree): number {
  if (isNull(value)) return 0;
  switch (type.kind) {
    case 'ARRAY':
      return (((value['arrayValue'] as Tree)['element'] ?? []) as readonly Tree[]).reduce((sum, one) => sum + sizeOf(type.element, one), 0);
    case 'STRUCT': {
      const fields = ((value['structValue'] as Tree)['field'] ?? []) as readonly Tree[];
      return type.fields.reduce((sum, field, index) => sum + sizeOf(field.type, fields[index] ?? NULL), 0);
    }
    case 'RANGE':
    case 'INTERVAL':
    case 'NUMERIC':
      return 16;
    case 'BIGNUMERIC':
      return 32;
    case 'BOOL':
      return 1;
    case 'STRING':
      return 2 + Buffer.byteLength(value['stringValue'] as string);
    case 'BYTES':
      return 2 + (value['bytesValue'] as Uint8Array).length;
    case 'JSON':
      return Buffer.byteLength(value['jsonValue'] as string);
    case 'GEOGRAPHY':
      return 16;
    default:
      return 8;
  }
}
