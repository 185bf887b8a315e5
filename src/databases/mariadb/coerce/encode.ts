/**
 * From checked JSON to the text of a parameter. MariaDB reads a text that does not fit a type as something else and warns at most,
 * so that texts are read here; nothing passes through an IEEE double.
 */
import { isIP } from 'node:net';
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand } from '../../../ir/value.ts';
import { listItems } from '../../shared/list-items.ts';
import { booleanOfText, decimalText, integerText, isNumberText, jsonText, refuseValue } from '../../shared/value-text.ts';
import { isJsonNumber, type Json, numberText, printJson } from '../../../util/json.ts';
import { familyOf } from '../families.ts';
import { momentText } from '../../../util/moment.ts';

export type ValueEncoding = (json: Json) => string | null;

/** The encoding of an operand's values; a list becomes a JSON array of texts. Null is SQL NULL. @returns throws SvcError data-exception */
export function encoder({ type, list, value }: Operand): ValueEncoding {
  const scalar = (json: Json): string => encodeScalar(type, json, value.kind === 'session');
  // A list in a session variable has the type of an array.
  if (!list && !type.array) return (json) => (json === null ? null : scalar(json));
  return (json) =>
    json === null
      ? null
      : JSON.stringify((listItems(json) ?? refuseValue(type, json)).map((item) => (item === null ? null : scalar(item))));
}

/** Of the type that parameters are cast to, before and behind the point. */
const MOST_DIGITS = [35, 30] as const;

function encodeScalar(type: CatalogType, json: Json, isSession: boolean): string {
  const family = familyOf(type);
  if (family.kind === 'json') return isSession && typeof json === 'string' ? jsonText(type, json) : printJson(json);
  const text = typeof json === 'string' ? json : isJsonNumber(json) ? numberText(json) : printJson(json);
  switch (family.kind) {
    case 'integer':
      return type.name === 'year' ? yearText(type, text) : integerText(type, text, family.least, family.greatest);
    case 'bits':
      return integerText(type, text, 0n, 2n ** 64n - 1n);
    case 'decimal':
      return decimalText(type, text, MOST_DIGITS);
    case 'float':
    case 'double':
      return isNumberText(text) && Number.isFinite(Number(text)) ? text.trim() : refuseValue(type, text);
    case 'boolean':
      return booleanOfText(type, text) ? '1' : '0';
    case 'date':
    case 'time':
    case 'datetime':
    case 'timestamp':
      return momentText(family.kind, text) ?? refuseValue(type, text);
    case 'uuid':
      return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text) ? text : refuseValue(type, text);
    case 'inet':
      return isIP(text) !== 0 && (type.name === 'inet6' || isIP(text) === 4) ? text : refuseValue(type, text);
    case 'bytes':
      return /^(?:[\w+/-]{4})*(?:[\w+/-]{2}==|[\w+/-]{3}=)?$/.test(text) && !/[_-]/.test(text) ? text : refuseValue(type, text);
    case 'geometry':
      return typeof json === 'string' ? json : printJson(json);
    default:
      // The server would take the number of a member for the member.
      if (type.members !== undefined && /^\s*[+-]?\d/.test(text) && !type.members.includes(text)) refuseValue(type, text);
      return text;
  }
}

/** The server would take one of two digits for one of this century or the last one. */
function yearText(type: CatalogType, text: string): string {
  const year = integerText(type, text, 0n, 2155n);
  return year === '0' || Number(year) > 1900 ? year.padStart(4, '0') : refuseValue(type, text);
}
