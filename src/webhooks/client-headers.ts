/** Headers of a client's request, filtered for other servers. */
import type { IncomingHttpHeaders } from 'node:http';

/** Headers about the client's own request, which do not identify its sender. */
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
  // Describe the client's body; the call has another body or none.
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Headers about the client's own request that are forwarded under another name, e.g. `X-Forwarded-Host`. */
const RENAMED = ['host', 'user-agent', 'origin'] as const;

/**
 * Returns the client's headers, except those about its own request. Headers listed in `Connection` are forwarded, too: otherwise the
 * client could remove what a proxy in front has added.
 */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_FORWARDED.has(name)) forwarded[name] = joinedHeader(value);
  }
  return forwarded;
}

/** Headers that belong to one connection and are never forwarded. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

function forwardedExcept(headers: IncomingHttpHeaders, ignored: readonly string[]): Record<string, string> {
  const names = new Set(ignored.map((name) => name.toLowerCase()));
  const forwarded = Object.entries(headers).filter(([name]) => !names.has(name) && !HOP_BY_HOP.has(name));
  return Object.fromEntries(forwarded.flatMap(([name, value]) => (value === undefined ? [] : [[name, joinedHeader(value)]])));
}

/**
 * Returns the forwarded headers for servers that must not get session variables and secrets as the client sent them.
 * @param ignored names of headers that are not forwarded, instead of the default list
 */
export function clientHeaders(headers: IncomingHttpHeaders, ignored?: readonly string[]): Record<string, string> {
  const all = ignored === undefined ? forwardedHeaders(headers) : forwardedExcept(headers, ignored);
  const forwarded = Object.entries(all).filter(([name]) => !name.startsWith('x-svc-'));
  for (const name of RENAMED) {
    const value = headers[name];
    if (value !== undefined) forwarded.push([`x-forwarded-${name}`, value]);
  }
  return Object.fromEntries(forwarded);
}

/** Joins the values of a repeated header. */
export function joinedHeader(value: string | string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}
