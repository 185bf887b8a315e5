/**
 * From checked JSON to the text of a parameter, and of a list to a JSON array of texts. What has no value of the type is refused here:
 * the database would do so only when it meets a row. Nothing passes through an IEEE double.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Operand } from '../../../ir/value.ts';
import { listItems } from '../../../sql/list-items.ts';
import { parseDecimal, plainText } from '../../../util/decimal.ts';
import { isJsonNumber, type Json, numberText, parseJson, printJson } from '../../../util/json.ts';
import { momentText } from '../../../util/moment.ts';
import { familyOf } from '../families.ts';

export type ValueEncoding = (json: Json) => string | null;

/** Null is SQL NULL. @returns throws SvcError data-exception */
export function encoder({ type, list, value }: Operand): ValueEncoding {
  const scalar = (json: Json): string => encodeScalar(type, json, value.kind === 'session');
  // A list in a session variable has the type of an array.
  if (!list && !type.array) return (json) => (json === null ? null : scalar(json));
  return (json) =>
    json === null ? null : JSON.stringify((listItems(json) ?? refuse(type, json)).map((item) => (item === null ? null : scalar(item))));
}

/** A pattern may not end with the character that takes the meaning from the next one. */
export function refuseOpenPattern(text: string): void {
  const [slashes = ''] = /\\*$/.exec(text) ?? [];
  if (slashes.length % 2 === 1) throw new SvcError('data-exception', 'a pattern of _like must not end with a single backslash');
}

function encodeScalar(type: CatalogType, json: Json, isSession: boolean): string {
  const family = familyOf(type);
  if (family === 'json') return isSession && typeof json === 'string' ? jsonText(json, type) : printJson(json);
  const text = typeof json === 'string' ? json : isJsonNumber(json) ? numberText(json) : printJson(json);
  switch (family) {
    case 'integer':
      return integerText(type, text);
    case 'decimal':
      return decimalText(type, text);
    case 'float':
      return floatText(type, text);
    case 'boolean':
      return booleanText(type, text);
    case 'date':
    case 'datetime':
    case 'timestamp':
      return dated(type, text, momentText(family, text));
    case 'time':
      return timeText(type, text);
    case 'bytes':
      return /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(text) ? text : refuse(type, text);
    case 'interval':
      return /^\s*[+-]?\d{1,5}-\d{1,2} [+-]?\d{1,7} [+-]?\d{1,9}:\d{1,2}:\d{1,2}(\.\d{1,6})?\s*$/.test(text)
        ? text.trim()
        : refuse(type, text);
    case 'range':
      return rangeText(type, text);
    default:
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

/** There is no year 0. */
function dated(type: CatalogType, text: string, moment: string | null): string {
  return moment === null || moment.startsWith('0000') ? refuse(type, text) : moment;
}

function timeText(type: CatalogType, text: string): string {
  const found = /^\s*((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,6})?)?\s*$/.exec(text);
  return found === null ? refuse(type, text) : `${found[1] ?? ''}${found[2] ?? ':00'}`;
}

const BOUNDS: Readonly<Record<string, 'date' | 'datetime' | 'timestamp'>> = {
  'RANGE<DATE>': 'date',
  'RANGE<DATETIME>': 'datetime',
  'RANGE<TIMESTAMP>': 'timestamp',
};

/** `[2020-01-01, UNBOUNDED)`: the first is in it, the last is not. */
function rangeText(type: CatalogType, text: string): string {
  const bounds = /^\s*\[([^[,)]{1,60}),([^[,)]{1,60})\)\s*$/.exec(text)?.slice(1) ?? refuse(type, text);
  const written = bounds.map((bound) =>
    /^\s*(?:unbounded|null)\s*$/i.test(bound) ? 'UNBOUNDED' : (momentText(BOUNDS[type.name] ?? 'timestamp', bound) ?? refuse(type, text)),
  );
  return `[${written.join(', ')})`;
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

function integerText(type: CatalogType, text: string): string {
  const trimmed = text.trim();
  if (!/^[+-]?\d{1,40}$/.test(trimmed)) throw refused(type, text);
  const value = BigInt(trimmed.startsWith('+') ? trimmed.slice(1) : trimmed);
  if (value < -(2n ** 63n) || value >= 2n ** 63n) {
    throw new SvcError('data-exception', `value "${trimmed}" is out of range for type INT64`);
  }
  return String(value);
}

const DIGITS: Readonly<Record<string, readonly [whole: number, fraction: number]>> = { NUMERIC: [29, 9], BIGNUMERIC: [38, 38] };

function decimalText(type: CatalogType, text: string): string {
  if (!isNumber(text)) throw refused(type, text);
  const plain = plainText(parseDecimal(text.trim().replace(/^\+/, '')));
  const [whole = '', fraction = ''] = (plain ?? '').replace('-', '').split('.');
  const [before, behind] = DIGITS[type.name] ?? [29, 9];
  if (plain === null || whole.replace(/^0+/, '').length > before || fraction.length > behind) {
    const shown = text.trim().slice(0, 200);
    throw new SvcError('data-exception', `value "${shown}" has more than ${before} digits before or ${behind} behind the point`);
  }
  return plain;
}

function floatText(type: CatalogType, text: string): string {
  const trimmed = text.trim();
  const special = /^([+-]?)(?:(inf(?:inity)?)|(nan))$/i.exec(trimmed);
  if (special !== null) return special[3] === undefined ? `${special[1] === '-' ? '-' : ''}Infinity` : 'NaN';
  return isNumber(trimmed) && Number.isFinite(Number(trimmed)) ? trimmed : refuse(type, text);
}

function booleanText(type: CatalogType, text: string): string {
  if (/^\s*(?:t|true|y|yes|on|1)\s*$/i.test(text)) return 'true';
  if (/^\s*(?:f|false|n|no|off|0)\s*$/i.test(text)) return 'false';
  throw refused(type, text);
}
