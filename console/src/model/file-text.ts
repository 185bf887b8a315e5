/** Text of a file that is chosen in the browser. */

/** Byte order marks with the encodings that they name. */
const MARKS = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
] as const;

/** Decodes a file by its byte order mark, as UTF-8 without one. @throws SyntaxError if it is not text of this encoding */
export function textOfFile(bytes: Uint8Array): string {
  const [encoding] = MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte)) ?? ['utf-8'];
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new SyntaxError(`The file is not ${encoding.toUpperCase()} text. Save it as UTF-8.`);
  }
}
