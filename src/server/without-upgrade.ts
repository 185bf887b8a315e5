import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

const NOT_REPEATED: ReadonlySet<string> = new Set(['upgrade', 'http2-settings', 'connection']);

/**
 * Ignores the `Upgrade` header of a request for an unsupported protocol and serves the request (RFC 9110, section 7.8): HTTP/2 clients send
 * the header with every first request. Node has removed such a request from the HTTP stream, so its head is put back in front of the
 * following bytes.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Socket, following: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (!NOT_REPEATED.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`);
  }
  // The client's `close` or `keep-alive` still applies.
  if (/(?:^|,)\s*close\s*(?:,|$)/i.test(request.headers.connection ?? '')) lines.push('Connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  socket.unshift(following.length === 0 ? head : Buffer.concat([head, following]));
  server.emit('connection', socket);
}
