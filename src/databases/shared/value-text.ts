/** Checks of texts that clients send as values, for databases that would read them as other values or refuse them late. */
import type { CatalogType } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { parseDecimal, plainText } from '../../util/decimal.ts';
import { type Json, parseJson, printJson } from '../../util/json.ts';

/** @throws SvcError data-exception */
export function refuseValue(type: CatalogType, json: Json): never {
  const shown = typeof json === 'string' ? json : printJson(json);
  throw new SvcError('data-exception', `invalid value for type ${type.name}: "${shown.slice(0, 200)}"`);
}

/** Returns a text that is valid JSON. @throws SvcError data-exception */
export function jsonText(type: CatalogType, text: string): string {
  try {
    parseJson(text);
  } catch {
    refuseValue(type, text);
  }
  return text;
}

export function isNumberText(text: string): boolean {
  return /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?\s*$/i.test(text);
}

/** @throws SvcError data-exception */
export function checkedIntegerText(type: CatalogType, text: string, least: bigint, greatest: bigint): string {
  const trimmed = text.trim();
  if (!/^[+-]?\d{1,40}$/.test(trimmed)) refuseValue(type, text);
  const value = BigInt(trimmed.startsWith('+') ? trimmed.slice(1) : trimmed);
  if (value < least || value > greatest) {
    throw new SvcError('data-exception', `value "${trimmed}" is out of range for type ${type.name}`);
  }
  return String(value);
}

/**
 * Returns a decimal without an exponent.
 * @param digits maximum numbers of digits before and after the decimal point
 * @throws SvcError data-exception
 */
export function decimalText(type: CatalogType, text: string, [before, behind]: readonly [before: number, behind: number]): string {
  if (!isNumberText(text)) refuseValue(type, text);
  const plain = plainText(parseDecimal(text.trim().replace(/^\+/, '')));
  const [whole = '', fraction = ''] = (plain ?? '').replace('-', '').split('.');
  if (plain === null || whole.replace(/^0+/, '').length > before || fraction.length > behind) {
    const shown = text.trim().slice(0, 200);
    throw new SvcError('data-exception', `value "${shown}" has more than ${before} digits before or ${behind} behind the point`);
  }
  return plain;
}

/** Reads `yes`, `on`, `1` and the like. @throws SvcError data-exception */
export function booleanOfText(type: CatalogType, text: string): boolean {
  if (/^\s*(?:t|true|y|yes|on|1)\s*$/i.test(text)) return true;
  if (/^\s*(?:f|false|n|no|off|0)\s*$/i.test(text)) return false;
  return refuseValue(type, text);
}
