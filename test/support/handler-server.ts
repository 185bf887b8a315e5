/** A real HTTP server for a test that answers action calls, with injectable faults. */
import {
  createServer as createPlainServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface HandlerRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly body: string;
  /** The payload if the body contains one. */
  readonly json: HandlerPayload;
}

export interface HandlerPayload {
  readonly action: { readonly name: string };
  readonly input: Readonly<Record<string, unknown>>;
  readonly session_variables: Readonly<Record<string, string>>;
  readonly request_query: string | null;
}

export interface HandlerAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

export interface HandlerServer {
  readonly url: string;
  /** All requests in order. */
  readonly requests: HandlerRequest[];
  /** `reset`: breaks the connection; `hang`: never responds. */
  answer: (request: HandlerRequest) => HandlerAnswer | 'reset' | 'hang' | Promise<HandlerAnswer>;
  close(): Promise<void>;
}

/** @param tls key and certificate of an HTTPS server; HTTP if undefined */
export async function startHandlerServer(tls?: { readonly key: string; readonly cert: string }): Promise<HandlerServer> {
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const request: HandlerRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body,
      json: payloadOf(body),
    };
    handler.requests.push(request);
    const answer = await handler.answer(request);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      incoming.socket.resetAndDestroy();
      return;
    }
    const { status = 200, headers = {}, body: json = null } = answer;
    const text = typeof json === 'string' ? json : JSON.stringify(json);
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers } as never).end(text);
  };
  const listener: Server = tls === undefined ? createPlainServer() : createSecureServer({ key: tls.key, cert: tls.cert });
  listener.on('request', (incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const handler: HandlerServer = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests: [],
    answer: () => ({ body: null }),
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      listener.closeAllConnections();
      await closed;
    },
  };
  return handler;
}

function payloadOf(body: string): HandlerPayload {
  try {
    return JSON.parse(body) as HandlerPayload;
  } catch {
    // Transforms create bodies of other shapes.
    return { action: { name: '' }, input: {}, session_variables: {}, request_query: null };
  }
}
