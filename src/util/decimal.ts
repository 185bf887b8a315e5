/** Decimal number such as `-12.50e3`, parsed and printed without an IEEE double. */
export interface Decimal {
  readonly negative: boolean;
  /** Significant digits without leading or trailing zeros; empty for zero. */
  readonly digits: string;
  /** Power of ten of the last digit. */
  readonly exponent: number;
}

const ZERO = 48;

/** @param text of a JSON number */
export function parseDecimal(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const all = withoutLeadingZeros(whole + fraction);
  const digits = withoutTrailingZeros(all);
  return { negative, digits, exponent: digits === '' ? 0 : Number(exponent) - fraction.length + (all.length - digits.length) };
}

// No regular expressions: `/0+$/` takes quadratic time for a run of zeros.
function withoutLeadingZeros(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === ZERO) start += 1;
  return text.slice(start);
}

function withoutTrailingZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === ZERO) end -= 1;
  return text.slice(0, end);
}

/** @returns `null` for a number with a fraction or more than `maxDigits` digits */
export function integerText(decimal: Decimal, maxDigits = 20): string | null {
  if (decimal.exponent < 0 || decimal.digits.length + decimal.exponent > maxDigits) return null;
  if (decimal.digits === '') return '0';
  return `${decimal.negative ? '-' : ''}${decimal.digits}${'0'.repeat(decimal.exponent)}`;
}

/** Prints without an exponent: `12500`, `0.0012`. @returns `null` for more than 400 characters */
export function plainText(decimal: Decimal): string | null {
  const { digits, exponent } = decimal;
  if (digits === '') return '0';
  if (Math.abs(exponent) + digits.length > 400) return null;
  const sign = decimal.negative ? '-' : '';
  if (exponent >= 0) return `${sign}${digits}${'0'.repeat(exponent)}`;
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** Prints for messages: `2.147483648e9` from ten million up and below a tenth, otherwise `40000.0`. */
export function scientificText(decimal: Decimal): string {
  const { digits, exponent } = decimal;
  if (digits === '') return '0.0';
  const sign = decimal.negative ? '-' : '';
  const power = digits.length + exponent - 1;
  if (power >= -1 && power < 7) {
    const plain = plainText({ negative: false, digits, exponent }) as string;
    return `${sign}${plain}${exponent >= 0 ? '.0' : ''}`;
  }
  return `${sign}${digits.slice(0, 1)}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${power}`;
}

/** True if a number is within the range of a double. */
export function fitsDouble(text: string): boolean {
  return Number.isFinite(Number(text));
}
