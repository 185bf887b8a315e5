/** All websockets: who may open one, and how they come to their end. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ServerOptions, WebSocketServer } from 'ws';
import { encodeLoggedError, toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { LegacyWs } from '../../subscriptions/protocols/legacy-ws.ts';
import { TransportWs } from '../../subscriptions/protocols/transport-ws.ts';
import { textOfBytes } from '../../util/bytes.ts';
import type { Answers } from '../answers.ts';
import type { ServerContext } from '../context.ts';
import { clientAddress } from '../client-address.ts';
import { corsHeaders } from '../cors.ts';
import { checkPage } from '../cross-site.ts';
import type { LongLived } from '../long-lived.ts';
import { adminErrorReply } from '../reply.ts';
import { originForm } from '../origin-form.ts';
import { SocketConnection, type SocketLimits } from './connection.ts';
import { checkHead } from '../request-head.ts';
import { handshakeHeaders } from './init-headers.ts';

export interface SocketOptions extends SocketLimits {
  /** Compress messages for clients that can read that. */
  readonly compression: boolean;
  /** Let cookies count where CORS is switched off. */
  readonly readCookie: boolean;
}

/** Where websockets are, and whether operations that are refused get their error bare there. */
const PATHS: ReadonlyMap<string, boolean> = new Map([
  ['/v1/graphql', false],
  ['/v1alpha1/graphql', true],
]);
const MODERN = 'graphql-transport-ws';
const LEGACY = 'graphql-ws';
/** The code that `graphql-transport-ws` has for it. */
const UNKNOWN_PROTOCOL = 4406;
/** ms that a client has to say that it has heard of the end. */
const CLOSE_TIMEOUT = 3000;
/** Frames that one message may come in. */
const MAX_FRAMES = 4096;

/** Little memory for each socket, and none of it kept from message to message. */
const COMPRESSION = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 12,
  zlibDeflateOptions: { level: 1, memLevel: 5 },
  concurrencyLimit: 4,
} as const;

/** Settings that the types of the library do not know yet. */
interface LibrarySettings {
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
  readonly closeTimeout: number;
}

export class Sockets {
  readonly #context: ServerContext;
  readonly #options: SocketOptions;
  readonly #answers: Answers;
  readonly #longLived: LongLived;
  readonly #library: WebSocketServer;

  constructor(context: ServerContext, options: SocketOptions, answers: Answers, longLived: LongLived) {
    this.#context = context;
    this.#options = options;
    this.#answers = answers;
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

  /** A client asks for a websocket. @param head what it has sent behind its request */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const id = randomUUID();
    const path = originForm(request.url).split('?', 1)[0] as string;
    const bareErrors = PATHS.get(path);
    try {
      this.#check(request, bareErrors !== undefined);
    } catch (thrown) {
      this.#reject(id, socket, toSvcError(thrown));
      return;
    }
    const { headers } = request;
    const { corsDomains } = this.#context.options;
    const handshake = {
      headers,
      kept: handshakeHeaders(headers, corsDomains !== null || this.#options.readCookie),
      address: clientAddress(request, this.#context.options.trustedProxies),
    };
    this.#library.handleUpgrade(request, socket, head, (websocket) => {
      // Nothing that was not offered may be chosen; a browser ends it then by itself. Who offers nothing speaks the older one.
      if (websocket.protocol === '' && headers['sec-websocket-protocol'] !== undefined) {
        websocket.on('error', () => undefined);
        websocket.close(UNKNOWN_PROTOCOL, 'Subprotocol not acceptable');
        const offered = `none of the offered protocols is known: ${MODERN} and ${LEGACY} are`;
        this.#observeRejection(id, new SvcError('not-supported', offered));
        return;
      }
      const protocol = websocket.protocol === MODERN ? new TransportWs() : new LegacyWs(bareErrors === true);
      const connection = new SocketConnection(this.#context, this.#options, this.#answers, { id, websocket, socket, protocol, handshake });
      connection.onClosed(this.#longLived.add(connection));
    });
  }

  /** @throws SvcError when there is no websocket for such a request */
  #check(request: IncomingMessage, isKnown: boolean): void {
    const { authenticator, options, pages } = this.#context;
    if (this.#longLived.isStopping) throw new SvcError('unexpected', 'the server is shutting down', { status: 503 });
    if (!isKnown || !options.enabledApis.has('graphql')) throw new SvcError('not-found', 'resource does not exist', { status: 404 });
    checkHead(request, this.#options.headers);
    const { headers } = request;
    const { origin, host } = headers;
    const { corsDomains } = options;
    const isOwn = headers['sec-fetch-site'] === 'same-origin' || (host !== undefined && origin?.split('://')[1] === host);
    if (origin !== undefined && corsDomains !== null && !isOwn && corsHeaders(request, corsDomains) === null) {
      throw new SvcError('access-denied', 'received origin header does not match configured CORS domains');
    }
    // Other credentials may still come in the first message.
    if (authenticator.place(headers) === 'open') checkPage('GET', headers, 'open', pages);
    this.#longLived.checkRoom();
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
    // What the client still sends is of no interest, but it should hear the answer.
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
