import type { Cooperative } from './cooperative.ts';

declare const bytes: unique symbol;

/**
 * Bytes of a response, one per character (U+0000 to U+00FF), which Node calls `latin1`; JSON is in UTF-8. A string instead of a Buffer: it
 * lives on V8's heap, where creating and dropping it costs almost nothing. The memory of buffers is outside of that heap, counts as old,
 * and causes collections of the whole heap under load (ADR 5).
 */
export type Bytes = string & { readonly [bytes]: true };

/** Bytes that are generated while they are sent, so that a value that is printed under many names needs memory only once. */
export interface GeneratedBytes {
  /** Number of bytes. */
  readonly length: number;
  pieces(): Iterable<Bytes>;
}

/** Body of a response. */
export type Body = readonly (Bytes | GeneratedBytes)[];

/** Encodes text as UTF-8. */
export function bytesOfText(text: string): Bytes {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return Buffer.from(text).toString('latin1') as Bytes;
  }
  return text as Bytes;
}

/** Copies the bytes of a buffer from `start` up to `end`. */
export function bytesOfBuffer(buffer: Buffer, start: number, end: number): Bytes {
  return buffer.toString('latin1', start, end) as Bytes;
}

export function sliceBytes(piece: Bytes, start: number, end?: number): Bytes {
  return piece.slice(start, end) as Bytes;
}

/** Yields the bytes of a body piece by piece. */
export function* piecesOf(body: Body): Iterable<Bytes> {
  for (const part of body) {
    if (typeof part === 'string') yield part;
    else yield* part.pieces();
  }
}

/** Generates all bytes of a body in memory. */
export function wholeBytes(body: Body): readonly Bytes[] {
  return body.every((part) => typeof part === 'string') ? body : [...piecesOf(body)];
}

/** `wholeBytes` with a pause after each piece. */
export function* wholeBytesCooperatively(body: Body): Cooperative<readonly Bytes[]> {
  if (body.every((part) => typeof part === 'string')) return body;
  const pieces: Bytes[] = [];
  for (const piece of piecesOf(body)) {
    pieces.push(piece);
    yield;
  }
  return pieces;
}

/** Number of bytes of a body. */
export function sizeOfBytes(pieces: Body): number {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  return size;
}

export function bufferOfBytes(pieces: Body): Buffer {
  const buffer = Buffer.allocUnsafe(sizeOfBytes(pieces));
  let offset = 0;
  for (const piece of piecesOf(pieces)) offset += buffer.write(piece, offset, 'latin1');
  return buffer;
}

/** Decodes a body as UTF-8. */
export function textOfBytes(pieces: Body): string {
  return bufferOfBytes(pieces).toString();
}
