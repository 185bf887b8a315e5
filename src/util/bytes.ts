import type { Sliced } from './sliced.ts';

declare const bytes: unique symbol;

/**
 * Bytes on their way to a client, one in each character (U+0000 to U+00FF): what Node calls `latin1`; of JSON, its UTF-8.
 * A string and no Buffer: it lives on V8's own heap, where it costs next to nothing to make and to let go, while the
 * memory of buffers lies outside, counts as old, and starts collections of the whole heap under load (ADR 5).
 */
export type Bytes = string & { readonly [bytes]: true };

/** Bytes that are made while they are sent: a value that is printed under many names takes no memory for each of them. */
export interface MadeBytes {
  /** Number of bytes. */
  readonly length: number;
  pieces(): Iterable<Bytes>;
}

/** An answer on its way to a client. */
export type Body = readonly (Bytes | MadeBytes)[];

/** The UTF-8 of a text. */
export function bytesOfText(text: string): Bytes {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return Buffer.from(text).toString('latin1') as Bytes;
  }
  return text as Bytes;
}

/** The bytes of `buffer` from `start` up to `end`. */
export function bytesOfBuffer(buffer: Buffer, start: number, end: number): Bytes {
  return buffer.toString('latin1', start, end) as Bytes;
}

/** Like `slice` of strings. */
export function sliceBytes(piece: Bytes, start: number, end?: number): Bytes {
  return piece.slice(start, end) as Bytes;
}

/** The bytes of a body, piece by piece. */
export function* piecesOf(body: Body): Iterable<Bytes> {
  for (const part of body) {
    if (typeof part === 'string') yield part;
    else yield* part.pieces();
  }
}

/** A body as the bytes that it has, all of them in memory. */
export function wholeBytes(body: Body): readonly Bytes[] {
  return body.every((part) => typeof part === 'string') ? body : [...piecesOf(body)];
}

/** `wholeBytes` with a pause after each piece, for bodies that may be large. */
export function* wholeBytesInSlices(body: Body): Sliced<readonly Bytes[]> {
  if (body.every((part) => typeof part === 'string')) return body;
  const pieces: Bytes[] = [];
  for (const piece of piecesOf(body)) {
    pieces.push(piece);
    yield;
  }
  return pieces;
}

/** Bytes of all pieces. */
export function sizeOfBytes(pieces: Body): number {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  return size;
}

/** All pieces in one buffer. */
export function bufferOfBytes(pieces: Body): Buffer {
  const buffer = Buffer.allocUnsafe(sizeOfBytes(pieces));
  let offset = 0;
  for (const piece of piecesOf(pieces)) offset += buffer.write(piece, offset, 'latin1');
  return buffer;
}

/** The text whose UTF-8 the pieces are. */
export function textOfBytes(pieces: Body): string {
  return bufferOfBytes(pieces).toString();
}
