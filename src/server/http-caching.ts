/**
 * Headers with which browsers and shared caches may keep the answer to a GET: for a stored document that is requested by its id, whose
 * answer is in the cache of the service (`@cached`). All other answers to GET are `no-store`.
 */
import { isAdmin } from '../auth/session.ts';
import { SECRET_HEADERS } from '../auth/session-variables.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import type { CacheStatus } from '../pipeline/response-cache.ts';
import type { Exchange, ServerContext } from './context.ts';

export interface HttpCaching {
  readonly headers: Readonly<Record<string, string>> & { readonly ETag: string };
  /** True if caches may return the answer to other clients. */
  readonly isPublic: boolean;
}

/** @returns `null` if no cache may keep the answer */
export function httpCaching(
  { left, age, directive, reads, dependsOnClient, digest }: CacheStatus,
  { document }: Pick<GraphqlRequest, 'document'>,
  exchange: Exchange,
  context: Pick<ServerContext, 'authenticator' | 'purgeKeys' | 'options'>,
): HttpCaching | null {
  const stored = document?.stored ?? null;
  // Another document with the same answer may have a longer time to live. Rounded down, so that no cache exceeds it.
  const seconds = Math.floor(Math.min(left ?? 0, directive.ttl - age));
  if (stored === null || digest === null || seconds <= 0 || directive.refresh) return null;
  const { authenticator, purgeKeys, options } = context;
  const control = cacheControl(exchange, seconds, dependsOnClient);
  if (control === null) return null;
  const isPublic = control.startsWith('public');
  // Headers that this client has not sent count, too: a request with a token must not get the answer that was kept without one.
  const identity = authenticator.identityHeaders(isPublic ? null : sentNames(exchange));
  if (identity.includes('*')) return null;
  const isForAllPages = isPublic && options.corsDomains === '*';
  const varying = ['Accept', 'Accept-Encoding', ...identity, ...(options.corsDomains === null || isForAllPages ? [] : ['Origin'])];
  const keys = purgeKeys.of(reads, stored.sha256);
  return {
    isPublic,
    headers: {
      ETag: `W/"${digest()}"`,
      'Cache-Control': control,
      Vary: varying.join(', '),
      'Surrogate-Key': keys.join(' '),
      'Cache-Tag': keys.join(','),
      'X-Content-Type-Options': 'nosniff',
      ...(isForAllPages ? { 'Access-Control-Allow-Origin': '*' } : {}),
    },
  };
}

function cacheControl({ session, place, cookies, request }: Exchange, left: number, isOfClient: () => boolean): string | null {
  if (session === null || isAdmin(session) || (cookies !== null && cookies.length > 0)) return null;
  switch (place) {
    // Session variables of a request without credentials come from its headers, which caches do not know.
    case 'none':
      return isOfClient() ? null : `public, max-age=${left}`;
    case 'header':
      // A gateway that authenticates users itself sends the same secret for all of them, and their browsers see the same URL.
      return SECRET_HEADERS.some((name) => request.headers[name] !== undefined) ? 'private, no-cache' : `private, max-age=${left}`;
    // The browser asks each time, so that signing out takes effect.
    case 'browser':
      return 'private, no-cache';
    case 'open':
      return null;
  }
}

/** Returns names as sent: the authenticator has renamed those under other prefixes. */
export function sentNames({ request }: Exchange): readonly string[] {
  return request.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [name.toLowerCase()] : []));
}

/** Returns true if one of the tags of `If-None-Match` is this one. Tags are compared weakly. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = withoutWeakness(tag);
  return header.split(',').some((each) => each.trim() === '*' || withoutWeakness(each.trim()) === opaque);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
