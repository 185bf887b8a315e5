import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/** Why a file is not read: it is not in the folder, or it cannot be read. */
export type Unread = { readonly kind: 'outside' } | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * A file in a folder or a folder in it, links followed.
 * @param maxSize bytes
 * @returns the text without white space around it
 */
export function readFileBelow(path: string, folder: string, maxSize: number): string | Unread {
  // Before the file is looked at: nobody learns which files there are elsewhere.
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
