/** Combines the headers of a client's first message with those of its handshake. */
import type { IncomingHttpHeaders } from 'node:http';
import { isStorableText } from '../../auth/session-variables.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { shortened } from '../../errors/shortened.ts';
import type { JsonObject } from '../../util/json.ts';
import { at, ROOT } from '../../util/path.ts';

/** Valid header names of HTTP (RFC 9110, section 5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const LINE_END = /[\r\n\0]/;

/** Headers that only the handshake may set: a page must not choose its origin, and the others describe the connection. */
const HANDSHAKE_ONLY: ReadonlySet<string> = new Set([
  'connection',
  'upgrade',
  'host',
  'origin',
  'referer',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'keep-alive',
]);

function isHandshakeOnly(name: string): boolean {
  return HANDSHAKE_ONLY.has(name) || name.startsWith('sec-');
}

/** Returns the headers of a handshake for authentication and forwarding. */
export function handshakeHeaders(headers: IncomingHttpHeaders, withCookie: boolean): IncomingHttpHeaders {
  const forwarded: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (name === 'upgrade' || name === 'connection' || name.startsWith('sec-websocket-')) continue;
    if (name !== 'cookie' || withCookie) forwarded[name] = headers[name];
  }
  return forwarded;
}

/**
 * Validates the headers in the payload of a client's first message.
 * @param limit maximum length of all names and values, in characters
 * @throws SvcError invalid-headers
 */
export function payloadHeaders(payload: JsonObject, limit: number): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  let size = 0;
  for (const [name, value] of Object.entries(payload)) {
    const path = at(at(at(ROOT, 'payload'), 'headers'), shortened(name));
    if (!NAME.test(name)) throw new SvcError('invalid-headers', `"${shortened(name)}" is not a valid header name`, { path });
    if (typeof value !== 'string') throw new SvcError('invalid-headers', `the header "${shortened(name)}" must be a string`, { path });
    if (LINE_END.test(value) || !isStorableText(value)) {
      throw new SvcError('invalid-headers', `the header "${shortened(name)}" has invalid characters`, { path });
    }
    size += name.length + value.length;
    if (size > limit) throw new SvcError('invalid-headers', `the headers exceed ${limit} characters`);
    const lower = name.toLowerCase();
    if (!isHandshakeOnly(lower)) headers[lower] = value;
  }
  return headers;
}
