/** Encodes parameters. BigQuery refuses a text that does not fit its type only when it meets a row. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { encoderOf } from '../../shared/encoder.ts';
import { booleanOfText, decimalText, checkedIntegerText, isNumberText, refuseValue } from '../../shared/value-text.ts';
import { momentText } from '../../../util/moment.ts';
import { familyOf } from '../families.ts';

export const encoder = encoderOf({ isJson: (type) => familyOf(type) === 'json', scalar: scalarText });

/** Refuses a pattern that ends with an escape character. */
export function refuseOpenPattern(text: string): void {
  const [slashes = ''] = /\\*$/.exec(text) ?? [];
  if (slashes.length % 2 === 1) throw new SvcError('data-exception', 'a pattern of _like must not end with a single backslash');
}

function scalarText(type: CatalogType, text: string): string {
  const family = familyOf(type);
  switch (family) {
    case 'integer':
      return checkedIntegerText(type, text, -(2n ** 63n), 2n ** 63n - 1n);
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

/** Refuses the year 0, which BigQuery does not have. */
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

/** `[2020-01-01, UNBOUNDED)`: the lower bound is inclusive, the upper bound exclusive. */
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
