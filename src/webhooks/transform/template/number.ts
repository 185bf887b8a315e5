import { type JsonNumber, numberText } from '../../../util/json.ts';

/** ±0.digits × 10^exponent, without leading and trailing zeros; no digits for zero. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

function decimal(value: number | JsonNumber): Decimal {
  const text = numberText(value).toLowerCase();
  const negative = text.startsWith('-');
  const exponentAt = text.indexOf('e');
  const mantissa = text.slice(negative ? 1 : 0, exponentAt < 0 ? text.length : exponentAt);
  const point = mantissa.indexOf('.');
  const all = mantissa.replace('.', '');
  let start = 0;
  while (all[start] === '0') start += 1;
  let end = all.length;
  while (end > start && all[end - 1] === '0') end -= 1;
  if (start === end) return { negative: false, digits: '', exponent: 0 };
  const whole = point < 0 ? all.length : point;
  const written = exponentAt < 0 ? 0 : Number(text.slice(exponentAt + 1));
  return { negative, digits: all.slice(start, end), exponent: whole - start + written };
}

/** Compares exactly, whatever the size. Returns a negative number, 0 or a positive number. */
export function compareNumbers(left: number | JsonNumber, right: number | JsonNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const a = decimal(left);
  const b = decimal(right);
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  const larger = a.negative ? -1 : 1;
  if (a.digits === '' || b.digits === '') return larger * (Math.sign(a.digits.length) - Math.sign(b.digits.length));
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -larger : larger;
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -larger : larger;
}
