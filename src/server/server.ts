/** The HTTP server: routing, request ids, CORS, logging, graceful stop. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { encodeLoggedError, toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { sizeOfBytes } from '../util/bytes.ts';
import type { CancellationSource } from '../util/cancellation.ts';
import { incomingTrace } from '../webhooks/trace-context.ts';
import { MemoryReservation } from '../pipeline/result-memory.ts';
import { PendingResponses } from './pending-responses.ts';
import { Connections } from './connections.ts';
import { clientAddress } from './client-address.ts';
import type { Exchange, Route, ServerConnections, ServerContext } from './context.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { checkNoForm, checkPage } from './cross-site.ts';
import { checkDeployed } from './deployment.ts';
import { queryForLog, urlForLog } from './logged-query.ts';
import { checkHead } from './request-head.ts';
import { originForm } from './origin-form.ts';
import { decodeQueryString } from './parameters.ts';
import { adminErrorReply, notFoundReply, type Reply } from './reply.ts';
import { UNKNOWN_ENDPOINT } from './http-meter.ts';
import { LongLived } from './long-lived.ts';
import { type SocketOptions, Sockets } from './sockets/sockets.ts';
import { sendReply, type Sent } from './send-reply.ts';
import { receiveRequests } from './start-path.ts';
import { serveWithoutUpgrade } from './without-upgrade.ts';
import { administrationRoutes } from './routes/administration.ts';
import { cacheRoutes } from './routes/cache.ts';
import { configRoute } from './routes/config.ts';
import { consoleRoute } from './routes/console.ts';
import { docsRoute } from './routes/docs.ts';
import { explainRoutes } from './routes/explain.ts';
import { graphqlRoutes } from './routes/graphql.ts';
import { healthRoutes } from './routes/health.ts';
import { metricsRoute } from './routes/metrics.ts';
import { openApiRoute } from './routes/open-api.ts';
import { restRoute } from './routes/rest.ts';
import { sourceHealthRoute } from './routes/source-health.ts';
import { welcomeRoute } from './routes/welcome.ts';

export interface HttpServer {
  /** E.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Reports unreadiness to load balancers; requests are still answered. */
  drain(): void;
  /** Closes `ListenOptions.startPath`. */
  endStart(): void;
  /** Stops listening, lets requests finish for at most `limit` ms, then closes the remaining connections. */
  stop(limit: number): Promise<void>;
}

export interface ListenOptions {
  readonly port: number;
  /** `*` for all interfaces. */
  readonly host: string;
  /** Time within which a client must send its request, in ms. */
  readonly clientTimeout: number;
  /** Time within which a client must read some of its response, in ms; 0 for no limit. */
  readonly responseTimeout: number;
  /** Maximum size of a request before its body, in bytes. */
  readonly maxHeaderLength: number;
  /** Secret path below which the tasks at start reach all endpoints, even disabled ones; `null` for none. */
  readonly startPath: string | null;
  readonly sockets: SocketSettings;
}

export interface SocketSettings extends Omit<SocketOptions, 'keepAlive' | 'headers'> {
  /** Maximum number of websockets and event streams. */
  readonly connections: number;
  /** Interval of keep-alive messages, in ms; 0 for none. */
  readonly keepAlive: number;
  /** If true, every metadata change closes all of them, so that clients reconnect. */
  readonly closeOnChange: boolean;
}

/** Read-only routes, for GET and HEAD. */
const VIEWS: readonly Route[] = [...healthRoutes, sourceHealthRoute, configRoute, openApiRoute, welcomeRoute, metricsRoute];
const ROUTES: ReadonlyMap<string, Route> = new Map([
  ...[...graphqlRoutes, ...administrationRoutes, ...cacheRoutes, ...VIEWS, ...explainRoutes].map((route): [string, Route] => [
    `${route.method} ${route.path}`,
    route,
  ]),
  ...VIEWS.map((route): [string, Route] => [`HEAD ${route.path}`, route]),
]);
const KNOWN_ID = /^[\x21-\x7e]{1,256}$/;

