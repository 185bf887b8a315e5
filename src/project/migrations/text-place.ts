/** Both count from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The index in the text of a character that a database has counted: code points, from 1. */
export function offsetOf(text: string, position: number): number {
  let offset = 0;
  for (let left = position - 1; left > 0 && offset < text.length; left--) offset += (text.codePointAt(offset) as number) > 0xffff ? 2 : 1;
  return offset;
}

export function placeIn(text: string, offset: number): TextPlace {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1) as string).length + 1 };
}
