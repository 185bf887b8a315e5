/** Protobuf encoding for the OpenTelemetry protocol. See docs/adr/0017-spans-are-our-own.md. */
import type { Attribute } from '../tracing/span.ts';

export interface TelemetryResource {
  readonly attributes: ReadonlyMap<string, Attribute>;
  /** Instrumentation scope. */
  readonly scope: { readonly name: string; readonly version: string };
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** Bytes reserved for the length of a message, which is written after the message. */
const LENGTH_BYTES = 4;
const VARINT_BYTES = 10;
const HALF = 2 ** 32;

export class ProtobufWriter {
  #buffer = Buffer.allocUnsafe(65_536);
  #at = 0;

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  message(field: number, write: () => void): void {
    this.#tag(field, BYTES);
    this.#reserve(LENGTH_BYTES);
    const start = this.#at;
    this.#at += LENGTH_BYTES;
    write();
    let length = this.#at - start - LENGTH_BYTES;
    for (let i = 0; i < LENGTH_BYTES; i++) {
      // All bytes but the last have the continuation bit, even if the rest is zero.
      this.#buffer[start + i] = (length & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0);
      length >>>= 7;
    }
  }

  text(field: number, text: string): void {
    this.#tag(field, BYTES);
    const size = Buffer.byteLength(text);
    this.#varint(size);
    this.#reserve(size);
    this.#at += this.#buffer.write(text, this.#at);
  }

  hex(field: number, digits: string): void {
    this.#tag(field, BYTES);
    this.#varint(digits.length / 2);
    this.#reserve(digits.length / 2);
    this.#at += this.#buffer.write(digits, this.#at, 'hex');
  }

  int(field: number, value: number): void {
    this.#tag(field, VARINT);
    if (value >= 0) this.#varint(value);
    else this.#negative(value);
  }

  /** @param milliseconds epoch milliseconds, written as nanoseconds */
  time(field: number, milliseconds: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    const whole = Math.floor(milliseconds);
    // In two halves of 32 bits, because a double cannot hold the nanoseconds exactly.
    const upper = Math.floor(whole / HALF);
    const low = (whole - upper * HALF) * 1_000_000 + Math.round((milliseconds - whole) * 1e6);
    const carry = Math.floor(low / HALF);
    this.#at = this.#buffer.writeUInt32LE(low - carry * HALF, this.#at);
    this.#at = this.#buffer.writeUInt32LE(upper * 1_000_000 + carry, this.#at);
  }

  double(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** @param value integer from 0 to 2^53 */
  fixed64(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#fixed64(value);
  }

  /** Packed. @param values integers from 0 to 2^53 */
  fixed64s(field: number, values: ArrayLike<number>): void {
    this.#tag(field, BYTES);
    this.#varint(8 * values.length);
    for (let i = 0; i < values.length; i++) this.#fixed64(values[i] as number);
  }

  /** Packed. */
  doubles(field: number, values: readonly number[]): void {
    this.#tag(field, BYTES);
    this.#varint(8 * values.length);
    this.#reserve(8 * values.length);
    for (const value of values) this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, FIXED32);
    this.#reserve(4);
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  #fixed64(value: number): void {
    this.#reserve(8);
    const upper = Math.floor(value / HALF);
    this.#at = this.#buffer.writeUInt32LE(value - upper * HALF, this.#at);
    this.#at = this.#buffer.writeUInt32LE(upper, this.#at);
  }

  #tag(field: number, type: number): void {
    this.#varint((field << 3) | type);
  }

  /** @param value integer from 0 to 2^53 */
  #varint(value: number): void {
    this.#reserve(VARINT_BYTES);
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#at++] = rest;
  }

  /** Writes a negative integer as 64 bits in two's complement. */
  #negative(value: number): void {
    this.#reserve(VARINT_BYTES);
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 0x7fn) {
      this.#buffer[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.#at++] = Number(rest);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const longer = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#at + bytes));
    this.#buffer.copy(longer, 0, 0, this.#at);
    this.#buffer = longer;
  }
}

/** Encodes a request with one resource and one scope. @param items writes the content of the scope */
export function encodeRequest({ attributes, scope }: TelemetryResource, items: (to: ProtobufWriter) => void): Buffer {
  const to = new ProtobufWriter();
  to.message(1, () => {
    to.message(1, () => writeAttributes(to, 1, attributes));
    to.message(2, () => {
      to.message(1, () => {
        to.text(1, scope.name);
        to.text(2, scope.version);
      });
      items(to);
    });
  });
  return to.bytes();
}

export function writeAttributes(to: ProtobufWriter, field: number, attributes: Iterable<readonly [string, Attribute]>): void {
  for (const [key, value] of attributes) writeKeyValue(to, field, key, () => writeValue(to, value));
}

/** @param value writes an `AnyValue` */
export function writeKeyValue(to: ProtobufWriter, field: number, key: string, value: () => void): void {
  to.message(field, () => {
    to.text(1, key);
    to.message(2, value);
  });
}

function writeList(to: ProtobufWriter, items: readonly string[]): void {
  for (const item of items) to.message(1, () => to.text(1, item));
}

export function writeValue(to: ProtobufWriter, value: Attribute): void {
  if (typeof value === 'string') to.text(1, value);
  else if (typeof value === 'boolean') to.int(2, value ? 1 : 0);
  else if (typeof value === 'object') to.message(5, () => writeList(to, value));
  else if (Number.isSafeInteger(value)) to.int(3, value);
  else to.double(4, value);
}
