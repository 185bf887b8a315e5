/** Event triggers in a database: their installation, and the log of their events. */
import type { CatalogTable } from '../catalog/catalog.ts';
import type { EventTrigger } from '../metadata/event-trigger.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import type { CaptureVersion, Settled } from './capture-label.ts';
import type { CapturedEventStore } from './event-store.ts';
import type { Connection, RunOptions } from './connection.ts';

/** A trigger on a table that exists and has the columns that it names. */
export interface CapturedTrigger {
  readonly definition: EventTrigger;
  readonly table: CatalogTable;
}

/** Default timeout for the lock of a table: a writer that holds it for longer fails the change, instead of delaying other writers. */
export const DEFAULT_LOCK_MS = 10_000;

export interface InstallOptions extends CaptureVersion, Partial<Settled> {
  /** Timeout for the lock of a table, in milliseconds. Default 10,000. */
  readonly lockMs?: number;
  /** Identifies this service's captures by its metadata and the source. */
  readonly owner: string;
  /**
   * If set, the call repairs: it keeps captures with the same definition, and captures that a pending change has installed for a
   * later version, whose triggers are among the failures. If absent, the call belongs to a change: it replaces every capture that differs.
   */
  readonly settled?: number;
  /** Other owners whose captures a repair may replace: names that the source had in a change that is undone. */
  readonly formerOwners?: readonly string[];
  /** True if the catalog has just been read: a repair also replaces captures of other columns. */
  readonly hasFreshColumns?: boolean;
  /** Names of captures, from `captureName`, that are new in the metadata: their labels get the new version and the draft. */
  readonly added?: ReadonlySet<string>;
  /** Keeps captures that a draft of another instance has installed for the same version; their triggers are among the failures. */
  readonly yields?: boolean;
  /** Also installs captures that are up to date. */
  readonly reinstall?: boolean;
  /** Connection with an open transaction to use. Default: a new transaction. */
  readonly connection?: Connection;
}

export interface RetainOptions extends Pick<InstallOptions, 'lockMs'>, Settled {
  readonly owner: string;
  /** Names of removed triggers, which may have no captures left. */
  readonly removed: readonly string[];
}

export interface InstallFailure {
  /** Name of the event trigger. */
  readonly name: string;
  readonly error: SvcError;
}

/** Error for a trigger whose capture belongs to another change that is not stored yet. */
export function pendingChangeError(): SvcError {
  return new SvcError('concurrent-update', 'its capture in the database belongs to a change of the metadata that is under way', {
    isTransient: true,
  });
}

/** Refuses to replace the capture of another service. @throws SvcError already-exists */
export function requireOwn(
  known: { readonly owner: string; readonly trigger: string },
  { owner, settled, hasFreshColumns, formerOwners = [] }: InstallOptions,
): void {
  const isRepair = settled !== undefined && hasFreshColumns !== true;
  if (!isRepair || known.owner === '' || known.owner === owner || formerOwners.includes(known.owner)) return;
  throw new SvcError('already-exists', `another service has an event trigger "${known.trigger}" in the database`);
}

/** Filter of events; an absent property matches all. */
export interface EventFilter {
  readonly trigger?: string;
  readonly state: 'pending' | 'processed' | 'delivered' | 'error' | 'any';
  /** Bounds of the creation time, `from` inclusive and `to` exclusive: texts that the database reads as times. */
  readonly from?: string;
  readonly to?: string;
  /** Includes events of removed triggers. */
  readonly archived?: boolean;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** ID of a row after which the page begins. */
  readonly after?: string;
}

/** Numbers of events of a trigger, at most `MAX_COUNTED` each. */
export interface EventCounts {
  readonly delivered: number;
  readonly failed: number;
  /** Pending events of any age. */
  readonly pending: number;
  /** Creation time in ISO 8601; `null` if none is pending. */
  readonly oldestPending: string | null;
}

/** Maximum number of events that are counted per trigger and state. */
export const MAX_COUNTED = 100_000;

export interface Backlog {
  readonly pending: number;
  /** Seconds since the oldest of them became due; 0 without any. */
  readonly oldestAge: number;
}

