/**
 * The first key that an object in valid JSON text has twice, null when there is none. Parsers disagree on which of
 * the two counts, so text that must mean the same to everybody may not have any.
 */
export function duplicateKey(text: string): string | null {
  /** Per open object its keys, null for an open list. */
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
        open.push(new Set());
        expectsKey = true;
        break;
      case 0x5b: // [
        open.push(null);
        expectsKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        expectsKey = false;
        break;
      case 0x2c: // ,
        expectsKey = open.at(-1) !== null;
        break;
      case 0x22: {
        const start = i;
        for (i++; text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
        const keys = open.at(-1);
        if (!expectsKey || keys === null || keys === undefined) break;
        const key = JSON.parse(text.slice(start, i + 1)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
        expectsKey = false;
      }
    }
  }
  return null;
}
