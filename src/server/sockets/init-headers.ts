/** Who a client is, as its first message and the handshake of its socket say it together. */
import type { IncomingHttpHeaders } from 'node:http';
import { isStorableText } from '../../auth/session-variables.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { shortened } from '../../errors/shortened.ts';
import type { JsonObject } from '../../util/json.ts';
import { at, ROOT } from '../../util/path.ts';

/** Names as HTTP has them (RFC 9110, section 5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const LINE_END = /[\r\n\0]/;

/** Of the handshake alone: where a page comes from is not for the page to say, and the rest is about the connection. */
const OF_HANDSHAKE: ReadonlySet<string> = new Set([
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

function isOfHandshake(name: string): boolean {
  return OF_HANDSHAKE.has(name) || name.startsWith('sec-');
}

/** What is kept of a handshake for the authentication and for servers that may see the client's headers. */
export function handshakeHeaders(headers: IncomingHttpHeaders, withCookie: boolean): IncomingHttpHeaders {
  const kept: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (name === 'upgrade' || name === 'connection' || name.startsWith('sec-websocket-')) continue;
    if (name !== 'cookie' || withCookie) kept[name] = headers[name];
  }
  return kept;
}

/**
 * The headers in the payload of a client's first message.
 * @param limit characters of all names and values
 * @throws SvcError invalid-headers
 */
export function payloadHeaders(given: JsonObject, limit: number): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  let size = 0;
  for (const [name, value] of Object.entries(given)) {
    const path = at(at(at(ROOT, 'payload'), 'headers'), shortened(name));
    if (!NAME.test(name)) throw new SvcError('invalid-headers', `"${shortened(name)}" is no name of a header`, { path });
    if (typeof value !== 'string') throw new SvcError('invalid-headers', `the header "${shortened(name)}" must be a text`, { path });
    if (LINE_END.test(value) || !isStorableText(value)) {
      throw new SvcError('invalid-headers', `the header "${shortened(name)}" has characters that no header can have`, { path });
    }
    size += name.length + value.length;
    if (size > limit) throw new SvcError('invalid-headers', `the headers have more than ${limit} characters`);
    const lower = name.toLowerCase();
    if (!isOfHandshake(lower)) headers[lower] = value;
  }
  return headers;
}
