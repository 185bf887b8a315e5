import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../auth/authenticate.ts';
import type { CredentialPlace } from '../auth/credentials.ts';
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { CacheSelection } from '../pipeline/response-cache.ts';
import type { MemoryHold } from '../pipeline/result-memory.ts';
import type { Administration } from '../admin-api/administration.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { MetricsPage } from '../observability/metrics/print.ts';
import type { Observer } from '../observability/observation.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import type { SourceHealth } from '../state/source-health.ts';
import type { Snapshots, State } from '../state/state.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { Answers } from './answers.ts';
import type { PagePolicy } from './cross-site.ts';
import type { TrustedProxies } from './client-address.ts';
import type { HttpMeter } from './http-meter.ts';
import type { LongLived } from './long-lived.ts';
import type { Uploads } from './read-body.ts';
import type { Reply } from './reply.ts';
import type { CancellationSource } from '../util/cancellation.ts';
import type { Json, JsonObject } from '../util/json.ts';
import type { LoggedQuery, QueryLogging } from './query-logging.ts';
import type { ConsoleState } from './console-state.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';

/** What the metrics endpoint tells, and whom. */
export interface MetricsAccess {
  readonly page: MetricsPage;
  /** No secret is needed. */
  readonly isOpen: boolean;
  admits(secret: string): boolean;
}

/** What every route may use. */
export interface ServerContext {
  readonly authenticator: Authenticator;
  readonly state: State & Snapshots;
  readonly pipeline: RequestPipeline;
  readonly subscriptions: Subscriptions;
  readonly observe: Observer;
  readonly uploads: Uploads;
  /** Forgets answers of queries, on all instances. @returns how many were here @throws SvcError when the others cannot be told */
  readonly clearAnswers: (which: CacheSelection) => Promise<number>;
  /** Which pages of browsers may use the service. */
  readonly pages: PagePolicy;
  readonly sourceHealth: Pick<SourceHealth, 'reports'>;
  /** Whether what is to be done at the start is done; absent: there is nothing. */
  readonly isReady?: () => boolean;
  /** Traces requests; where its tracer is null, nothing. */
  readonly tracing: { current(): Tracer | null };
  /** Counts what goes over HTTP. */
  readonly meter: Counted<HttpMeter>;
  /** What the metrics endpoint tells, and whom; null: nothing. */
  readonly metrics: MetricsAccess | null;
  /** The answer of the config endpoint. */
  readonly configReport: JsonObject;
  /** What it adds where all options are asked for. */
  readonly optionsReport: Json;
  readonly console: ConsoleState;
  /** Of the administration endpoints; they check the role themselves. */
  readonly handlers: Pick<Administration, 'metadata' | 'queryV1' | 'queryV2'>;
  readonly options: {
    readonly enabledApis: ReadonlySet<string>;
    readonly queryLogging: QueryLogging;
    readonly bodyLimit: number;
    /** Weight of the values in JSON of clients, for each megabyte. */
    readonly jsonSizeLimit: number;
    readonly batchLimit: number;
    /** ms */
    readonly requestTimeout: number;
    readonly devMode: boolean;
    readonly adminInternalErrors: boolean;
    readonly preserve401Errors: boolean;
    /** `*`, a list of origins, or null when CORS is switched off. */
    readonly corsDomains: '*' | readonly string[] | null;
    readonly version: string;
    readonly trustedProxies: TrustedProxies;
    /** REST endpoints are described in the form of version 2. */
    readonly version2OpenApi: boolean;
  };
}

/** The connections of a server that runs. */
export interface ServerConnections {
  readonly answers: Answers;
  /** Websockets and event streams. */
  readonly longLived: LongLived;
  /** Bytes of a request before its body. */
  readonly maxHeaderLength: number;
  /** The service is about to stop: requests are answered, but no more should come. */
  isDraining(): boolean;
}

/** One request on its way. Routes fill in what the log wants to know. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly connections: ServerConnections;
  readonly requestId: string;
  readonly path: string;
  /** Parameters of the URL; most requests never look. Whoever handles a request finds them well encoded. */
  query(): URLSearchParams;
  /** Set when the client goes away. */
  readonly signal: CancellationSource;
  /** Part of the result budget that it holds until its answer is sent. */
  readonly hold: MemoryHold;
  /** Where the request's credentials are. */
  readonly place: CredentialPlace;
  /** Of the client, behind trusted proxies. */
  readonly address: string;
  session: Session | null;
  /** Of the request; null: nothing is traced. */
  trace: Span | null;
  /** The route; null until it is found, and where there is none. */
  endpoint: string | null;
  /** Values of `Set-Cookie` headers; null for none. */
  cookies: readonly string[] | null;
  mode: 'single' | 'batched' | 'non-graphql' | 'error';
  operationName: string | null;
  /** For the log: GraphQL requests, or an operation of the administration. */
  readonly loggedQueries: LoggedQuery[];
  /** Set when a part of a batch failed. */
  failed: boolean;
  /** For the log, where it differs: the path without the variables that are not to be shown. */
  loggedPath: string | null;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Set where everybody may look, from whatever page: nothing is told but what everybody may know. */
  readonly isPublic?: true;
  /** Asked by machines all the time: not counted among requests. */
  readonly isProbe?: true;
  /** How to say that the request is refused; absent: as the administration does. */
  refuse?(error: SvcError): Reply;
  /** The API that must be enabled; absent: always there. */
  readonly api?: string;
  handle(exchange: Exchange, context: ServerContext): Promise<Reply>;
}

/** Bytes of the cookies that a client gets: many clients and proxies refuse an answer whose headers have more than 16 KiB. */
const MAX_COOKIES = 8192;

/** A cookie for the client; one that it gets already and one that is too much are left out. */
export function addCookie(exchange: Exchange, cookie: string): void {
  const cookies = exchange.cookies ?? [];
  const size = cookies.reduce((sum, { length }) => sum + length, cookie.length);
  if (size <= MAX_COOKIES && !cookies.includes(cookie)) exchange.cookies = [...cookies, cookie];
}

/** Whether error internals may be shown to this session. */
export function showsInternal(context: ServerContext, session: Session | null): boolean {
  return context.options.devMode || (context.options.adminInternalErrors && session?.role === 'admin');
}
