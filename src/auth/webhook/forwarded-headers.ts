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
  // How the client's body comes; the call has none.
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The headers of a GET to the webhook: the client's, but for those about its own request. What the client lists in
 * `Connection` is forwarded nevertheless: else it could take away what a proxy in front has added.
 */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_FORWARDED.has(name)) forwarded[name] = joined(value);
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
