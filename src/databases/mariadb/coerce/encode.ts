/** Encodes parameters. MariaDB reads a text that does not fit its type as another value, with a warning at most. */
import { isIP } from 'node:net';
import type { CatalogType } from '../../../catalog/catalog.ts';
import { encoderOf } from '../../shared/encoder.ts';
import { booleanOfText, decimalText, checkedIntegerText, isNumberText, refuseValue } from '../../shared/value-text.ts';
import { familyOf } from '../families.ts';
import { momentText } from '../../../util/moment.ts';

export const encoder = encoderOf({ isJson: (type) => familyOf(type).kind === 'json', scalar: scalarText });

/** Maximum digits before and after the decimal point of the type to which parameters are cast. */
const MAX_DIGITS = [35, 30] as const;

function scalarText(type: CatalogType, text: string): string {
  const family = familyOf(type);
  switch (family.kind) {
    case 'integer':
      return type.name === 'year' ? yearText(type, text) : checkedIntegerText(type, text, family.least, family.greatest);
    case 'bits':
      return checkedIntegerText(type, text, 0n, 2n ** 64n - 1n);
    case 'decimal':
      return decimalText(type, text, MAX_DIGITS);
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
      return text;
    default:
      // The server would take the number for the index of a member.
      if (type.members !== undefined && /^\s*[+-]?\d/.test(text) && !type.members.includes(text)) refuseValue(type, text);
      return text;
  }
}

/** Refuses two-digit years, which the server would complete to a year of this or the last century. */
function yearText(type: CatalogType, text: string): string {
  const year = checkedIntegerText(type, text, 0n, 2155n);
  return year === '0' || Number(year) > 1900 ? year.padStart(4, '0') : refuseValue(type, text);
}
