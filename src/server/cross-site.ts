/**
 * Requests that a browser sends for a page of somebody else. A browser adds cookies and remembered passwords to them, and
 * reaches what only its user can reach; so where credentials are of that kind, or none are needed, the page's origin has to be
 * known. Credentials in other headers are the page's own: nothing is to be judged there.
 *
 * For upgrades to websockets `checkPage` is the whole rule: they are never sent ahead of themselves, and have no body.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { CredentialPlace } from '../auth/credentials.ts';
import { SvcError } from '../errors/svc-error.ts';
import { shortened } from '../errors/shortened.ts';
import { matchesOrigin } from './cors.ts';
import { isJsonContent } from './media-type.ts';

export interface PagePolicy {
  /** `scheme://[*.]host[:port]` */
  readonly origins: readonly string[];
  /** Names of a service that is open, `[*.]host`. */
  readonly hosts: '*' | readonly string[];
}

/**
 * @param corsDomains as the option has them: `*` lets pages read answers, but is no reason to trust their origin
 * @param serverHost as the service was told to listen on
 */
export function pagePolicy(
  corsDomains: '*' | readonly string[] | null,
  trustedHosts: '*' | readonly string[],
  serverHost: string,
): PagePolicy {
  const origins = corsDomains === '*' || corsDomains === null ? [] : corsDomains;
  if (trustedHosts === '*') return { origins, hosts: '*' };
  const hostsOfOrigins = origins.map((origin) => origin.replace(/^[a-z]+:\/\//, '').replace(/:\d+$/, ''));
  return { origins, hosts: [...trustedHosts, ...hostsOfOrigins, serverHost.toLowerCase()] };
}

/**
 * Whether the page that made the request, if one did, may have it answered; for every method, and for upgrades.
 * @throws SvcError access-denied, status 403
 */
export function checkPage(method: string, headers: IncomingHttpHeaders, place: CredentialPlace, policy: PagePolicy): void {
  if (place === 'header' || place === 'none') return;
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (place === 'open' && host !== undefined && !isKnownHost(host, policy)) throw unknownHost(host);
  // No page can set this header, and browsers that know it say there by whom they were told to send the request.
  if (site === 'same-origin' || site === 'none') return;
  if (origin === undefined) {
    if (site === undefined) return; // not a browser
    if (method === 'GET' && headers['sec-fetch-mode'] === 'navigate') return; // somebody follows a link, and only looks
    throw foreignPage('of another site', place);
  }
  if (site === undefined && host !== undefined && hostOfOrigin(origin) === host.toLowerCase()) return;
  if (policy.origins.some((known) => matchesOrigin(known, origin))) return;
  if (place === 'open' && isLoopback(withoutPort(hostOfOrigin(origin)))) return;
  throw foreignPage(`of the origin "${shortened(origin)}"`, place);
}

/**
 * Forms can be sent without a script, and by old browsers without an origin: what changes something has to look different.
 * Other methods than POST cannot be sent so.
 * @throws SvcError bad-request, status 415
 */
export function checkNoForm(method: string, headers: IncomingHttpHeaders, place: CredentialPlace): void {
  if (place !== 'browser' || method !== 'POST' || isJsonContent(headers['content-type'])) return;
  if (headers['x-requested-with'] !== undefined) return;
  const message = 'with credentials in a cookie, expected the content type application/json or a header X-Requested-With';
  throw new SvcError('bad-request', message, { status: 415, keepsStatus: true });
}

/** Whether a GET may change something: links and images make browsers send one. */
export function mayChangeByGet(place: CredentialPlace): boolean {
  return place === 'header';
}

function isKnownHost(host: string, { hosts }: PagePolicy): boolean {
  const name = withoutPort(host.toLowerCase());
  // What names no host in the DNS of the internet cannot be pointed to another address by a stranger.
  return (
    hosts === '*' ||
    isIP(unbracketed(name)) !== 0 ||
    isLoopback(name) ||
    !name.includes('.') ||
    hosts.some((known) => matchesHost(known, name))
  );
}

function matchesHost(known: string, name: string): boolean {
  if (!known.startsWith('*.')) return known === name;
  return name.endsWith(known.slice(1)) && name.length > known.length - 1;
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Empty for one that has none, as `null`. */
function hostOfOrigin(origin: string): string {
  return (origin.split('://')[1] ?? '').toLowerCase();
}

/** Of a `host[:port]`; a point at its end means the same name. */
function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '');
}

function unbracketed(name: string): string {
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

function denied(message: string): SvcError {
  return new SvcError('access-denied', message, { status: 403, keepsStatus: true });
}

const LIST_ORIGIN = 'name its origin in --cors-domain (SVC_GRAPHQL_CORS_DOMAIN)';

function foreignPage(whose: string, place: 'browser' | 'open'): SvcError {
  return denied(
    place === 'open'
      ? `the service has no admin secret, so a page ${whose} may not use it: ${LIST_ORIGIN}, or set an admin secret`
      : `a page ${whose} may not use the credentials that the browser keeps: ${LIST_ORIGIN}, or send a token in a header`,
  );
}

function unknownHost(host: string): SvcError {
  return denied(
    `the service has no admin secret and does not know itself as "${shortened(host)}": name the host in --trusted-hosts (SVC_GRAPHQL_TRUSTED_HOSTS), or set an admin secret`,
  );
}
