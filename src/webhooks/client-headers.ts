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

/** The same for servers that must not get session variables and secrets as the client wrote them. */
export function clientHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded = Object.entries(forwardedHeaders(headers)).filter(([name]) => !name.startsWith('x-svc-'));
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
