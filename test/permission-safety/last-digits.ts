/** Differences between answers that are only rounding of floating point numbers. */

const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;
/** More digits than any number of the data has, so the database has rounded it. */
const ROUNDED = /\.\d{10,}|e/;

/**
 * MariaDB adds floating point numbers in the order in which it finds the rows, and has no ordered
 * aggregates: it may answer 0.3 once and 0.30000000000000004 another time.
 */
export function sameButForLastDigits(text: string, other: string): boolean {
  if (text === other) return true;
  if (text.replaceAll(NUMBER, '0') !== other.replaceAll(NUMBER, '0')) return false;
  const others = other.match(NUMBER) ?? [];
  return (text.match(NUMBER) ?? []).every((number, i) => sameNumber(number, others[i] as string));
}

function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  if (!ROUNDED.test(a) && !ROUNDED.test(b)) return false;
  return Math.abs(Number(a) - Number(b)) <= 1e-12 * Math.max(1, Math.abs(Number(a)));
}
