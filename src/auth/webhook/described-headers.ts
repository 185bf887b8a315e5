import { joinedHeader } from '../../webhooks/client-headers.ts';
import type { RequestHead } from '../credentials.ts';

/** Returns all headers of the client, names spelled as sent, for the body of a POST. */
export function describedHeaders({ headers, rawHeaders = [] }: RequestHead): Record<string, string> {
  const spelled = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) spelled.set((rawHeaders[i] as string).toLowerCase(), rawHeaders[i] as string);
  const described: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) described[spelled.get(name) ?? name] = joinedHeader(value);
  }
  return described;
}
