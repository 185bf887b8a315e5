import { isUtf8 } from 'node:buffer';
import { SvcError } from '../errors/svc-error.ts';

/** Parses encoded parameters; `null` for an invalid `%` sequence, or for bytes that are not UTF-8 and would become other characters. */
export function parametersOf(encoded: string): URLSearchParams | null {
  if (encoded.includes('%')) {
    try {
      decodeURIComponent(encoded);
    } catch {
      return null;
    }
  }
  return new URLSearchParams(encoded);
}

/**
 * Parses the query string of a URL, which clients may leave unencoded.
 * @param query one character per byte
 * @throws SvcError bad-request
 */
export function decodeQueryString(query: string): URLSearchParams {
  const bytes = Buffer.from(query, 'latin1');
  const parameters = isUtf8(bytes) ? parametersOf(bytes.toString()) : null;
  if (parameters === null) {
    throw new SvcError('bad-request', 'the query string of the URL has an invalid encoding: it must be UTF-8, with percent signs as %25', {
      keepsStatus: true,
    });
  }
  return parameters;
}
