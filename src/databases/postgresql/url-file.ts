/** Database URLs that stand in a file, whose text may be replaced while the service runs. */
import { SvcError } from '../../errors/svc-error.ts';
import { readFileBelow } from '../../util/file-below.ts';

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
  const text = readFileBelow(path, folder, MAX_SIZE);
  if (typeof text === 'string') return text;
  if (text.kind === 'outside') throw new SvcError('not-supported', `the file "${path}" of a database URL is not below the allowed folder`);
  throw new SvcError('not-found', `the file "${path}" of a database URL cannot be read: ${text.reason}`);
}
