declare const bytes: unique symbol;

/**
 * Bytes on their way to a client, one in each character (U+0000 to U+00FF): what Node calls `latin1`; of JSON, its UTF-8.
 * A string and no Buffer: it lives on V8's own heap, where it costs next to nothing to make and to let go, while the
 * memory of buffers lies outside, counts as old, and starts collections of the whole heap under load (ADR 5).
 */
export type Bytes = string & { readonly [bytes]: true };

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

/** Bytes of all pieces. */
export function sizeOfBytes(pieces: readonly Bytes[]): number {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  return size;
}

/** All pieces in one buffer. */
export function bufferOfBytes(pieces: readonly Bytes[]): Buffer {
  const buffer = Buffer.allocUnsafe(sizeOfBytes(pieces));
  let offset = 0;
  for (const piece of pieces) offset += buffer.write(piece, offset, 'latin1');
  return buffer;
}

/** The text whose UTF-8 the pieces are. */
export function textOfBytes(pieces: readonly Bytes[]): string {
  return bufferOfBytes(pieces).toString();
}