/** Failure to listen, with the option that changes the address. */
function listenFailure(error: NodeJS.ErrnoException, { host, port }: ListenOptions): Error {
  const setPort = 'set --server-port (SVC_GRAPHQL_SERVER_PORT) to another port';
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(`port ${port} is in use by another process: stop that one, or ${setPort}`, { cause: error });
    case 'EACCES':
      return new Error(`this user may not listen at port ${port}: ${setPort}, of 1024 or more`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`this machine has no address ${host}: correct --server-host (SVC_GRAPHQL_SERVER_HOST)`, { cause: error });
    default:
      return error;
  }
}

/** Maximum size of all responses that clients have not read, in bytes. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;

export async function startServer(context: ServerContext, options: ListenOptions): Promise<HttpServer> {
  const server = new ListeningServer(context, options);
  await server.listen();
  return server;
}

class ListeningServer implements HttpServer {
  readonly #context: ServerContext;
  readonly #options: ListenOptions;
  readonly #connections = new Connections();
  readonly #pending: PendingResponses;
  readonly #longLived: LongLived;
  readonly #sockets: Sockets;
  readonly #server: Server;
  readonly #endStart: () => void;
  #url = '';
  #stopListening: (() => void) | null = null;
  #isStopping = false;
  #isDraining = false;

  constructor(context: ServerContext, options: ListenOptions) {
    this.#context = context;
    this.#options = options;
    const { connections, keepAlive, closeOnChange: _, ...socketOptions } = options.sockets;
    this.#pending = new PendingResponses(
      { stall: options.responseTimeout, waiting: MAX_WAITING_BYTES },
      () => context.meter.current()?.socketTimes ?? null,
    );
    this.#longLived = new LongLived({ limit: connections, keepAlive });
    this.#sockets = new Sockets(
      context,
      { ...socketOptions, keepAlive: this.#longLived.keepsAlive, headers: options.maxHeaderLength },
      this.#pending,
      this.#longLived,
    );
    this.#server = createServer({
      requestTimeout: options.clientTimeout,
      // Interval for checking timeouts of requests.
      connectionsCheckingInterval: Math.min(5000, Math.max(100, Math.ceil(options.clientTimeout / 4))),
      keepAliveTimeout: 65_000,
      maxHeaderSize: options.maxHeaderLength,
    });
    this.#endStart = this.#receive();
    this.#watchConnections();
  }

  get url(): string {
    return this.#url;
  }

  /** @throws Error that names the option of the address if it cannot be used */
  async listen(): Promise<void> {
    const { sockets, port, host } = this.#options;
    if (sockets.closeOnChange)
      this.#stopListening = this.#context.state.onSnapshot(() => this.#longLived.restart('Server state changed, restarting the server'));
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        reject(listenFailure(error, this.#options));
      });
      this.#server.listen(port, ...(host === '*' ? [] : [host]), () => resolve());
    });
    const shown = host === '*' || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
    this.#url = `http://${shown.includes(':') ? `[${shown}]` : shown}:${(this.#server.address() as AddressInfo).port}`;
  }

  drain(): void {
    this.#isDraining = true;
  }

  endStart(): void {
    this.#endStart();
  }

  async stop(limit: number): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    this.#stopListening?.();
    await Promise.all([this.#longLived.stop(limit), this.#connections.settled(limit)]);
    // Written responses are sent before the socket's end.
    for (const socket of this.#connections.sockets) this.#connections.requests > 0 ? socket.destroy() : socket.end();
    const forced = setTimeout(() => this.#server.closeAllConnections(), 1000);
    await closed;
    this.#pending.stop();
    clearTimeout(forced);
  }

  /** Passes requests and upgrades on. @returns a function that closes the start path */
  #receive(): () => void {
    const server = this.#server;
    const shared: ServerConnections = {
      pending: this.#pending,
      longLived: this.#longLived,
      maxHeaderLength: this.#options.maxHeaderLength,
      isDraining: () => this.#isDraining || this.#isStopping,
    };
    const isStopping = (): boolean => this.#isStopping;
    const receive = (request: IncomingMessage, response: ServerResponse, isOwn: boolean): void => {
      this.#connections.enter(request.socket, (client) => serve({ request, response, isOwn }, this.#context, client, shared, isStopping));
    };
    const endStart = receiveRequests(server, this.#options.startPath, receive);
    server.on('upgrade', (request, socket: Socket, head) => {
      // A response to an earlier request is still being sent.
      if (this.#connections.isBusy(socket)) socket.destroy();
      else if (request.headers.upgrade?.toLowerCase() === 'websocket') this.#sockets.upgrade(request, socket, head);
      else serveWithoutUpgrade(server, request, socket, head);
    });
    return endStart;
  }

  #watchConnections(): void {
    const server = this.#server;
    const connections = this.#connections;
    // Limited by size instead: a limit by count silently drops headers, such as the role that a proxy appends to a client's headers.
    server.maxHeadersCount = 0;
    // Idle timeout of a connection: a running request is no reason to close it, a response that the client does not read is.
    server.timeout = this.#options.responseTimeout;
    server.on('timeout', (socket) => {
      if (socket.writableLength > 0 || !connections.isBusy(socket)) socket.destroy();
    });
    server.on('connection', (socket) => connections.add(socket));
    this.#context.meter.meter.watch(() => ({
      inFlight: connections.requests,
      connections: connections.size,
      longLived: this.#longLived.size,
      sentBytes: this.#pending.traffic.sent,
      receivedBytes: this.#pending.traffic.received,
      bodyBytes: this.#context.uploads.received,
      results: this.#context.pipeline.memory,
    }));
  }
}

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request comes from a task at start of this process. */
  readonly isOwn: boolean;
}

