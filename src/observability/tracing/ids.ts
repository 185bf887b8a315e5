import { randomFillSync } from 'node:crypto';

/** Stock of random bytes: a call for a few bytes costs as much as one for the whole stock. */
const STOCK = Buffer.alloc(8192);
let used = STOCK.length;

/** @returns two hexadecimal digits per byte */
function randomHex(bytes: number): string {
  if (used + bytes > STOCK.length) {
    randomFillSync(STOCK);
    used = 0;
  }
  used += bytes;
  return STOCK.toString('hex', used - bytes, used);
}

/** Number of digits of the sampling value, which a double can hold exactly. */
const VALUE_DIGITS = 13;
const VALUES = 16 ** VALUE_DIGITS;
/** The sampling value comes from the last 14 digits, which are random in every trace (W3C Trace Context, level 2). */
const RANDOM_DIGITS = 14;

/**
 * Id of a trace that begins here. Its text is made on demand, because most unsampled requests never need it.
 */
export class TraceId {
  /** From 0 to 1, as `samplingValueOf` reads it from the text. */
  readonly samplingValue: number;
  #text: string | null = null;

  constructor() {
    this.samplingValue = Math.floor(Math.random() * VALUES) / VALUES;
  }

  /** 32 hexadecimal digits. */
  get text(): string {
    if (this.#text === null) {
      // The last digit is not part of the sampling value.
      const random = randomHex(10);
      this.#text = random.slice(0, 18) + (this.samplingValue * VALUES).toString(16).padStart(VALUE_DIGITS, '0') + random.slice(19);
    }
    return this.#text;
  }
}

/** Sampling value of a trace from 0 to 1. It depends only on the id, so that all services of a trace make the same decision. */
export function samplingValueOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS, -1), 16) / VALUES;
}

/** @returns 16 hexadecimal digits */
export function newSpanId(): string {
  return randomHex(8);
}
