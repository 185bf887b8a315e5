import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../auth/authenticate.ts';
import type { CredentialPlace } from '../auth/credentials.ts';
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { CacheSelection } from '../pipeline/response-cache.ts';
import type { MemoryReservation } from '../pipeline/result-memory.ts';
import type { Administration } from '../admin-api/administration.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { MetricsPage } from '../observability/metrics/print.ts';
import type { Observer } from '../observability/observation.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import type { SourceHealth } from '../state/source-health.ts';
import type { Snapshots, State } from '../state/state.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { PendingResponses } from './pending-responses.ts';
import type { PurgeKeys } from './purge-keys.ts';
import type { PagePolicy } from './cross-site.ts';
import type { TrustedProxies } from './client-address.ts';
import type { HttpMeter } from './http-meter.ts';
import type { LongLived } from './long-lived.ts';
import type { Uploads } from './read-body.ts';
import type { Reply } from './reply.ts';
import type { CancellationSource } from '../util/cancellation.ts';
import type { Json, JsonObject } from '../util/json.ts';
import type { LoggedQuery, QueryLogging } from './query-logging.ts';
import type { StaticState } from './static-files.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';

/** The metrics endpoint and its access control. */
export interface MetricsAccess {
  readonly page: MetricsPage;
  /** True if no secret is needed. */
  readonly isOpen: boolean;
  admits(secret: string): boolean;
}

/** Services of all routes. */
export interface ServerContext {
  readonly authenticator: Authenticator;
  readonly state: State & Snapshots;
  readonly pipeline: RequestPipeline;
  readonly subscriptions: Subscriptions;
  readonly observe: Observer;
  readonly uploads: Uploads;
  /** Clears cached responses on all instances. Returns the number on this one. @throws SvcError if the other instances cannot be notified */
  readonly clearCache: (which: CacheSelection) => Promise<number>;
  /** Keys under which shared caches can drop responses. */
  readonly purgeKeys: PurgeKeys;
  /** Web pages that may use the service. */
  readonly pages: PagePolicy;
  readonly sourceHealth: Pick<SourceHealth, 'reports'>;
  /** Returns true once the tasks at start are done; not set if there are none. */
  readonly isReady?: () => boolean;
  /** Returns false until the project of the service is deployed. */
  readonly isDeployed: () => boolean;
  /** The tracer is `null` if tracing is off. */
  readonly tracing: { current(): Tracer | null };
  readonly meter: Counted<HttpMeter>;
  /** `null` if the metrics endpoint is off. */
  readonly metrics: MetricsAccess | null;
  /** Response of the config endpoint. */
  readonly configReport: JsonObject;
  /** All options, for `?options=true` of the config endpoint. */
  readonly optionsReport: Json;
  readonly console: StaticState;
  /** Returns the documentation; `null` if it is not served. */
  readonly docs: (() => Promise<StaticState>) | null;
  /** Handlers of the administration endpoints; they check the role themselves. */
  readonly handlers: Pick<Administration, 'metadata' | 'queryV1' | 'queryV2'>;
  readonly options: {
    readonly enabledApis: ReadonlySet<string>;
    readonly queryLogging: QueryLogging;
    readonly bodyLimit: number;
    /** Maximum weight of the values in JSON of clients, per megabyte. */
    readonly jsonSizeLimit: number;
    readonly batchLimit: number;
    /** In ms. */
    readonly requestTimeout: number;
    readonly devMode: boolean;
    readonly adminInternalErrors: boolean;
    readonly preserve401Errors: boolean;
    /** `*`, a list of origins, or `null` if CORS is off. */
    readonly corsDomains: '*' | readonly string[] | null;
    readonly version: string;
    readonly trustedProxies: TrustedProxies;
    /** Serves the schema for clients of Relay. */
    readonly relay: boolean;
    /** Describe REST endpoints in the form of version 2. */
    readonly version2OpenApi: boolean;
  };
}

/** The connections of a running server. */
export interface ServerConnections {
  readonly pending: PendingResponses;
  /** Websockets and event streams. */
  readonly longLived: LongLived;
  /** Maximum size of a request before its body, in bytes. */
  readonly maxHeaderLength: number;
  /** True if the service is about to stop: requests are still answered, but load balancers should send no more. */
  isDraining(): boolean;
}

/** One request and its state. Routes fill in the fields for the log. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly connections: ServerConnections;
  readonly requestId: string;
  /** The request comes from a task at start of this process. */
  readonly isOwn: boolean;
  readonly path: string;
  /** Returns the parameters of the URL, whose encoding has been validated before the handler runs. */
  query(): URLSearchParams;
  /** Cancelled when the client disconnects. */
  readonly signal: CancellationSource;
  /** Memory reservation, released when the response is sent. */
  readonly reservation: MemoryReservation;
  /** Location of the request's credentials. */
  readonly place: CredentialPlace;
  /** Address of the client behind trusted proxies. */
  readonly address: string;
  session: Session | null;
  /** Span of the request; `null` if tracing is off. */
  trace: Span | null;
  /** The route; `null` if it is not found (yet). */
  endpoint: string | null;
  /** Values of `Set-Cookie` headers. */
  cookies: readonly string[] | null;
  mode: 'single' | 'batched' | 'non-graphql' | 'error';
  operationName: string | null;
  /** GraphQL requests or administration operations, for the log. */
  readonly loggedQueries: LoggedQuery[];
  /** True if a part of a batch failed. */
  failed: boolean;
  /** Path for the log if it differs: with hidden variables masked. */
  loggedPath: string | null;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Set for routes without credentials, open to all pages: they reveal public information only. */
  readonly isPublic?: boolean;
  /** Set for routes that machines poll: they are not counted as requests. */
  readonly isProbe?: boolean;
  /** Encodes an error before `handle`. Defaults to the form of the administration. */
  refuse?(error: SvcError): Reply;
  /** API that must be enabled; not set if the route is always available. */
  readonly api?: string;
  handle(exchange: Exchange, context: ServerContext): Promise<Reply>;
}

/** A route for all paths below one; `path` is for metrics and traces. */
export type StaticRoute = Omit<Route, 'method'>;

/** Maximum size of a client's cookies, in bytes: many clients and proxies reject responses with more than 16 KiB of headers. */
const MAX_COOKIES = 8192;

/** Adds a cookie for the client, unless it is a duplicate or exceeds the limit. */
export function addCookie(exchange: Exchange, cookie: string): void {
  const cookies = exchange.cookies ?? [];
  const size = cookies.reduce((sum, { length }) => sum + length, cookie.length);
  if (size <= MAX_COOKIES && !cookies.includes(cookie)) exchange.cookies = [...cookies, cookie];
}

/** Returns true if error internals may be shown to this session. */
export function showsInternal(context: ServerContext, session: Session | null): boolean {
  return context.options.devMode || (context.options.adminInternalErrors && session?.role === 'admin');
}