async function serve(
  { request, response, isOwn }: Received,
  context: ServerContext,
  client: CancellationSource,
  connections: ServerConnections,
  stopping: () => boolean,
): Promise<void> {
  const { pending } = connections;
  const started = performance.now();
  const header = request.headers['x-request-id'];
  const requestId = typeof header === 'string' && KNOWN_ID.test(header) ? header : randomUUID();
  const url = originForm(request.url);
  const mark = url.indexOf('?');
  let parameters: URLSearchParams | undefined;
  const reservation = new MemoryReservation(context.pipeline.memory);
  const exchange: Exchange = {
    request,
    reservation,
    connections,
    requestId,
    isOwn,
    path: mark < 0 ? url : url.slice(0, mark),
    query: () => {
      parameters ??= decodeQueryString(mark < 0 ? '' : url.slice(mark + 1));
      return parameters;
    },
    signal: client,
    place: context.authenticator.place(request.headers),
    address: clientAddress(request, context.options.trustedProxies),
    session: null,
    trace: null,
    endpoint: null,
    cookies: null,
    mode: 'non-graphql',
    operationName: null,
    loggedQueries: [],
    failed: false,
    loggedPath: null,
  };
  const cors = corsHeaders(request, context.options.corsDomains);
  if (request.method === 'OPTIONS' && cors !== null) {
    response.writeHead(204, { ...cors, ...preflightHeaders(request) }).end();
    pending.sent(request, response);
    return;
  }
  try {
    await serveExchange(exchange, response, context, cors, connections, stopping, { started, url });
  } finally {
    reservation.release();
  }
}

