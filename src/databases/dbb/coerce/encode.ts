/**
 * From checked JSON to the text of a parameter. MariaDB reads a text that does not fit a type as something else and warns at most,
 * so that texts are read here; nothing passes through an IEEE double.
 */
import { isIP } from 'node:net';
import type { CatalogType } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Operand } from '../../../ir/value.ts';
import { listItems } from '../../../sql/list-items.ts';
import { parseDecimal, plainText } from '../../../util/decimal.ts';
import { isJsonNumber, type Json, numberText, parseJson, printJson } from '../../../util/json.ts';
import { familyOf } from '../families.ts';
import { momentText } from '../../../util/moment.ts';

export type ValueEncoding = (json: Json) => string | null;

/** The encoding of an operand's values; a list becomes a JSON array of texts. Null is SQL NULL. @returns throws SvcError data-exception */
export function encoder({ type, list, value }: Operand): ValueEncoding {
  const scalar = (json: Json): string => encodeScalar(type, json, value.kind === 'session');
  // A list in a session variable has the type of an array.
  if (!list && !type.array) return (json) => (json === null ? null : scalar(json));
  return (json) =>
    json === null ? null : JSON.stringify((listItems(json) ?? refuse(type, json)).map((item) => (item === null ? null : scalar(item))));
}

function encodeScalar(type: CatalogType, json: Json, isSession: boolean): string {
  const family = familyOf(type);
  if (family.kind === 'json') return isSession && typeof json === 'string' ? jsonText(json, type) : printJson(json);
  const text = typeof json === 'string' ? json : isJsonNumber(json) ? numberText(json) : printJson(json);
  switch (family.kind) {
    case 'integer':
      return type.name === 'year' ? yearText(type, text) : integerText(type, text, family.least, family.greatest);
    case 'bits':
      return integerText(type, text, 0n, 2n ** 64n - 1n);
    case 'decimal':
      return decimalText(type, text);
    case 'float':
    case 'double':
      return isNumber(text) && Number.isFinite(Number(text)) ? text.trim() : refuse(type, text);
    case 'boolean':
      return booleanText(type, text);
    case 'date':
    case 'time':
    case 'datetime':
    case 'timestamp':
      return momentText(family.kind, text) ?? refuse(type, text);
    case 'uuid':
      return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text) ? text : refuse(type, text);
    case 'inet':
      return isIP(text) !== 0 && (type.name === 'inet6' || isIP(text) === 4) ? text : refuse(type, text);
    case 'bytes':
      return /^(?:[\w+/-]{4})*(?:[\w+/-]{2}==|[\w+/-]{3}=)?$/.test(text) && !/[_-]/.test(text) ? text : refuse(type, text);
    case 'geometry':
      return typeof json === 'string' ? json : printJson(json);
    default:
      // The server would take the number of a member for the member.
      if (type.members !== undefined && /^\s*[+-]?\d/.test(text) && !type.members.includes(text)) throw refused(type, text);
      return text;
  }
}

function refused(type: CatalogType, json: Json): SvcError {
  const shown = typeof json === 'string' ? json : printJson(json);
  return new SvcError('data-exception', `invalid value for type ${type.name}: "${shown.slice(0, 200)}"`);
}

function refuse(type: CatalogType, json: Json): never {
  throw refused(type, json);
}

function jsonText(text: string, type: CatalogType): string {
  try {
    parseJson(text);
    return text;
  } catch {
    throw refused(type, text);
  }
}

function isNumber(text: string): boolean {
  return /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?\s*$/i.test(text);
}

function integerText(type: CatalogType, text: string, least: bigint, greatest: bigint): string {
  const trimmed = text.trim();
  if (!/^[+-]?\d{1,40}$/.test(trimmed)) throw refused(type, text);
  const value = BigInt(trimmed.startsWith('+') ? trimmed.slice(1) : trimmed);
  if (value < least || value > greatest) {
    throw new SvcError('data-exception', `value "${trimmed}" is out of range for type ${type.name}`);
  }
  return String(value);
}

/** As many digits as the type of the parameter has. */
function decimalText(type: CatalogType, text: string): string {
  if (!isNumber(text)) throw refused(type, text);
  const plain = plainText(parseDecimal(text.trim().replace(/^\+/, '')));
  const [whole = '', fraction = ''] = (plain ?? '').replace('-', '').split('.');
  if (plain === null || whole.length > 35 || fraction.length > 30) {
    throw new SvcError('data-exception', `value "${text.trim().slice(0, 200)}" has more than 35 digits before or 30 behind the point`);
  }
  return plain;
}

/** The server would take one of two digits for one of this century or the last one. */
function yearText(type: CatalogType, text: string): string {
  const year = integerText(type, text, 0n, 2155n);
  return year === '0' || Number(year) > 1900 ? year.padStart(4, '0') : refuse(type, text);
}

function booleanText(type: CatalogType, text: string): string {
  if (/^\s*(?:t|true|y|yes|on|1)\s*$/i.test(text)) return '1';
  if (/^\s*(?:f|false|n|no|off|0)\s*$/i.test(text)) return '0';
  throw refused(type, text);
}
