/**
 * Queues of deliveries in a database: types only. The delivery engine takes events under a lease, works on
 * them and records what came of it; what an event is, only its store and its worker know.
 */

/** Something to be worked on. */
export interface QueuedEvent {
  readonly id: string;
  /** The trigger or action that it is of: bounds and fairness are by this name. */
  readonly lane: string;
  /** How many attempts were recorded before. */
  readonly tries: number;
  /** Characters of it, where it may be large. */
  readonly size?: number;
}

/**
 * The right of an instance to work on events. It ends by itself, so that the events of an instance that died
 * are free again; an instance that lives renews it.
 */
export interface Lease {
  /** The instance; a new one at every start of the service. */
  readonly holder: string;
  /** How long it holds from the moment that the database grants or renews it, by the database's clock. */
  readonly seconds: number;
}

/**
 * An outcome with the `tries` of the event that it is of. It is left alone where they have grown since: its answer was lost, and an
 * attempt counts once.
 */
export type Attempted<O> = O & { readonly tries: number };

/** A trigger or action whose events are wanted. */
export interface LaneRequest {
  readonly name: string;
  /** So many at most are taken now. */
  readonly limit: number;
  /** So many at most may be under a lease at any time, in all instances together. Absent: any number. */
  readonly overall?: number;
}

export interface FetchRequest {
  readonly lease: Lease;
  /** Of all lanes together. */
  readonly limit: number;
  /** Of what events hold: one that comes when so many bytes are reached is left alone. Stores of small events need not look. */
  readonly bytes?: number;
  /** Events of others are left alone. */
  readonly lanes: readonly LaneRequest[];
}

/**
 * `E` is an event as its worker gets it, `O` what came of one. Each method is one short transaction.
 * @throws SvcError, all of them, when the database does not answer; then nothing has happened, or nobody knows
 */
export interface EventStore<E extends QueuedEvent, O extends { readonly id: string }> {
  /**
   * Takes events that are due and under no lease, or under one that has ended; the longest due first within a lane. Where a lane is ordered,
   * an event is left alone while an earlier one with the same key is neither delivered nor given up, or another one of the key is under a
   * lease. Waits for no lock. What it locks is free when the time of the lease is over, also where the instance stands still in between.
   */
  fetch(request: FetchRequest): Promise<readonly E[]>;
  /** Lets the lease begin anew. @returns the ids for which the holder still had it */
  renew(lease: Lease, ids: readonly string[]): Promise<readonly string[]>;
  /** Writes what came of events and ends their leases, for those whose lease the holder still has and that were not written before. @returns their ids */
  record(lease: Lease, outcomes: readonly Attempted<O>[]): Promise<readonly string[]>;
  /** Ends the leases, as if the events had never been taken. */
  release(lease: Lease, ids: readonly string[]): Promise<void>;
  /**
   * Calls `wake` when there may be something new, often or seldom; never rejects. Absent: the queue is polled alone.
   */
  listen?(wake: () => void): Promise<{ stop(): Promise<void> }>;
}

/** A row's change that an event trigger captured, or a manual one. */
export interface CapturedEvent extends QueuedEvent {
  readonly schema: string;
  readonly table: string;
  /** As receivers see it: `2024-05-01T10:00:00.123456`. */
  readonly createdAt: string;
  /** Since it was made, or since its next attempt was due, when it was taken. seconds */
  readonly age: number;
  /** JSON text of `{op, data, session_variables, trace_context}`. */
  readonly payload: string;
}

/** One attempt at a delivery, for the log of invocations. */
export interface InvocationRecord {
  /** Of the answer; null when there was none. */
  readonly status: number | null;
  /** JSON text. */
  readonly request: string;
  /** JSON text. */
  readonly response: string;
}

/** What came of a delivery. `tries` grows by one where there is an invocation. */
export interface DeliveryOutcome {
  readonly id: string;
  readonly result: DeliveryResult;
  /** Null when nothing was sent. */
  readonly invocation: InvocationRecord | null;
}

export type DeliveryResult =
  | { readonly kind: 'delivered' }
  /** To be tried again so many seconds from now. */
  | { readonly kind: 'retry'; readonly seconds: number }
  /** Given up. */
  | { readonly kind: 'failed' }
  /** Never tried: it came too late. Of scheduled events alone. */
  | { readonly kind: 'dead' };

/** What event triggers of a source have left to deliver. */
export type CapturedEventStore = EventStore<CapturedEvent, DeliveryOutcome>;
