import type { Json, JsonObject } from '../util/json.ts';

/** Everything worth telling, as one union. Code reports observations, the logger subscribes. Nobody calls a logger directly. */
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
  /** Of what is told to a collector. */
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

/** A GraphQL operation that took longer than is usual. */
export interface SlowQueryObservation {
  readonly kind: 'slow-query';
  /** Of the request. */
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  readonly role: string;
  readonly operationName: string | null;
  readonly type: 'query' | 'mutation';
  /** ms */
  readonly duration: number;
  readonly document: string;
  /** Without values. */
  readonly statements: readonly { readonly source: string; readonly sql: string }[];
}

/** An administrator has changed the metadata or a database, or has tried to. No arguments are told: there may be secrets in them. */
export interface AuditObservation {
  readonly kind: 'audit';
  /** Of the request. */
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  readonly role: string;
  /** The session variable `x-svc-user-id`; null: there is none. */
  readonly user: string | null;
  readonly ip: string;
  /** Types of the operations, each once. */
  readonly types: readonly string[];
  readonly versionBefore: number;
  readonly versionAfter: number;
  /** Code of the error; null: it was done. */
  readonly error: string | null;
}

export interface HttpObservation {
  readonly kind: 'http';
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly ip: string;
  readonly status: number;
  readonly role: string | null;
  readonly userVariables: ReadonlyMap<string, string> | null;
  readonly mode: 'single' | 'batched' | 'non-graphql' | 'error';
  readonly operationName: string | null;
  /**
   * The GraphQL request, a list of them for a batch, or an operation of the administration, of either perhaps the name alone;
   * null where that is not to be logged.
   */
  readonly query: Json;
  readonly responseSize: number;
  /** seconds */
  readonly duration: number;
  readonly encoding: string | null;
  /** Absent: nothing is traced. */
  readonly trace?: LoggedTrace | undefined;
  /** Set when the request failed. */
  readonly error: LoggedError | null;
}

export interface LoggedTrace {
  readonly traceId: string;
  readonly spanId: string;
}

/** A query of a GraphQL request, about to be run. */
export interface QueryObservation {
  readonly kind: 'query';
  /** Of the request. */
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  /** `{query, operationName?, variables?}` */
  readonly query: JsonObject;
  /** By the response keys of the root fields, or by the names that lead to a field of another source; null where no database is asked. */
  readonly statements: ReadonlyMap<string, LoggedStatement> | null;
  /** The answer was kept: nobody is asked. */
  readonly isCached?: true;
  /** By the same: what remote schemas are asked; absent where none is. */
  readonly remoteRequests?: ReadonlyMap<string, LoggedRemoteRequest>;
}

/** What a statement of a query has read, in a database that charges for that. */
export interface CostObservation {
  readonly kind: 'query-cost';
  /** Of the request. */
  readonly trace?: LoggedTrace | undefined;
  readonly requestId: string;
  readonly source: string;
  /** null: the database does not say. */
  readonly processedBytes: number | null;
  readonly billedBytes: number | null;
}

/** Its values are not told: all of them are variables of the document. */
export interface LoggedRemoteRequest {
  readonly remoteSchema: string;
  readonly document: string;
}

export interface LoggedStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** A call of the authentication webhook. */
export interface WebhookObservation {
  readonly kind: 'webhook';
  /** Of the request. */
  readonly trace?: LoggedTrace | undefined;
  /** Without what may be secret in it. */
  readonly url: string;
  readonly method: string;
  /** Null when there was no answer; then `error` says why. */
  readonly status: number | null;
  readonly error: string | null;
  /** What is wrong with the answer; it does not quote it. */
  readonly message: string | null;
}

/** What an event is of. */
export type DeliveryKind = 'event-trigger' | 'scheduled-trigger';

/** An attempt to deliver an event, or why there was none. */
export interface DeliveryObservation {
  readonly kind: 'delivery';
  readonly of: DeliveryKind;
  readonly level: 'info' | 'error';
  readonly eventId: string;
  /** The trigger's name; null for one-off events. */
  readonly eventName: string | null;
  /** Without secrets. */
  readonly request: JsonObject | null;
  readonly response: JsonObject;
}

/** What happened to a websocket. */
export interface WebsocketObservation {
  readonly kind: 'websocket';
  /** Of the operation. */
  readonly trace?: LoggedTrace | undefined;
  readonly websocketId: string;
  /** Null until the client has said who it is. */
  readonly userVariables: ReadonlyMap<string, string> | null;
  /** When the session ends: epoch milliseconds, null for never. */
  readonly expiresAt: number | null;
  /** Why the connection ended, where that is known. */
  readonly message: string | null;
  readonly event:
    | { readonly type: 'accepted' | 'closed' }
    /** `rejected`: the handshake; `conn_err`: the client's first message. */
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

/** A handler of an action answered. */
export interface ActionObservation {
  readonly kind: 'action';
  /** Of the request. */
  readonly trace?: LoggedTrace | undefined;
  readonly action: string;
  readonly type: 'query' | 'mutation-synchronous' | 'mutation-asynchronous';
  /** URL, method and headers without what may be secret in them. */
  readonly request: JsonObject;
  /** The same after its transform; null without one. */
  readonly transformedRequest: JsonObject | null;
  /** Bytes of bodies. */
  readonly requestSize: number;
  readonly transformedRequestSize: number | null;
  readonly responseSize: number;
  readonly status: number;
}

/** A health check that did not succeed, or the first one that did again. */
export interface SourceHealthObservation {
  readonly kind: 'source-health';
  readonly source: string;
  readonly status: string;
  readonly timestamp: string;
  readonly error: unknown;
  /** Times in seconds. */
  readonly check: { readonly interval: number; readonly retries: number; readonly attempt: number; readonly timeout: number };
}

/** One run of a poller of subscriptions. */
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

/** Where the time of a run went, in ms. */
export interface RunTimes {
  /** When it began. */
  readonly at: Date;
  /** From the moment when a change was detected; null: it was not because of one. */
  readonly detector: number | null;
  /** Of all batches, which run beside each other. */
  readonly database: number;
  /** Finding out what is new. */
  readonly hashing: number;
  readonly sending: number;
  readonly total: number;
  readonly cohorts: number;
  /** Subscribers that were given an answer. */
  readonly sent: number;
  /** Statements that failed. */
  readonly failures: number;
  readonly batches: readonly { readonly cohorts: number; readonly database: number; readonly bytes: number }[];
}

export type Observer = (observation: Observation) => void;
