/** Database URLs that stand in a file, whose text may be replaced while the service runs. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { SvcError } from '../../errors/svc-error.ts';

const SCHEME = 'dynamic-from-file://';
/** Bytes; a URL is shorter. */
const MAX_SIZE = 64 * 1024;

/** The file that a URL of the form `dynamic-from-file:///path` names; null for any other. */
export function fileOfUrl(url: string): string | null {
  return url.startsWith(SCHEME) ? url.slice(SCHEME.length) : null;
}

/**
 * @param folder the only folder whose files may be read, links followed; null: none may
 * @returns the text without white space around it
 * @throws SvcError that shows nothing of the text
 */
export function readUrlFile(path: string, folder: string | null): string {
  if (folder === null) {
    throw new SvcError(
      'not-supported',
      'a database URL is read from a file only below the folder of SVC_GRAPHQL_DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX, which is not set',
    );
  }
  // Said before the file is looked at: nobody learns which files there are elsewhere.
  if (!isBelow(resolve(path), resolve(folder))) throw outside(path);
  let real: string;
  try {
    real = realpathSync(path);
    if (!isBelow(real, realpathSync(folder))) throw outside(path);
    if (statSync(real).size > MAX_SIZE) throw unreadable(path, 'it is too large');
    return readFileSync(real, 'utf8').trim();
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw unreadable(path, (error as NodeJS.ErrnoException).code ?? 'unknown error');
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function outside(path: string): SvcError {
  return new SvcError('not-supported', `the file "${path}" of a database URL is not below the allowed folder`);
}

function unreadable(path: string, reason: string): SvcError {
  return new SvcError('not-found', `the file "${path}" of a database URL cannot be read: ${reason}`);
}
