import { randomFillSync } from 'node:crypto';

/** Random bytes in stock: each call for some costs as much as a whole stock. */
const STOCK = Buffer.alloc(8192);
let used = STOCK.length;

/** Hexadecimal digits. */
function randomHex(bytes: number): string {
  if (used + bytes > STOCK.length) {
    randomFillSync(STOCK);
    used = 0;
  }
  used += bytes;
  return STOCK.toString('hex', used - bytes, used);
}

/** Of the last digits, those that decide whether a trace is sampled: what a double holds whole. */
const LOT_DIGITS = 13;
const LOTS = 16 ** LOT_DIGITS;
/** Of the last 14 digits, which are random in every trace (W3C Trace Context, level 2). */
const DECIDING_DIGITS = 14;

/**
 * The id of a trace that begins here. Its text is made when somebody wants to see it: of most requests that are not sampled nobody does.
 */
export class TraceId {
  /** From 0 to 1: the part that decides, as `lotOf` reads it. */
  readonly lot: number;
  #text: string | null = null;

  constructor() {
    this.lot = Math.floor(Math.random() * LOTS) / LOTS;
  }

  /** 32 hexadecimal digits. */
  get text(): string {
    if (this.#text === null) {
      // The last digit is below what decides.
      const random = randomHex(10);
      this.#text = random.slice(0, 18) + (this.lot * LOTS).toString(16).padStart(LOT_DIGITS, '0') + random.slice(19);
    }
    return this.#text;
  }
}

/** Of a trace by its id, so that all services of one decide alike: from 0 to 1. */
export function lotOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-DECIDING_DIGITS, -1), 16) / LOTS;
}

/** 16 hexadecimal digits. */
export function newSpanId(): string {
  return randomHex(8);
}
