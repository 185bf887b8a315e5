import { createServer, type IncomingHttpHeaders, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface FakeServerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface FakeResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Text is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Delay before the response, in ms. */
  readonly delay?: number;
}

export interface FakeServer {
  readonly url: string;
  /** All requests in order. */
  readonly requests: FakeServerRequest[];
  /** Replaced by tests; null leaves the request without a response. */
  answer: (request: FakeServerRequest) => FakeResponse | null;
  close(): Promise<void>;
}

/** A real HTTP server with scripted responses, over HTTPS if `tls` is set. */
export async function startFakeServer(tls?: { readonly key: string; readonly cert: string }): Promise<FakeServer> {
  const played: Omit<FakeServer, 'url' | 'close'> = { requests: [], answer: () => ({}) };
  const listener: Parameters<typeof createServer>[1] = (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = incoming;
      const request: FakeServerRequest = { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
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
