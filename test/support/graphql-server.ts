/** A real GraphQL server for a test: graphql-js behind HTTP, with injectable faults. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buildSchema, graphql, type GraphQLSchema } from 'graphql';
import { freePort } from './free-port.ts';

export interface GraphqlServerRequest {
  readonly headers: IncomingHttpHeaders;
  /** Undefined if the body is not a JSON object. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
  /** The raw body. */
  readonly body: string;
}

/** A response that replaces the execution of the request. */
export interface RawGraphqlAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Text is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

export interface GraphqlServer {
  readonly url: string;
  /** All requests in order, introspection included. */
  readonly requests: GraphqlServerRequest[];
  /** Number of requests that the client aborted before the response. */
  readonly dropped: GraphqlServerRequest[];
  /** Replaced by tests that change the schema of a running server. */
  schema: GraphQLSchema;
  /** Fields of the root types by name; functions receive `(args, {headers})`. */
  root: Readonly<Record<string, unknown>>;
  /** Delay before each response, in ms. */
  delay: number;
  /** `undefined`: executes the request; `reset`: breaks the connection; `hang`: never responds. */
  answer: (request: GraphqlServerRequest) => RawGraphqlAnswer | 'reset' | 'hang' | undefined;
  /** Headers of every executed response. */
  headers: Readonly<Record<string, string | string[]>>;
  /** Requests other than introspection. */
  asked(): readonly GraphqlServerRequest[];
  /** Stops the server; the port stays available for `open`. */
  close(): Promise<void>;
  /** Restarts the server at the same address. */
  open(): Promise<void>;
}

/**
 * @param schema SDL or a schema object; with interfaces and unions, objects name their type in `__typename`
 * @param root values and functions of the root fields
 */
export async function startGraphqlServer(
  schema: string | GraphQLSchema,
  root: Readonly<Record<string, unknown>> = {},
): Promise<GraphqlServer> {
  let listener = createServer();
  const port = await freePort();
  const listen = async (): Promise<void> => {
    listener = createServer((incoming, outgoing) => void serve(server, incoming, outgoing));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(port, '127.0.0.1', resolve);
    });
  };
  const server: GraphqlServer = {
    get url() {
      return `http://127.0.0.1:${port}/graphql`;
    },
    requests: [],
    dropped: [],
    schema: typeof schema === 'string' ? buildSchema(schema) : schema,
    root,
    delay: 0,
    answer: () => undefined,
    headers: {},
    asked: () => server.requests.filter(({ operationName }) => operationName !== 'IntrospectionQuery'),
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      listener.closeAllConnections();
      await closed;
    },
    open: listen,
  };
  await listen();
  return server;
}

async function serve(server: GraphqlServer, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const request = requestOf(incoming.headers, Buffer.concat(chunks).toString());
  server.requests.push(request);
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) server.dropped.push(request);
  });
  if (server.delay > 0) await new Promise((resolve) => setTimeout(resolve, server.delay));
  const raw = server.answer(request);
  if (raw === 'hang') return;
  if (raw === 'reset') {
    incoming.socket.resetAndDestroy();
    return;
  }
  if (raw !== undefined) {
    const { status = 200, headers = { 'content-type': 'application/json' }, body = '' } = raw;
    outgoing.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    return;
  }
  const result = await graphql({
    schema: server.schema,
    source: request.query,
    rootValue: server.root,
    contextValue: { headers: request.headers },
    variableValues: request.variables,
    operationName: request.operationName,
  });
  outgoing.writeHead(200, { 'content-type': 'application/json', ...server.headers }).end(JSON.stringify(result));
}

function requestOf(headers: IncomingHttpHeaders, body: string): GraphqlServerRequest {
  let json: { query?: string; variables?: Record<string, unknown>; operationName?: string } = {};
  try {
    json = JSON.parse(body) as typeof json;
  } catch {
    // graphql-js reports the missing query.
  }
  return { headers, query: json.query ?? '', variables: json.variables ?? {}, operationName: json.operationName, body };
}
