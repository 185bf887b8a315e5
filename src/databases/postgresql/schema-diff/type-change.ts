import type { Column } from './snapshot.ts';

/** Conversion of a column to another type. */
export interface TypeChange {
  /** Expression after `using`. Absent if PostgreSQL converts by itself. */
  readonly using?: string;
  /** Comment on a change that may fail, but does not change values. */
  readonly note?: string;
  /** Reason not to do it: values may change. */
  readonly refused?: string;
}

type Typed = Pick<Column, 'name' | 'type' | 'base' | 'modifier' | 'isEnum'>;

/** Decimal digits that a value of an integer type may have. */
const DIGITS: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };
const INTEGERS = Object.keys(DIGITS);
const TEXTS = ['text', 'character varying'];
const NUMBERS = [...INTEGERS, 'numeric', 'real', 'double precision'];
const TIMES = ['timestamp without time zone', 'timestamp with time zone', 'date'];
/** Types whose text does not depend on settings of the session. */
const STABLE_TEXT = [...INTEGERS, 'numeric', 'uuid', 'boolean'];
/** Types whose modifier is a maximum: of characters, bits or digits after the second. */
const WIDENED = [...TEXTS, 'bit varying', 'timestamp without time zone', 'timestamp with time zone', 'time without time zone'];

const SAFE: TypeChange = {};
const MAY_FAIL = 'This fails if a value does not fit';

/** Decides how a column changes its type. */
export function typeChange(from: Typed, to: Typed): TypeChange {
  if (from.type === to.type) return SAFE;
  return withinType(from, to) ?? ofNumbers(from, to) ?? ofTexts(from, to) ?? ofTimes(from, to) ?? refusal(from, to);
}

function refusal(from: Typed, to: Typed): TypeChange {
  const isSimilar = [NUMBERS, TIMES].some((family) => family.includes(from.base) && family.includes(to.base));
  return {
    using: isSimilar || from.base === to.base || to.base === 'text' ? `${from.name}::${to.type}` : `${from.name}::text::${to.type}`,
    refused: `the change of ${from.name} from ${from.type} to ${to.type} may fail or change values`,
  };
}

function withinType(from: Typed, to: Typed): TypeChange | undefined {
  if (from.base !== to.base) return undefined;
  if (to.modifier === -1) return SAFE;
  if (!WIDENED.includes(to.base)) return undefined;
  if (from.modifier !== -1 && from.modifier <= to.modifier) return SAFE;
  return TEXTS.includes(to.base) ? { note: MAY_FAIL } : undefined;
}

/** Precision and scale of `numeric`. */
function digitsOf({ modifier }: Typed): { readonly whole: number; readonly scale: number } {
  const [precision, scale] = [((modifier - 4) >> 16) & 0xffff, (((modifier - 4) & 0x7ff) ^ 1024) - 1024];
  return { whole: precision - scale, scale };
}

function ofNumbers(from: Typed, to: Typed): TypeChange | undefined {
  if (from.base === 'real' && to.base === 'double precision') return SAFE;
  const [digits, isInteger] = [DIGITS[from.base], INTEGERS.includes(to.base)];
  if (digits !== undefined && isInteger) return digits < (DIGITS[to.base] as number) ? SAFE : { note: MAY_FAIL };
  if (to.base !== 'numeric' || (digits === undefined && from.base !== 'numeric')) return undefined;
  if (to.modifier === -1) return SAFE;
  if (from.base === 'numeric' && from.modifier === -1) return undefined;
  const [before, after] = [digits === undefined ? digitsOf(from) : { whole: digits, scale: 0 }, digitsOf(to)];
  if (after.scale < before.scale) return undefined;
  return after.whole >= before.whole ? SAFE : { note: MAY_FAIL };
}

function ofTexts(from: Typed, to: Typed): TypeChange | undefined {
  const [isText, becomesText] = [TEXTS.includes(from.base), TEXTS.includes(to.base)];
  const limit = to.modifier === -1 ? {} : { note: MAY_FAIL };
  if (isText && becomesText) return limit;
  if (becomesText && (from.isEnum || STABLE_TEXT.includes(from.base))) return { using: `${from.name}::text`, ...limit };
  if (to.isEnum && (isText || from.isEnum))
    return { using: `${from.name}::text::${to.type}`, note: 'This fails if a row has a value that the enum lacks' };
  return undefined;
}

function ofTimes(from: Typed, to: Typed): TypeChange | undefined {
  return from.base === 'date' && to.base === 'timestamp without time zone' ? SAFE : undefined;
}
