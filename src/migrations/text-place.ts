/** Line and column in a text, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Returns the index in the text of a position that a database reports: in code points, from 1. */
export function offsetOf(text: string, position: number): number {
  let offset = 0;
  for (let left = position - 1; left > 0 && offset < text.length; left--) offset += (text.codePointAt(offset) as number) > 0xffff ? 2 : 1;
  return offset;
}

export function placeIn(text: string, offset: number): TextPlace {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1) as string).length + 1 };
}

/**
 * Returns the piece of the sent SQL that contains a position, and the place in it; `undefined` if it is in none.
 * @param pieces in the order in which they were sent
 * @param position in code points, from 1
 */
export function pieceAt<T extends { readonly sql: string }>(
  pieces: readonly T[],
  sent: string,
  position: number,
): { readonly piece: T; readonly place: TextPlace } | undefined {
  const at = offsetOf(sent, position);
  let from = 0;
  for (const piece of pieces) {
    const start = sent.indexOf(piece.sql, from);
    if (start < 0) return undefined;
    from = start + piece.sql.length;
    if (at >= start && at < from) return { piece, place: placeIn(piece.sql, at - start) };
  }
  return undefined;
}
