/**
 * From checked JSON to the text of a parameter, and of a list to a JSON array of texts. What has no value of the type is refused here:
 * the database would do so only when it meets a row. Nothing passes through an IEEE double.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Operand } from '../../../ir/value.ts';
import { listItems } from '../../shared/list-items.ts';
import { booleanOfText, decimalText, integerText, isNumberText, jsonText, refuseValue } from '../../shared/value-text.ts';
import { isJsonNumber, type Json, numberText, printJson } from '../../../util/json.ts';
import { momentText } from '../../../util/moment.ts';
import { familyOf } from '../families.ts';

export type ValueEncoding = (json: Json) => string | null;

/** Null is SQL NULL. @returns throws SvcError data-exception */
export function encoder({ type, list, value }: Operand): ValueEncoding {
  const scalar = (json: Json): string => encodeScalar(type, json, value.kind === 'session');
  // A list in a session variable has the type of an array.
  if (!list && !type.array) return (json) => (json === null ? null : scalar(json));
  return (json) =>
    json === null
      ? null
      : JSON.stringify((listItems(json) ?? refuseValue(type, json)).map((item) => (item === null ? null : scalar(item))));
}

/** A pattern may not end with the character that takes the meaning from the next one. */
export function refuseOpenPattern(text: string): void {
  const [slashes = ''] = /\\*$/.exec(text) ?? [];
  if (slashes.length % 2 === 1) throw new SvcError('data-exception', 'a pattern of _like must not end with a single backslash');
}

function encodeScalar(type: CatalogType, json: Json, isSession: boolean): string {
  const family = familyOf(type);
  if (family === 'json') return isSession && typeof json === 'string' ? jsonText(type, json) : printJson(json);
  const text = typeof json === 'string' ? json : isJsonNumber(json) ? numberText(json) : printJson(json);
  switch (family) {
    case 'integer':
      return integerText(type, text, -(2n ** 63n), 2n ** 63n - 1n);
    case 'decimal':
      return decimalText(type, text, DIGITS[type.name] ?? [29, 9]);
    case 'float':
      return floatText(type, text);
    case 'boolean':
      return String(booleanOfText(type, text));
    case 'date':
    case 'datetime':
    case 'timestamp':
      return dated(type, text, momentText(family, text));
    case 'time':
      return timeText(type, text);
    case 'bytes':
      return /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(text) ? text : refuseValue(type, text);
    case 'interval':
      return /^\s*[+-]?\d{1,5}-\d{1,2} [+-]?\d{1,7} [+-]?\d{1,9}:\d{1,2}:\d{1,2}(\.\d{1,6})?\s*$/.test(text)
        ? text.trim()
        : refuseValue(type, text);
    case 'range':
      return rangeText(type, text);
    default:
      return text;
  }
}

/** There is no year 0. */
function dated(type: CatalogType, text: string, moment: string | null): string {
  return moment === null || moment.startsWith('0000') ? refuseValue(type, text) : moment;
}

function timeText(type: CatalogType, text: string): string {
  const found = /^\s*((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,6})?)?\s*$/.exec(text);
  return found === null ? refuseValue(type, text) : `${found[1] ?? ''}${found[2] ?? ':00'}`;
}

const BOUNDS: Readonly<Record<string, 'date' | 'datetime' | 'timestamp'>> = {
  'RANGE<DATE>': 'date',
  'RANGE<DATETIME>': 'datetime',
  'RANGE<TIMESTAMP>': 'timestamp',
};

/** `[2020-01-01, UNBOUNDED)`: the first is in it, the last is not. */
function rangeText(type: CatalogType, text: string): string {
  const bounds = /^\s*\[([^[,)]{1,60}),([^[,)]{1,60})\)\s*$/.exec(text)?.slice(1) ?? refuseValue(type, text);
  const written = bounds.map((bound) =>
    /^\s*(?:unbounded|null)\s*$/i.test(bound)
      ? 'UNBOUNDED'
      : (momentText(BOUNDS[type.name] ?? 'timestamp', bound) ?? refuseValue(type, text)),
  );
  return `[${written.join(', ')})`;
}

const DIGITS: Readonly<Record<string, readonly [whole: number, fraction: number]>> = { NUMERIC: [29, 9], BIGNUMERIC: [38, 38] };

function floatText(type: CatalogType, text: string): string {
  const trimmed = text.trim();
  const special = /^([+-]?)(?:(inf(?:inity)?)|(nan))$/i.exec(trimmed);
  if (special !== null) return special[3] === undefined ? `${special[1] === '-' ? '-' : ''}Infinity` : 'NaN';
  return isNumberText(trimmed) && Number.isFinite(Number(trimmed)) ? trimmed : refuseValue(type, text);
}
