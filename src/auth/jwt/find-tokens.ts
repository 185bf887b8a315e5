import type { IncomingHttpHeaders } from 'node:http';
import type { TokenLocation } from '../../config/jwt-secret.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { headerValue } from '../session-variables.ts';

/**
 * Returns the tokens at one location, usually one or none.
 * @throws SvcError invalid-headers if the `Authorization` header is not a bearer token
 */
export function tokensAt(location: TokenLocation, headers: IncomingHttpHeaders): readonly string[] {
  switch (location.kind) {
    case 'authorization':
      return headers.authorization === undefined ? [] : [bearerToken(headers.authorization)];
    case 'cookie':
      return cookiesNamed(location.name, headers.cookie);
    case 'header': {
      const token = headerValue(headers, location.name);
      return token === undefined || token === '' ? [] : [token];
    }
  }
}

/** Returns true if the location has a value, even one that is not a token. */
export function mayHold(location: TokenLocation, headers: IncomingHttpHeaders): boolean {
  return location.kind === 'authorization' ? headers.authorization !== undefined : tokensAt(location, headers).length > 0;
}

function bearerToken(value: string): string {
  const [scheme, token, ...more] = value.trim().split(/\s+/);
  if (scheme !== 'Bearer' || token === undefined || more.length > 0) {
    throw new SvcError('invalid-headers', 'Malformed Authorization header');
  }
  return token;
}

function cookiesNamed(name: string, cookies: string | undefined): readonly string[] {
  if (cookies === undefined) return [];
  const found: string[] = [];
  for (const pair of cookies.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    if (value !== '') found.push(value);
  }
  return found;
}
