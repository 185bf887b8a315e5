/**
 * Queues of deliveries in a database: types only. The delivery engine takes events under a lease, delivers them and records the outcome.
 * Only the store and the worker depend on the type of the events.
 */

/** An event to deliver. */
export interface QueuedEvent {
  readonly id: string;
  /** Name of its trigger or action. Limits and fairness apply per name. */
  readonly queue: string;
  /** Number of recorded attempts. */
  readonly tries: number;
  /** Size in characters, for events that may be large. */
  readonly size?: number;
}

/**
 * The right of an instance to deliver events. It expires unless the instance renews it, which frees the events of an instance that has
 * stopped.
 */
export interface Lease {
  /** ID of the instance, new at every start of the service. */
  readonly holder: string;
  /** Duration from the time at which the database grants or renews it, by the database's clock. */
  readonly seconds: number;
}

/**
 * An outcome with the `tries` of its event. It is ignored if they have grown since: then the outcome was recorded before and only the
 * response of the database was lost. An attempt counts once.
 */
export type Attempted<O> = O & { readonly tries: number };

/** A trigger or action whose events are taken. */
export interface TriggerQueueRequest {
  readonly name: string;
  /** Maximum number of events to take now. */
  readonly limit: number;
  /** Maximum number of events under a lease at any time, in all instances together. Default: unlimited. */
  readonly overall?: number;
}

export interface FetchRequest {
  readonly lease: Lease;
  /** Maximum number of events of all queues together. */
  readonly limit: number;
  /** Size in bytes after which no more events are taken. Stores of small events may ignore it. */
  readonly bytes?: number;
  /** Only their events are taken. */
  readonly queues: readonly TriggerQueueRequest[];
}

/**
 * Store of events `E` and outcomes `O`. Each method is one short transaction.
 * @throws SvcError, all methods, if the database does not answer; whether the transaction was committed is then unknown
 */
export interface EventStore<E extends QueuedEvent, O extends { readonly id: string }> {
  /**
   * Takes due events that are under no lease, or under one that has ended; within a queue the longest due first. In an ordered queue an
   * event is skipped while an earlier one with the same key is neither delivered nor failed, or another one with the key is under a lease.
   * Does not wait for locks. Its own locks are released when the lease is over, even if the instance hangs meanwhile.
   */
  fetch(request: FetchRequest): Promise<readonly E[]>;
  /** Renews a lease. @returns the IDs for which the holder still had it */
  renew(lease: Lease, ids: readonly string[]): Promise<readonly string[]>;
  /** Records outcomes and ends the leases of events that the holder still has and that were not recorded before. @returns their IDs */
  record(lease: Lease, outcomes: readonly Attempted<O>[]): Promise<readonly string[]>;
  /** Ends leases as if the events had never been taken. */
  release(lease: Lease, ids: readonly string[]): Promise<void>;
  /** Calls `wake` when there may be new events. Never rejects. Without it the queue is only polled. */
  listen?(wake: () => void): Promise<{ stop(): Promise<void> }>;
}

/** A change of a row that an event trigger captured, or a manual event. */
export interface CapturedEvent extends QueuedEvent {
  readonly schema: string;
  readonly table: string;
  /** Creation time as webhooks receive it: `2024-05-01T10:00:00.123456`. */
  readonly createdAt: string;
  /** Seconds from its creation, or from the time of its next attempt, until it was taken. */
  readonly age: number;
  /** JSON text of `{op, data, session_variables, trace_context}`. */
  readonly payload: string;
}

/** A delivery attempt, for the log of invocations. */
export interface InvocationRecord {
  /** HTTP status; `null` without an answer. */
  readonly status: number | null;
  /** JSON text. */
  readonly request: string;
  /** JSON text. */
  readonly response: string;
}

/** Outcome of a delivery. With an invocation `tries` grows by one. */
export interface DeliveryOutcome {
  readonly id: string;
  readonly result: DeliveryResult;
  /** `null` if nothing was sent. */
  readonly invocation: InvocationRecord | null;
}

export type DeliveryResult =
  | { readonly kind: 'delivered' }
  /** Retried after a delay. */
  | { readonly kind: 'retry'; readonly seconds: number }
  /** Out of retries. */
  | { readonly kind: 'failed' }
  /** Never tried because it came too late. Scheduled events only. */
  | { readonly kind: 'dead' };

/** Queue of the events of a source. */
export type CapturedEventStore = EventStore<CapturedEvent, DeliveryOutcome>;