/** Answers a request and waits until its client has read the response. */
async function serveExchange(
  exchange: Exchange,
  response: ServerResponse,
  context: ServerContext,
  cors: Record<string, string> | null,
  { pending }: ServerConnections,
  stopping: () => boolean,
  { started, url }: { readonly started: number; readonly url: string },
): Promise<void> {
  const { request, requestId } = exchange;
  const reply = stopping() ? SHUTTING_DOWN : await answer(exchange, context);
  const sent: Sent = { size: sizeOfBytes(reply.body), encoding: null, error: reply.error ?? null };
  await sendReply(request, response, reply, {
    requestId,
    cors,
    cookies: exchange.cookies,
    sent,
    isLast: stopping(),
    pending,
    memory: exchange.reservation,
  });
  // From here on, the bytes count with the unread responses.
  exchange.reservation.release();
  const { queryLogging } = context.options;
  const duration = (performance.now() - started) / 1000;
  const size = request.method === 'HEAD' ? 0 : sent.size;
  if (exchange.endpoint !== PROBE)
    context.meter.current()?.done(request, exchange.endpoint ?? UNKNOWN_ENDPOINT, reply.status, duration, size);
  if (exchange.trace !== null) endTrace(exchange, reply.status, sent);
  // Successful responses to probes are not logged.
  if (exchange.endpoint !== PROBE || reply.status !== 200)
    context.observe({
      kind: 'http',
      requestId,
      method: request.method ?? '',
      url: urlForLog(url, exchange, queryLogging),
      httpVersion: request.httpVersion,
      ip: exchange.address,
      clientName: request.headers['x-svc-client-name']?.toString(),
      status: reply.status,
      role: exchange.session?.role ?? null,
      userVariables: exchange.session?.variables ?? null,
      mode: sent.error === null ? exchange.mode : 'error',
      operationName: exchange.operationName,
      query: queryForLog(exchange, sent.error !== null, queryLogging),
      responseSize: size,
      duration,
      encoding: sent.encoding,
      trace: exchange.trace ?? undefined,
      error: sent.error === null ? null : encodeLoggedError(sent.error),
    });
  if (!response.destroyed) await pending.sent(request, response);
}

function beginTrace(exchange: Exchange, { tracing }: ServerContext): void {
  const tracer = tracing.current();
  if (tracer === null) return;
  const { request, endpoint, path, requestId, address } = exchange;
  const span = tracer.begin(`${request.method} ${endpoint}`, 'server', incomingTrace(request.headers));
  exchange.trace = span;
  if (!span.isSampled) return;
  span.set('http.request.method', request.method).set('http.route', endpoint).set('url.path', path).set('url.scheme', 'http');
  span.set('network.protocol.version', request.httpVersion).set('client.address', address);
  span.set('user_agent.original', request.headers['user-agent']).set('svc.request_id', requestId);
}

/** Errors of the client do not fail the span. */
function endTrace({ trace, session }: Exchange, status: number, { error }: Sent): void {
  if (trace === null || !trace.isSampled) return;
  trace.set('http.response.status_code', status);
  if (session !== null) trace.set('user.roles', [session.role]);
  if (status >= 500) trace.fail(String(status));
  else if (error !== null && error.status >= 500) trace.fail(error.code);
  trace.end();
}

/** Stands for the endpoint of probes, which are not counted. */
const PROBE = '';

const SHUTTING_DOWN: Reply = {
  ...adminErrorReply(new SvcError('unexpected', 'the server is shutting down', { status: 503 }), false),
  headers: { 'Retry-After': '0', 'Cache-Control': 'no-store' },
};

function answer(exchange: Exchange, context: ServerContext): Promise<Reply> {
  const ofFiles = consoleRoute(exchange, context.console) ?? docsRoute(exchange, context);
  const known = ROUTES.get(`${exchange.request.method} ${exchange.path}`);
  const route = ofFiles ?? known ?? restRoute(exchange);
  try {
    checkHead(exchange.request, exchange.connections.maxHeaderLength);
    if (exchange.request.url?.includes('?') === true) exchange.query();
  } catch (thrown) {
    return Promise.resolve(refusal(route, thrown));
  }
  if (route === undefined || (route.api !== undefined && !exchange.isOwn && !context.options.enabledApis.has(route.api))) {
    return Promise.resolve(notFoundReply());
  }
  if (ofFiles !== undefined) exchange.endpoint = ofFiles.path;
  else exchange.endpoint = known === undefined ? '/api/rest/*' : known.isProbe === true ? PROBE : known.path;
  if (exchange.endpoint !== PROBE) beginTrace(exchange, context);
  if (route.isPublic !== true) {
    try {
      const { method = '', headers } = exchange.request;
      checkDeployed(headers, context.isDeployed());
      checkPage(method, headers, exchange.place, context.pages);
      checkNoForm(method, headers, exchange.place);
    } catch (thrown) {
      return Promise.resolve(refusal(route, thrown));
    }
  }
  return route.handle(exchange, context);
}

function refusal(route: Pick<Route, 'refuse'> | undefined, thrown: unknown): Reply {
  const error = toSvcError(thrown);
  return route?.refuse?.(error) ?? adminErrorReply(error, false);
}
