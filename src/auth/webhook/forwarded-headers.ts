import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHead } from '../credentials.ts';

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
  // These belong to one connection (RFC 9110, 7.6.1).
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers of a GET to the webhook: the client's, but for those about its own request. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const ofConnection = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const forwarded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_FORWARDED.has(name) || ofConnection.has(name)) continue;
    forwarded[name] = joined(value);
  }
  return forwarded;
}

/** All headers of the client under the names that it used, for the body of a POST. */
export function describedHeaders({ headers, rawHeaders = [] }: RequestHead): Record<string, string> {
  const spelled = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) spelled.set((rawHeaders[i] as string).toLowerCase(), rawHeaders[i] as string);
  const described: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) described[spelled.get(name) ?? name] = joined(value);
  }
  return described;
}

function joined(value: string | string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}
