/** Database URLs in files. */
import { readSecretFile } from '../shared/secret-file.ts';

const SCHEME = 'dynamic-from-file://';

/** Returns the file that a URL of the form `dynamic-from-file:///path` names; `null` for any other URL. */
export function fileOfUrl(url: string): string | null {
  return url.startsWith(SCHEME) ? url.slice(SCHEME.length) : null;
}

/** See `readSecretFile`. */
export function readUrlFile(path: string, folder: string | null): string {
  return readSecretFile(path, folder, 'a database URL', 'of');
}
