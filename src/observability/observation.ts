import type { Json, JsonObject } from '../util/json.ts';

/** Union of all events that are logged or counted. Code reports observations to an `Observer`; no code calls the logger directly. */
export type Observation =
  | { readonly kind: 'startup'; readonly message: string; readonly info?: Readonly<Record<string, unknown>> }
  | { readonly kind: 'shutdown'; readonly message: string }
  | HttpObservation
  | QueryObservation
  | CostObservation
  | WebhookObservation
  | WebsocketObservation
  | ActionObservation
  | { readonly kind: 'jwk-refresh'; readonly url: string; readonly message: string; readonly error: string | null }
  | SourceHealthObservation
  | PollerObservation
  | { readonly kind: 'source'; readonly source: string; readonly event: string; readonly message: string }
  /** State of an export to a collector. */
  | { readonly kind: 'telemetry'; readonly data: string; readonly event: 'available' | 'unavailable'; readonly message: string }
  | { readonly kind: 'remote-schema'; readonly remoteSchema: string; readonly event: string; readonly message: string }
  | DeliveryObservation
  | { readonly kind: 'deliveries-fetched'; readonly of: DeliveryKind; readonly detail: JsonObject }
  | { readonly kind: 'cron-events-made'; readonly triggers: number; readonly events: number }
  | {
      readonly kind: 'event-logs-cleaned';
      readonly source: string;
      readonly trigger: string;
      readonly events: number;
      readonly invocations: number;
    }
  | { readonly kind: 'delivery-trouble'; readonly queue: string; readonly message: string }
  | SlowQueryObservation
  | AuditObservation
  | { readonly kind: 'metadata'; readonly message: string; readonly info?: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unexpected'; readonly message: string; readonly error: unknown };

/** GraphQL operation that took longer than `--slow-query-log`. */
export interface SlowQueryObservation {
  readonly kind: 'slow-query';
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  readonly role: string;
  readonly operationName: string | null;
  readonly type: 'query' | 'mutation';
  /** In ms. */
  readonly duration: number;
  readonly document: string;
  /** SQL without its values. */
  readonly statements: readonly { readonly source: string; readonly sql: string }[];
}

/** Change of the metadata or a database by an administrator, or an attempt. Contains no arguments, because they may contain secrets. */
export interface AuditObservation {
  readonly kind: 'audit';
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  readonly role: string;
  /** Session variable `x-svc-user-id`, if there is one. */
  readonly user: string | null;
  readonly ip: string;
  /** Distinct types of the operations. */
  readonly types: readonly string[];
  readonly versionBefore: number;
  readonly versionAfter: number;
  /** Code of the error, or `null` on success. */
  readonly error: string | null;
}

export interface HttpObservation {
  readonly kind: 'http';
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly ip: string;
  /** Header `x-svc-client-name`. */
  readonly clientName?: string | undefined;
  readonly status: number;
  readonly role: string | null;
  readonly userVariables: ReadonlyMap<string, string> | null;
  readonly mode: 'single' | 'batched' | 'non-graphql' | 'error';
  readonly operationName: string | null;
  /**
   * GraphQL request, list of requests for a batch, or operation of an administration API; possibly only its name. `null` if it must not be
   * logged.
   */
  readonly query: Json;
  readonly responseSize: number;
  /** In seconds. */
  readonly duration: number;
  readonly encoding: string | null;
  /** Not set without tracing. */
  readonly trace?: LoggedTrace | undefined;
  readonly error: LoggedError | null;
}

export interface LoggedTrace {
  readonly traceId: string;
  readonly spanId: string;
}

/** GraphQL query that is about to run. */
export interface QueryObservation {
  readonly kind: 'query';
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  /** `{query, operationName?, variables?}` */
  readonly query: JsonObject;
  /** Keyed by response key of the root field, or by the path to a field of another source; `null` without a database. */
  readonly statements: ReadonlyMap<string, LoggedStatement> | null;
  /** The response comes from the cache. */
  readonly isCached?: boolean;
  /** Requests to remote schemas, by the same keys. */
  readonly remoteRequests?: ReadonlyMap<string, LoggedRemoteRequest>;
}

/** Bytes that a statement has read, for databases that charge for them. */
export interface CostObservation {
  readonly kind: 'query-cost';
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  readonly source: string;
  /** `null` if the database does not report it. */
  readonly processedBytes: number | null;
  readonly billedBytes: number | null;
}

/** Request to a remote schema, without the values of its variables. */
export interface LoggedRemoteRequest {
  readonly remoteSchema: string;
  readonly document: string;
}

export interface LoggedStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** Call of the authentication webhook. */
export interface WebhookObservation {
  readonly kind: 'webhook';
  readonly trace?: LoggedTrace | undefined;
  /** URL without secrets. */
  readonly url: string;
  readonly method: string;
  /** `null` if there was no response; `error` has the reason. */
  readonly status: number | null;
  readonly error: string | null;
  /** Problem of the response, without quoting it. */
  readonly message: string | null;
}

export type DeliveryKind = 'event-trigger' | 'scheduled-trigger';

/** Attempt to deliver an event, or the reason why there was none. */
export interface DeliveryObservation {
  readonly kind: 'delivery';
  readonly of: DeliveryKind;
  readonly level: 'info' | 'error';
  readonly eventId: string;
  /** Name of the trigger; `null` for one-off events. */
  readonly eventName: string | null;
  /** Without secrets. */
  readonly request: JsonObject | null;
  readonly response: JsonObject;
}

/** Event of a websocket. */
export interface WebsocketObservation {
  readonly kind: 'websocket';
  readonly trace?: LoggedTrace | undefined;
  readonly websocketId: string;
  /** `null` until the client has authenticated. */
  readonly userVariables: ReadonlyMap<string, string> | null;
  /** End of the session in epoch milliseconds, if it has one. */
  readonly expiresAt: number | null;
  /** Reason for the end of the connection, if known. */
  readonly message: string | null;
  readonly event:
    | { readonly type: 'accepted' | 'closed' }
    /** `rejected`: the handshake failed. `conn_err`: the first message of the client was not accepted. */
    | { readonly type: 'rejected' | 'conn_err'; readonly error: LoggedError }
    | WebsocketOperation;
}

export interface WebsocketOperation {
  readonly type: 'operation';
  readonly operationId: string;
  readonly requestId: string;
  readonly operationName: string | null;
  readonly state: 'started' | 'completed' | 'stopped' | 'query_err';
  readonly error: LoggedError | null;
  /** As in `HttpObservation`. */
  readonly query: Json;
}

export interface LoggedError {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Response of an action handler, its size in bytes; or the reason why there is none, without secrets. */
export type ActionOutcome = { readonly status: number; readonly responseSize: number } | { readonly error: Json };

/** Call of an action handler. */
export interface ActionObservation {
  readonly kind: 'action';
  readonly trace?: LoggedTrace | undefined;
  readonly action: string;
  readonly type: 'query' | 'mutation-synchronous' | 'mutation-asynchronous';
  /** URL, method and headers, without secrets. */
  readonly request: JsonObject;
  /** Request after its transform, if there is one. */
  readonly transformedRequest: JsonObject | null;
  /** Sizes of bodies, in bytes. */
  readonly requestSize: number;
  readonly transformedRequestSize: number | null;
  readonly outcome: ActionOutcome;
}

/** Failed health check, or the first successful one after a failure. */
export interface SourceHealthObservation {
  readonly kind: 'source-health';
  readonly source: string;
  readonly status: string;
  readonly timestamp: string;
  readonly error: unknown;
  /** Times are in seconds. */
  readonly check: { readonly interval: number; readonly retries: number; readonly attempt: number; readonly timeout: number };
}

/** Run of a poller of subscriptions. */
export interface PollerObservation {
  readonly kind: 'poller';
  readonly pollerId: string;
  readonly of: 'live-query' | 'streaming';
  readonly source: string;
  readonly role: string;
  readonly subscribers: number;
  readonly cohorts: number;
  readonly sql: string;
  readonly batchSize: number;
  readonly refetchIntervalMs: number;
  readonly times: RunTimes;
}

/** Parts of the time of a run, in ms. */
export interface RunTimes {
  /** Start of the run. */
  readonly at: Date;
  /** Time since a change was detected; `null` if the run had another reason. */
  readonly detector: number | null;
  /** Time of all batches, which run concurrently. */
  readonly database: number;
  /** Time for comparing results with the previous ones. */
  readonly hashing: number;
  readonly sending: number;
  readonly total: number;
  readonly cohorts: number;
  /** Number of subscribers that received a response. */
  readonly sent: number;
  /** Number of failed statements. */
  readonly failures: number;
  readonly batches: readonly { readonly cohorts: number; readonly database: number; readonly bytes: number }[];
}

export type Observer = (observation: Observation) => void;
