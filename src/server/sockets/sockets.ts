/** All websockets: handshake and access control. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ServerOptions, WebSocketServer } from 'ws';
import { encodeLoggedError, toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { LegacyWs } from '../../subscriptions/protocols/legacy-ws.ts';
import { TransportWs } from '../../subscriptions/protocols/transport-ws.ts';
import { textOfBytes } from '../../util/bytes.ts';
import type { PendingResponses } from '../pending-responses.ts';
import { checkApi, GRAPHQL_ENDPOINTS, type GraphqlEndpoint } from '../routes/graphql-endpoints.ts';
import type { ServerContext } from '../context.ts';
import { clientAddress } from '../client-address.ts';
import { corsHeaders } from '../cors.ts';
import { checkPage } from '../cross-site.ts';
import { checkDeployed } from '../deployment.ts';
import type { LongLived } from '../long-lived.ts';
import { adminErrorReply } from '../reply.ts';
import { originForm } from '../origin-form.ts';
import { SocketConnection, type SocketLimits } from './connection.ts';
import { checkHead } from '../request-head.ts';
import { handshakeHeaders } from './init-headers.ts';

export interface SocketOptions extends SocketLimits {
  /** If true, messages are compressed for clients that support it. */
  readonly compression: boolean;
  /** If true, cookies are used even if CORS is off. */
  readonly readCookie: boolean;
}

const ENDPOINTS: ReadonlyMap<string, GraphqlEndpoint> = new Map(GRAPHQL_ENDPOINTS.map((endpoint) => [endpoint.path, endpoint]));
const MODERN = 'graphql-transport-ws';
const LEGACY = 'graphql-ws';
/** Close code of `graphql-transport-ws` for an unknown subprotocol. */
const UNKNOWN_PROTOCOL = 4406;
/** Time for the closing handshake, in ms. */
const CLOSE_TIMEOUT = 3000;
/** Maximum number of frames of one message. */
const MAX_FRAMES = 4096;

/** Settings with little memory per socket, none of which is kept between messages. */
const COMPRESSION = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 12,
  zlibDeflateOptions: { level: 1, memLevel: 5 },
  concurrencyLimit: 4,
} as const;

/** Settings that are missing in the library's types. */
interface LibrarySettings {
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
  readonly closeTimeout: number;
}

export class Sockets {
  readonly #context: ServerContext;
  readonly #options: SocketOptions;
  readonly #pending: PendingResponses;
  readonly #longLived: LongLived;
  readonly #library: WebSocketServer;

  constructor(context: ServerContext, options: SocketOptions, pending: PendingResponses, longLived: LongLived) {
    this.#context = context;
    this.#options = options;
    this.#pending = pending;
    this.#longLived = longLived;
    const settings: ServerOptions & LibrarySettings = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: options.compression ? COMPRESSION : false,
      maxPayload: options.message,
      maxFragments: MAX_FRAMES,
      maxBufferedChunks: MAX_FRAMES,
      closeTimeout: CLOSE_TIMEOUT,
      handleProtocols: (offered) => (offered.has(MODERN) ? MODERN : offered.has(LEGACY) && LEGACY),
    };
    this.#library = new WebSocketServer(settings);
  }

  /** Handles an upgrade request. @param head the bytes after the request */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const id = randomUUID();
    let endpoint: GraphqlEndpoint;
    try {
      endpoint = this.#check(request);
    } catch (thrown) {
      this.#reject(id, socket, toSvcError(thrown));
      return;
    }
    const { headers } = request;
    const { corsDomains } = this.#context.options;
    const handshake = {
      headers,
      forwarded: handshakeHeaders(headers, corsDomains !== null || this.#options.readCookie),
      address: clientAddress(request, this.#context.options.trustedProxies),
    };
    this.#library.handleUpgrade(request, socket, head, (websocket) => {
      // Browsers fail if the server chooses a protocol that was not offered. Clients that offer none use the older one.
      if (websocket.protocol === '' && headers['sec-websocket-protocol'] !== undefined) {
        websocket.on('error', () => undefined);
        websocket.close(UNKNOWN_PROTOCOL, 'Subprotocol not acceptable');
        const message = `none of the offered subprotocols is supported: expected ${MODERN} or ${LEGACY}`;
        this.#observeRejection(id, new SvcError('not-supported', message));
        return;
      }
      const protocol = websocket.protocol === MODERN ? new TransportWs() : new LegacyWs(endpoint.hasBareErrors);
      const connection = new SocketConnection(this.#context, this.#options, this.#pending, {
        id,
        websocket,
        socket,
        protocol,
        handshake,
        api: endpoint.api,
      });
      connection.onClosed(this.#longLived.add(connection));
    });
  }

  /** @throws SvcError if the request cannot be upgraded */
  #check(request: IncomingMessage): GraphqlEndpoint {
    const { authenticator, isDeployed, options, pages } = this.#context;
    if (this.#longLived.isStopping) throw new SvcError('unexpected', 'the server is shutting down', { status: 503 });
    const endpoint = ENDPOINTS.get(originForm(request.url).split('?', 1)[0] as string);
    if (endpoint === undefined || !options.enabledApis.has('graphql'))
      throw new SvcError('not-found', 'resource does not exist', { status: 404 });
    checkApi(endpoint.api, options);
    checkHead(request, this.#options.headers);
    const { headers } = request;
    checkDeployed(headers, isDeployed());
    const { origin, host } = headers;
    const { corsDomains } = options;
    const isOwn = headers['sec-fetch-site'] === 'same-origin' || (host !== undefined && origin?.split('://')[1] === host);
    if (origin !== undefined && corsDomains !== null && !isOwn && corsHeaders(request, corsDomains) === null) {
      throw new SvcError('access-denied', 'received origin header does not match configured CORS domains');
    }
    // The first message may contain other credentials.
    if (authenticator.place(headers) === 'open') checkPage('GET', headers, 'open', pages);
    this.#longLived.checkLimit();
    return endpoint;
  }

  #reject(id: string, socket: Socket, error: SvcError): void {
    const { status, body, contentType } = adminErrorReply(error, false);
    const text = textOfBytes(body);
    const headers = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Connection: close',
      `Content-Type: ${contentType}`,
      `Content-Length: ${Buffer.byteLength(text)}`,
      ...(status === 503 ? ['Retry-After: 0'] : []),
    ];
    socket.on('error', () => undefined);
    socket.end(`${headers.join('\r\n')}\r\n\r\n${text}`);
    // Reads on, so that the client can receive the response.
    socket.resume();
    setTimeout(() => socket.destroy(), CLOSE_TIMEOUT).unref();
    this.#observeRejection(id, error);
  }

  #observeRejection(id: string, error: SvcError): void {
    this.#context.observe({
      kind: 'websocket',
      websocketId: id,
      userVariables: null,
      expiresAt: null,
      message: null,
      event: { type: 'rejected', error: encodeLoggedError(error) },
    });
  }
}
