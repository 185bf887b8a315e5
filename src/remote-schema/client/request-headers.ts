/** Headers of a request to a GraphQL server. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../../auth/session.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { clientHeaders, joinedHeader } from '../../webhooks/client-headers.ts';
import type { RemoteConnection } from './connection.ts';

const USER_AGENT = 'svc-graphql';

/** Headers that trace a request through several services: W3C Trace Context and B3. */
const TRACE_HEADERS = ['traceparent', 'tracestate', 'b3', 'x-b3-traceid', 'x-b3-spanid', 'x-b3-parentspanid', 'x-b3-sampled', 'x-b3-flags'];

/** Returns the headers that every request has. */
export function defaultHeaders(): Record<string, string> {
  return { 'content-type': 'application/json', accept: 'application/json, application/graphql-response+json', 'user-agent': USER_AGENT };
}

/**
 * Returns the headers of a request on behalf of a client. Configured headers take precedence over session variables, and these over
 * headers of the client. The admin secret is never sent, since it is not a session variable.
 * @param client headers of its request
 * @throws SvcError remote-schema-error for a session variable that is not a valid header
 */
export function clientCallHeaders(
  { headers: configured, forwardClientHeaders }: RemoteConnection,
  session: Session,
  client: IncomingHttpHeaders = {},
): Record<string, string> {
  const headers = defaultHeaders();
  for (const name of TRACE_HEADERS) {
    const value = client[name];
    if (value !== undefined) headers[name] = joinedHeader(value);
  }
  if (forwardClientHeaders) Object.assign(headers, clientHeaders(client));
  for (const [name, value] of session.variables) headers[name] = headerText(name, value);
  return Object.assign(headers, configured);
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const HEADER_TEXT = /^[\t -~\u0080-\u00ff]*$/;

/** Encodes text for a header, one byte per character: text beyond Latin-1 is sent as UTF-8. */
function headerText(name: string, value: string): string {
  const bytes = !/[\u0100-\uffff]/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');
  if (HEADER_NAME.test(name) && HEADER_TEXT.test(bytes)) return bytes;
  throw new SvcError('remote-schema-error', `the session variable ${JSON.stringify(name)} cannot be sent to a remote schema as a header`);
}
