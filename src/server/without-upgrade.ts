import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

const NOT_REPEATED: ReadonlySet<string> = new Set(['upgrade', 'http2-settings', 'connection']);

/**
 * Serves a request that asks for another protocol than the service speaks, as if it had not: that is what HTTP has for this
 * (RFC 9110, section 7.8), and clients for HTTP/2 ask with every first request. Node has taken such a request out of HTTP
 * by the time it is seen, so its head is put back in front of what follows.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Socket, following: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (!NOT_REPEATED.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`);
  }
  // The client asked to keep or to close the connection there, too.
  if (/(?:^|,)\s*close\s*(?:,|$)/i.test(request.headers.connection ?? '')) lines.push('Connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  socket.unshift(following.length === 0 ? head : Buffer.concat([head, following]));
  server.emit('connection', socket);
}
