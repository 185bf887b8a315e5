/** The headers of a client's request, for servers that may see them. */
import type { IncomingHttpHeaders } from 'node:http';

/** Headers about the client's own request, which say nothing about who sent it. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'content-length',
  'content-md5',
  'content-type',
  'user-agent',
  'host',
  'origin',
  'referer',
  'accept',
  'accept-encoding',
  'accept-language',
  'accept-datetime',
  'cache-control',
  'connection',
  'dnt',
  // How the client's body comes; the call has one of its own or none.
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Headers about the client's own request that are told under another name: `X-Forwarded-Host`. */
const RENAMED = ['host', 'user-agent', 'origin'] as const;

/**
 * The client's headers but for those about its own request. What the client lists in `Connection` is forwarded
 * nevertheless: else it could take away what a proxy in front has added.
 */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_FORWARDED.has(name)) forwarded[name] = joinedHeader(value);
  }
  return forwarded;
}

/** What no other request can have: how the client's own came, and where it went. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

function forwardedBut(headers: IncomingHttpHeaders, ignored: readonly string[]): Record<string, string> {
  const names = new Set(ignored.map((name) => name.toLowerCase()));
  const forwarded = Object.entries(headers).filter(([name]) => !names.has(name) && !OF_THE_CONNECTION.has(name));
  return Object.fromEntries(forwarded.flatMap(([name, value]) => (value === undefined ? [] : [[name, joinedHeader(value)]])));
}

/**
 * The same for servers that must not get session variables and secrets as the client wrote them.
 * @param ignored names of headers that are not forwarded, in place of the usual ones
 */
export function clientHeaders(headers: IncomingHttpHeaders, ignored?: readonly string[]): Record<string, string> {
  const all = ignored === undefined ? forwardedHeaders(headers) : forwardedBut(headers, ignored);
  const forwarded = Object.entries(all).filter(([name]) => !name.startsWith('x-svc-'));
  for (const name of RENAMED) {
    const value = headers[name];
    if (value !== undefined) forwarded.push([`x-forwarded-${name}`, value]);
  }
  return Object.fromEntries(forwarded);
}

/** The one text of a header that came several times. */
export function joinedHeader(value: string | string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}
