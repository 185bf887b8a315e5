import { at, type Path, ROOT } from './path.ts';
import { runSync, type Cooperative } from './cooperative.ts';

/** Approximate number of characters between pauses. */
const STRETCH = 32_768;

/** Open list or object. */
interface Container {
  /** Keys so far; `null` for a list. */
  readonly keys: Set<string> | null;
  /** Key or index of the current value. */
  position: string | number;
}

/**
 * Finds the first duplicate key in valid JSON text. Parsers disagree on which of the two values counts, so text that must have the same
 * meaning for all parsers must not contain any.
 * @returns path from the root, or `null`
 */
export function duplicateKey(text: string): Path | null {
  return runSync(findDuplicateKey(text));
}

/** `duplicateKey` with pauses, for text that may be long. */
export function* findDuplicateKey(text: string): Cooperative<Path | null> {
  const open: Container[] = [];
  let expectsKey = false;
  let pause = STRETCH;
  for (let i = 0; i < text.length; i++) {
    if (i >= pause) {
      yield;
      pause = i + STRETCH;
    }
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
        open.push({ keys: new Set(), position: '' });
        expectsKey = true;
        break;
      case 0x5b: // [
        open.push({ keys: null, position: 0 });
        expectsKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        expectsKey = false;
        break;
      case 0x2c: {
        const inner = open.at(-1);
        if (typeof inner?.position === 'number') inner.position += 1;
        expectsKey = typeof inner?.position === 'string';
        break;
      }
      case 0x22: {
        const start = i;
        for (i++; text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
        const inner = open.at(-1);
        if (!expectsKey || inner === undefined || inner.keys === null) break;
        const raw = text.slice(start + 1, i);
        const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
        inner.position = key;
        if (inner.keys.has(key)) return open.reduce<Path>((path, { position }) => at(path, position), ROOT);
        inner.keys.add(key);
        expectsKey = false;
      }
    }
  }
  return null;
}
