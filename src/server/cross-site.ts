/**
 * Protects against cross-site requests. A browser adds cookies and remembered passwords to requests of any page, and can reach networks
 * that are closed to others. If a request has such credentials, or needs none, the origin of its page must be trusted. Credentials in
 * other headers are set by the page itself and need no check.
 *
 * For upgrades to websockets, `checkPage` is the whole check: they have no preflight requests and no body.
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
  /** Trusted host names of an open service, `[*.]host`. */
  readonly hosts: '*' | readonly string[];
}

/**
 * @param corsDomains the option's value: `*` lets pages read responses, but trusts no origin
 * @param serverHost the host that the service listens on
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
 * Checks that the page that sent the request, if any, is trusted; for every method, and for upgrades.
 * @throws SvcError access-denied, status 403
 */
export function checkPage(method: string, headers: IncomingHttpHeaders, place: CredentialPlace, policy: PagePolicy): void {
  if (place === 'header' || place === 'none') return;
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (place === 'open' && host !== undefined && !isKnownHost(host, policy)) throw unknownHost(host);
  // Pages cannot set this header; browsers that support it report the relation of the page to the service.
  if (site === 'same-origin' || site === 'none') return;
  if (origin === undefined) {
    if (site === undefined) return; // Not a browser.
    if (method === 'GET' && headers['sec-fetch-mode'] === 'navigate') return; // Following a link only reads.
    throw foreignPage('of another site', place);
  }
  if (site === undefined && host !== undefined && hostOfOrigin(origin) === host.toLowerCase()) return;
  if (policy.origins.some((known) => matchesOrigin(known, origin))) return;
  if (place === 'open' && isLoopback(withoutPort(hostOfOrigin(origin)))) return;
  throw foreignPage(`of the origin "${shortened(origin)}"`, place);
}

/**
 * Rejects form submissions: a page can send them without a script, and old browsers send them without an origin. Only POST is affected.
 * @throws SvcError bad-request, status 415
 */
export function checkNoForm(method: string, headers: IncomingHttpHeaders, place: CredentialPlace): void {
  if (place !== 'browser' || method !== 'POST' || isJsonContent(headers['content-type'])) return;
  if (headers['x-requested-with'] !== undefined) return;
  const message = 'with credentials in a cookie, expected the content type application/json or a header X-Requested-With';
  throw new SvcError('bad-request', message, { status: 415, keepsStatus: true });
}

/** Returns true if a GET may change data: links and images make browsers send GET requests. */
export function mayChangeByGet(place: CredentialPlace): boolean {
  return place === 'header';
}

function isKnownHost(host: string, { hosts }: PagePolicy): boolean {
  const name = withoutPort(host.toLowerCase());
  // A name without a DNS entry on the internet cannot be rebound to another address.
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

/** Returns the host of an origin, empty for `null`. */
function hostOfOrigin(origin: string): string {
  return (origin.split('://')[1] ?? '').toLowerCase();
}

/** Strips port and trailing dot of a `host[:port]`. */
function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '');
}

function unbracketed(name: string): string {
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

function denied(message: string): SvcError {
  return new SvcError('access-denied', message, { status: 403, keepsStatus: true });
}

const LIST_ORIGIN = 'add its origin to --cors-domain (SVC_GRAPHQL_CORS_DOMAIN)';

function foreignPage(whose: string, place: 'browser' | 'open'): SvcError {
  return denied(
    place === 'open'
      ? `the service has no admin secret, so a page ${whose} must not use it: ${LIST_ORIGIN}, or set an admin secret`
      : `a page ${whose} must not use the credentials of the browser: ${LIST_ORIGIN}, or send a token in a header`,
  );
}

function unknownHost(host: string): SvcError {
  return denied(
    `the service has no admin secret, and "${shortened(host)}" is not a trusted host: add it to --trusted-hosts (SVC_GRAPHQL_TRUSTED_HOSTS), or set an admin secret`,
  );
}
