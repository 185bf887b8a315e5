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

/** 32 hexadecimal digits. */
export function newTraceId(): string {
  return randomHex(16);
}

/** 16 hexadecimal digits. */
export function newSpanId(): string {
  return randomHex(8);
}