/** Settings of a clean-up of old events. */
export interface CleanupSpec {
  readonly trigger: string;
  readonly batchSize: number;
  /** Age from which events are removed, in hours. */
  readonly clearOlderThan: number;
  /** Timeout for a batch, in seconds. */
  readonly timeout: number;
  readonly cleanInvocationLogs: boolean;
}

export interface CleanupCounts {
  readonly events: number;
  readonly invocations: number;
}

/** A planned run of an automatic clean-up. */
export interface PlannedCleanup {
  readonly id: string;
  readonly trigger: string;
}

/**
 * Change data capture: events are written in the transaction of the change. Their tables are created with the first event trigger. All
 * methods throw `SvcError` if the database refuses or does not answer.
 */
export interface Captures {
  /** Queue of events to deliver. */
  readonly events: CapturedEventStore;
  /**
   * Installs missing and outdated captures, each in its own transaction, so that a failure does not affect the others. A trigger on
   * another table is dropped first.
   * @returns the failures; with `connection` the first failure is thrown
   */
  install(triggers: readonly CapturedTrigger[], options: InstallOptions): Promise<readonly InstallFailure[]>;
  /**
   * Removes the captures of `owner` that no definition needs. Undelivered events of removed triggers are archived.
   * @returns false if some remain because they may belong to a pending change
   */
  retain(definitions: readonly EventTrigger[], options: RetainOptions): Promise<boolean>;
  /** Removes all captures of `owner` and, unless other owners need them, the tables of events. */
  uninstall(owner: string): Promise<void>;
  /** Returns whether another owner has a trigger of the name on a table. */
  isTaken(name: string, owner: string): Promise<boolean>;

  /** Creates an event by hand. @param session session variables as JSON @returns its ID */
  invoke(trigger: CapturedTrigger, payload: Json, session: Json, traceContext: Json): Promise<string>;
  /** Queues an event again as if it were new. `processing`: it is under a lease. */
  redeliver(id: string): Promise<'done' | 'missing' | 'processing'>;
  /** Queues all matching events again that are not pending. @returns their number */
  redeliverAll(filter: EventFilter, limit: number | null): Promise<number>;
  /** Returns events, newest first, as JSON objects. */
  list(filter: EventFilter, page: Page): Promise<readonly Json[]>;
  count(filter: EventFilter): Promise<number>;
  /** Counts events per trigger, without archived ones. @param since start for delivered and failed events, in ISO 8601 */
  summary(triggers: readonly string[], since: string): Promise<ReadonlyMap<string, EventCounts>>;
  /** Counts events that wait for delivery, up to a maximum. */
  backlog?(options: RunOptions): Promise<Backlog>;
  /** Returns the delivery attempts of a trigger, newest first, as JSON objects. */
  invocations(trigger: string, page: Page): Promise<readonly Json[]>;
  /** Returns an event and its delivery attempts; `null` if it does not exist. */
  event(id: string, page: Page): Promise<{ readonly event: Json; readonly invocations: readonly Json[] } | null>;

  /**
   * Removes old delivered and failed events, batch by batch. Ends when none is left, when `spec`, which is called before each batch,
   * returns `null`, or when a batch times out, which is not an error.
   */
  cleanUp(spec: () => CleanupSpec | null, options: RunOptions): Promise<CleanupCounts>;
  /** Counts the planned runs of automatic clean-ups by trigger. */
  plannedCleanups(): Promise<ReadonlyMap<string, number>>;
  /** Plans runs at these times, in ISO 8601. Times that are already planned are ignored. */
  planCleanups(trigger: string, times: readonly string[]): Promise<void>;
  /** Removes the planned runs of all triggers but these. */
  forgetCleanups(except: readonly string[]): Promise<void>;
  /** Replaces the planned runs of a trigger. */
  replanCleanups(trigger: string, times: readonly string[]): Promise<void>;
  /**
   * Starts the latest due run of each trigger, on one of several instances. Older due runs end as `dead`, and so do runs that take
   * more than a minute longer than `MAX_CLEANUP_SECONDS`. Removes runs that ended long ago.
   */
  takeDueCleanups(): Promise<readonly PlannedCleanup[]>;
  endCleanup(id: string, status: 'completed' | 'paused' | 'dead', counts: CleanupCounts): Promise<void>;
}
