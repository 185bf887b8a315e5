import { isUtf8 } from 'node:buffer';
import { SvcError } from '../errors/svc-error.ts';

/** The parameters of an encoded text; null where `%` is not followed by two digits, or bytes are no UTF-8: they would become other characters. */
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
 * The query string of a URL, which clients may leave unencoded.
 * @param query each character is a byte
 * @throws SvcError bad-request
 */
export function queryParameters(query: string): URLSearchParams {
  const bytes = Buffer.from(query, 'latin1');
  const parameters = isUtf8(bytes) ? parametersOf(bytes.toString()) : null;
  if (parameters === null) {
    throw new SvcError('bad-request', 'the query string of the URL is not well encoded: it has to be UTF-8, with percent signs as %25', {
      keepsStatus: true,
    });
  }
  return parameters;
}
