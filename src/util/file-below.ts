import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/** Reason why a file was not read: it is outside of the folder, or unreadable. */
export type Unread = { readonly kind: 'outside' } | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Reads a file below a folder. Follows links, and checks the folder of their target too.
 * @param maxSize in bytes
 * @returns the text without surrounding whitespace
 */
export function readFileBelow(path: string, folder: string, maxSize: number): string | Unread {
  // Checked before the file is accessed, so that the result does not reveal which files exist elsewhere.
  if (!isBelow(resolve(path), resolve(folder))) return { kind: 'outside' };
  try {
    const real = realpathSync(path);
    if (!isBelow(real, realpathSync(folder))) return { kind: 'outside' };
    if (statSync(real).size > maxSize) return { kind: 'unreadable', reason: 'it is too large' };
    return readFileSync(real, 'utf8').trim();
  } catch (error) {
    return { kind: 'unreadable', reason: (error as NodeJS.ErrnoException).code ?? 'unknown error' };
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
