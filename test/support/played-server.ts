import { createServer, type IncomingHttpHeaders, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface PlayedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface PlayedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown;
  /** ms before the answer */
  readonly delay?: number;
}

export interface PlayedServer {
  readonly url: string;
  /** What was asked, in order. */
  readonly requests: PlayedRequest[];
  /** Replaced by tests; null leaves the request without an answer. */
  answer: (request: PlayedRequest) => PlayedAnswer | null;
  close(): Promise<void>;
}

/** A real HTTP server, played by a test. With `tls` it speaks HTTPS. */
export async function playServer(tls?: { readonly key: string; readonly cert: string }): Promise<PlayedServer> {
  const played: Omit<PlayedServer, 'url' | 'close'> = { requests: [], answer: () => ({}) };
  const listener: Parameters<typeof createServer>[1] = (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = incoming;
      const request: PlayedRequest = { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
      played.requests.push(request);
      const answer = played.answer(request);
      if (answer === null) return;
      const { status = 200, body = '', delay = 0 } = answer;
      setTimeout(() => {
        outgoing.writeHead(status, answer.headers);
        outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
      }, delay);
    });
  };
  const options: ServerOptions = { keepAlive: true };
  const server = tls === undefined ? createServer(options, listener) : createTlsServer({ ...options, ...tls }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(played, {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    async close(): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  });
}
